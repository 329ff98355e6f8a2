"""The README's examples work: its commands on the demo pack, and its Python."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from wikigr_cli.exit_codes import ExitStatus

from .conftest import ROOT_PACK, Wikigr

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    line.removeprefix("$ ").removeprefix(".venv/bin/").split("  #")[0].strip()
    for kind, block in BLOCKS
    if kind == "console"
    for line in block.splitlines()
    if "packs/physics" in line and "pack build" not in line and "eval run" not in line and "--sign" not in line
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


def test_a_pack_is_handed_on_as_the_readme_says(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = [block for kind, block in BLOCKS if kind == "console" and "pack export" in block]
    commands = [line.removeprefix("$ ").split("  #")[0].strip() for line in block.splitlines()]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    write_keys(tmp_path / "key", tmp_path / "key.pub")
    shutil.copytree(physics_pack, "packs/physics")
    shutil.copytree(physics_pack, "packs/notes-1")
    shutil.copytree(physics_pack, "packs/notes-2")
    shutil.copytree(physics_pack, "packs/notes")
    shutil.copytree(ROOT_PACK / "articles", "notes")
    for command in commands:
        result = wikigr(*shlex.split(command)[1:])
        assert result.code == 0, (command, result.err)
        assert result.out


def write_keys(private: Path, public: Path) -> None:
    key = Ed25519PrivateKey.generate()
    openssh, no_passphrase = serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, openssh, no_passphrase))
    form = serialization.PublicFormat.OpenSSH
    public.write_bytes(key.public_key().public_bytes(serialization.Encoding.OpenSSH, form))


def test_there_are_commands_to_run() -> None:
    assert len(COMMANDS) >= 5


def test_the_python_runs(physics_pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = [block for kind, block in BLOCKS if kind == "python"]
    exec(compile(code.replace("packs/physics", str(physics_pack)), "README.md", "exec"), {})
    assert "1947" in capsys.readouterr().out


def test_every_exit_code_is_documented() -> None:
    rows = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    assert rows == {int(status) for status in ExitStatus}
