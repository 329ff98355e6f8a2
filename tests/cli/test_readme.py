"""The README's examples work: its commands on the demo pack, and its Python."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from wikigr_cli.exit_codes import ExitStatus

from .conftest import Wikigr

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    line.removeprefix("$ ").removeprefix(".venv/bin/").split("  #")[0].strip()
    for kind, block in BLOCKS
    if kind == "console"
    for line in block.splitlines()
    if "packs/physics" in line and "pack build" not in line and "eval run" not in line
]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_run(wikigr: Wikigr, physics_pack: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "questions.jsonl").write_text('{"id": "1", "question": "What is spin?"}\n')
    command = command.split(" > ")[0].replace("packs/physics", str(physics_pack)).replace('"…"', '"What is spin?"')
    piped = ""
    for part in command.split(" | "):
        result = wikigr(*shlex.split(part)[1:], stdin=piped)
        assert result.code == 0, result.err
        piped = result.out
    assert piped


def test_there_are_commands_to_run() -> None:
    assert len(COMMANDS) >= 5


def test_the_python_runs(physics_pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = [block for kind, block in BLOCKS if kind == "python"]
    exec(compile(code.replace("packs/physics", str(physics_pack)), "README.md", "exec"), {})
    assert "Pauli" in capsys.readouterr().out


def test_every_exit_code_is_documented() -> None:
    rows = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    assert rows == {int(status) for status in ExitStatus}
