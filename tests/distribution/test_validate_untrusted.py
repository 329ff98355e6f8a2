"""Validation of an untrusted pack: a database that differs from what a build writes fails at the check that says so."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.distribution.letters import bundle_encoder, list_encoder

from wikigr.distribution.verify import validate_untrusted
from wikigr.pack.manifest import describe_file

BUNDLED = "Get the pack again, or build it again with --bundle-encoder."


@pytest.mark.trust
def test_the_bundled_reader_is_checked_and_tried(letters_pack: Path, tmp_path: Path) -> None:
    pack = shutil.copytree(letters_pack, tmp_path / "letters")
    encoder = bundle_encoder(pack)
    checks = {check.name: check for check in validate_untrusted(pack)}
    assert all(check.passed for check in checks.values())
    assert checks["reader"].detail.startswith("adapter ")
    assert checks["reading"].detail == "the reader reads a sentence"

    graph, description = encoder / "reader.onnx", encoder / "reader.json"
    graph.write_bytes(bytes(graph.stat().st_size))
    list_encoder(pack)
    failure = next(check for check in validate_untrusted(pack) if not check.passed)
    assert (failure.name, failure.fix) == ("reader", BUNDLED)
    assert "reader.onnx does not have its recorded sha256" in failure.detail

    described = json.loads(description.read_text())
    described["files"]["reader.onnx"] = asdict(describe_file(graph))
    description.write_text(json.dumps(described))
    list_encoder(pack)
    failure = next(check for check in validate_untrusted(pack) if not check.passed)
    assert (failure.name, failure.fix) == ("reading", BUNDLED)
    assert "bundled with the pack 'letters' is damaged" in failure.detail


@pytest.mark.trust
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the address space")
def test_a_limit_on_memory_is_named_instead_of_distrust(letters_pack: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom wikigr.distribution.verify import validate_untrusted\n"
        "print(validate_untrusted(Path(sys.argv[1]))[-1])"
    )
    limit = 1 << 30
    done = subprocess.run(
        [sys.executable, "-c", code, str(letters_pack)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "passed=False" in done.stdout
    assert "limited to 1.0 GiB of virtual memory (ulimit -v)" in done.stdout
    assert "Do not use it" not in done.stdout
