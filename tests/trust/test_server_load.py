"""Many clients, some of them hostile: the others are answered, memory stays flat, and the server stops in time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import ROOT

from .conftest import Tally

SECONDS = os.environ.get("WIKIGR_LOAD_SECONDS", "15")


@pytest.mark.skipif(sys.platform != "linux", reason="the clients have loopback addresses of their own")
def test_hostile_clients_cost_others_no_answer(physics_pack: Path, tally: Callable[[str], Tally]) -> None:
    count = tally("connections of hostile clients beside others")
    program = ROOT / "benchmarks" / "serve_load.py"
    options = ["--clients", "60", "--hostile", "50", "--seconds", SECONDS]
    command = [sys.executable, str(program), "--pack", str(physics_pack), *options]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(run.stdout)
    assert found["exit"] == 0
    assert found["beside"]["outcomes"]["200"]
    count.harmless(sum(found["beside"]["attempts"].values()))
