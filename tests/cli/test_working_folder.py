"""The author of the working directory: modules, settings and profiles that lie there run and decide nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wikigr_cli.settings import _HARMLESS

from .conftest import Wikigr

# What a build, a preparation and a question import, in this process or in a child.
PLANTED = ("json", "multiprocessing", "numpy", "pickle", "pip", "selectolax", "socket", "sqlite3", "wikigr", "yaml")
# Options that write files, reach a network, open a port, cost money or weaken a check, each with a value.
ONLY_THE_USER: dict[str, dict[str, object]] = {
    "ask": {"receipt": "x", "batch": "x", "model": "m", "max-cost": 5, "embedding-model": "m", "show-prompt": True},
    "eval run": {"output": "x", "judge-model": "m", "ray-address": "ray://h:1", "workers": 2, "judge-max-cost": 1},
    "mcp": {"print-config": True},
    "pack build": {
        "output": "x",
        "extract": True,
        "engine": "ray",
        "staging-path": "x",
        "name": "x",
        "keep-going": True,
    },
    "pack export": {"output": "x", "force": True, "sign": "key"},
    "pack install": {"allow-private": True, "trust": "x", "force": True},
    "pack update": {"from": "/etc"},
    "serve": {"host": "0.0.0.0", "token": "t", "port": 1, "allowed-host": "h", "open": True},
}


def test_no_module_of_the_working_directory_runs(tmp_path: Path) -> None:
    here = tmp_path / "here"
    (here / "notes").mkdir(parents=True)
    for n in range(3):
        (here / "notes" / f"{n}.html").write_text(f"<title>Pump {n}</title><p>The pump {n} is made of steel.</p>")
    for name in PLANTED:
        (here / f"{name}.py").write_text(f"open('ran', 'a').write('{name} ')\nraise ImportError('{name}')\n")
    # As a console script does, its folder comes first in the path, not the working directory.
    script = tmp_path / "bin" / "run.py"
    script.parent.mkdir()
    script.write_text("from wikigr_cli.app import main\n\nif __name__ == '__main__':\n    main()\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    for command in (
        ("pack", "build", "notes", "-o", "p", "--jobs", "2"),
        ("pack", "update", "--pack", "p", "--from", "notes", "--jobs", "2"),
        ("ask", "What is the pump made of?", "--pack", "p", "--offline"),
        ("graph", "cypher", "MATCH (a:Article) RETURN a.title", "--pack", "p"),
    ):
        done = subprocess.run(
            [sys.executable, str(script), *command],
            cwd=here,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert not (here / "ran").exists(), (here / "ran").read_text()


@pytest.mark.parametrize("command", ONLY_THE_USER)
def test_a_project_cannot_set_what_only_the_user_may(wikigr: Wikigr, tmp_path: Path, command: str) -> None:
    for option, value in ONLY_THE_USER[command].items():
        (tmp_path / "wikigr.yaml").write_text(json.dumps({command: {option: value}}))
        result = wikigr(*command.split())
        assert result.code == 2
        assert f"wikigr.yaml: the settings file of a project cannot set '{option}'." in result.err
        assert f"Give --{option} on the command line, or set it in " in result.err
        assert option not in _HARMLESS


def test_the_users_own_file_sets_everything(wikigr: Wikigr, tmp_path: Path) -> None:
    user = tmp_path / "config" / "wikigr" / "config.yaml"
    user.parent.mkdir(parents=True)
    user.write_text(json.dumps(ONLY_THE_USER | {"profile": "./mine.yaml"}))
    shown = wikigr("config", "show", "--json")
    assert shown.code == 0
    found = {(row["command"], row["option"]): row["value"] for row in json.loads(shown.out)["settings"]}
    assert found["serve", "token"] == "t" and found["ask", "profile"] == "./mine.yaml"


@pytest.mark.parametrize("path", ["./evil.yaml", "evil.yml", "sub/evil"])
def test_a_project_names_profiles_but_brings_none(wikigr: Wikigr, tmp_path: Path, path: str) -> None:
    (tmp_path / "evil.yaml").write_text("extends: fast\n")
    (tmp_path / "wikigr.yaml").write_text(f"profile: {path}\n")
    assert "cannot set the path of a profile." in wikigr("search", "x").err
    (tmp_path / "wikigr.yaml").write_text("profile: evil\n")
    assert "There is no profile 'evil'." in wikigr("search", "x", "--pack", "p").err


def test_offline_wins_at_any_level(wikigr: Wikigr, tmp_path: Path) -> None:
    user = tmp_path / "config" / "wikigr" / "config.yaml"
    user.parent.mkdir(parents=True)
    for ours, theirs in (("true", "false"), ("false", "true")):
        user.write_text(f"offline: {ours}\n")
        (tmp_path / "wikigr.yaml").write_text(f"offline: {theirs}\nask: {{offline: {theirs}}}\n")
        found = json.loads(wikigr("config", "show", "--json").out)["settings"]
        assert {row["value"] for row in found if row["option"] == "offline"} == {True}


def test_a_project_of_another_user_is_ignored(wikigr: Wikigr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(os, "getuid"):
        pytest.skip("files have no owners here")
    (tmp_path / "wikigr.yaml").write_text("top-k: 3\n")
    if os.getuid() == 0:
        os.chown(tmp_path / "wikigr.yaml", 4_321, -1)
    else:
        monkeypatch.setattr("os.getuid", lambda: 4_321)
    result = wikigr("profile", "list")
    assert result.code == 0
    assert f"{tmp_path / 'wikigr.yaml'} belongs to another user, so it is ignored." in result.err


BAD: dict[str, Callable[[], str]] = {
    "aliases": lambda: "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(30)),
    "brackets": lambda: "pack: " + "[" * 5_000,
    "levels": lambda: "pack: " + "[" * 60 + "]" * 60,
    "size": lambda: "#" * 1_100_000,
    "not text": lambda: "pack: \udcff",
}


@pytest.mark.parametrize("make", BAD.values(), ids=BAD)
def test_yaml_that_never_ends_is_a_plain_error(wikigr: Wikigr, tmp_path: Path, make: Callable[[], str]) -> None:
    data = make().encode("utf-8", "surrogateescape")
    (tmp_path / "wikigr.yaml").write_bytes(data)
    (tmp_path / "profile.yaml").write_bytes(data)
    for result in (wikigr("search", "x"), wikigr("profile", "validate", "profile.yaml")):
        assert result.code == 2
        assert "cannot be read: " in result.err or "Cannot read the settings file " in result.err
        assert "bug" not in result.err


def test_a_date_is_text(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "wikigr.yaml").write_text("top-k: 2026-11-25\n")
    assert "top-k: '2026-11-25' is not a whole number" in wikigr("search", "x").err
