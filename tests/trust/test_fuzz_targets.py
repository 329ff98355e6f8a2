"""Fuzz every target for a few seconds, guided by code coverage; `make fuzz` does it for longer.

``WIKIGR_FUZZ_SECONDS`` is the time for each target, and ``WIKIGR_FUZZ_SEED`` selects other inputs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec

import pytest
from fuzz.targets import TARGETS
from tests.conftest import ROOT
from tests.trust.conftest import Tally

SEED = int(os.environ.get("WIKIGR_FUZZ_SEED", "0"))
SECONDS = int(os.environ.get("WIKIGR_FUZZ_SECONDS", "10"))


@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris has wheels for some platforms only")
@pytest.mark.parametrize("name", TARGETS)
def test_inputs_guided_by_coverage(tally: Callable[[str], Tally], name: str) -> None:
    command = [sys.executable, "-m", "fuzz", name, f"-max_total_time={SECONDS}", f"-seed={SEED + 1}"]
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, timeout=SECONDS + 120, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-3000:]
    tried = re.search(r"Done (\d+) (?:runs )?in", done.stderr)
    assert tried is not None, done.stderr[-1000:]
    assert int(tried[1]) > 100
    tally("inputs guided by coverage (atheris)").harmless(int(tried[1]))
