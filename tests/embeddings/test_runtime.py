"""ONNX Runtime sends no telemetry."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr.embeddings.models import find_prepared

SOURCES = Path(__file__).parents[2] / "src"


def test_it_keeps_nothing_for_its_maker(tmp_path: Path) -> None:
    """It would first store its events, with an id of the machine, in the user's cache."""
    folder = find_prepared(DEFAULT_MODEL).folder
    program = f"from wikigr.embeddings.loader import open_encoder; open_encoder({str(folder)!r}).encode(['one'])"
    variables = {key: value for key, value in os.environ.items() if key != "ORT_DISABLE_TELEMETRY"}
    variables |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path / "home")}
    (tmp_path / "home").mkdir()
    done = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_it_is_imported_in_one_place_only() -> None:
    found = [
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if re.search(r"^\s*(import|from) onnxruntime\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert found == ["wikigr/embeddings/runtime.py"]
