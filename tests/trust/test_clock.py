"""Change the wall clock between commands: no measurement and no stored file depends on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.trust.conftest import Process, Tally
from tests.trust.hostile import QUESTION

YEARS = {"ten years back": -10, "a second before 1970": -60, "ten years on": 10, "beyond 32 bits": 30}


def shifted(years: int) -> str:
    return f"import time\n_real = time.time\ntime.time = lambda: max(-1.0, _real() + {years} * 31_557_600)\n"


@pytest.mark.parametrize("jump", YEARS)
def test_commands_under_another_clock(
    process: Process, hostile_pack: Path, tmp_path: Path, tally: Callable[[str], Tally], jump: str
) -> None:
    count = tally("clock: jumps between commands")
    (tmp_path / "a.jsonl").write_text('{"title": "Bees", "text": "Bees make honey."}\n')
    plain = process("ask", QUESTION, "--pack", str(hostile_pack), "--offline", "--json")
    for arguments in (
        ("ask", QUESTION, "--pack", str(hostile_pack), "--offline", "--json"),
        ("pack", "build", "a.jsonl", "-o", "p"),
        ("pagerank", "build", "p", "--force"),
        ("pack", "validate", "p"),
    ):
        result = process(*arguments, before=shifted(YEARS[jump]))
        assert result.code == 0, (arguments, result.err)
        count.harmless()
        if arguments[0] == "ask":
            there, here = json.loads(result.out), json.loads(plain.out)
            assert there["answer"] == here["answer"]
            assert all(value >= 0 for value in there["timings"].values())
