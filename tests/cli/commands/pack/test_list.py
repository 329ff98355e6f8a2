"""``wikigr pack list``: every name that it shows is a name that --pack accepts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from wikigr.pack.layout import installed_packs

from ...conftest import Wikigr
from ...terminal import in_terminal, widest
from .conftest import change_manifest


@pytest.fixture
def project(physics_pack: Path, tmp_path: Path) -> Path:
    """A project with two packs of the same content, and a folder below it."""
    for name in ("physics", "chem"):
        shutil.copytree(physics_pack, tmp_path / "project" / "packs" / name)
    (tmp_path / "project" / ".git").mkdir()
    (tmp_path / "project" / "src").mkdir()
    return tmp_path / "project"


def test_every_pack_of_the_list_can_be_used_by_what_it_shows(
    wikigr: Wikigr, project: Path, physics_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(physics_pack, installed_packs() / "physics")
    monkeypatch.chdir(project / "src")
    listed = json.loads(wikigr("pack", "list", "--json").out)
    assert [(pack["given_as"], pack["installed_as"]) for pack in listed["packs"]] == [
        ("physics", "physics"),
        ("chem", None),
        ("../packs/physics", None),
    ]
    for pack in listed["packs"]:
        info = wikigr("pack", "info", pack["given_as"], "--json")
        assert Path(json.loads(info.out)["path"]).samefile(pack["path"])
        assert wikigr("search", "spin", "--pack", pack["given_as"]).code == 0
    assert {pack["size"] for pack in listed["packs"]} == {_size(physics_pack)}


def _size(pack: Path) -> int:
    listed = json.loads((pack / "manifest.json").read_text())["files"]
    return sum((pack / name).stat().st_size for name in [*listed, "manifest.json"])


def test_an_ambiguous_name_is_said_on_stderr_by_every_command(
    wikigr: Wikigr, project: Path, physics_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = shutil.copytree(physics_pack, installed_packs() / "physics")
    monkeypatch.chdir(project)
    for command in (
        ("search", "spin", "--pack", "physics"),
        ("pack", "info", "physics"),
        ("pagerank", "build", "physics"),
        ("pack", "diff", "physics", "packs/chem"),
    ):
        result = wikigr(*command)
        assert f"physics is {installed}. Another pack has the same name: packs/physics" in result.err, command
        assert "Another pack" not in wikigr("-q", *command).err
    assert "Another pack" not in wikigr("search", "spin", "--pack", "chem").err


def test_the_default_pack_is_marked(wikigr: Wikigr, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    assert "*" not in wikigr("pack", "list").out
    assert wikigr("pack", "use", "chem").code == 0
    file = project.parent / "config" / "wikigr" / "config.yaml"
    listed = wikigr("pack", "list")
    assert [line[:6] for line in listed.out.splitlines()] == ["  name", "* chem", "  phys"]
    assert f"* the default pack, from {file}" in listed.err
    document = json.loads(wikigr("pack", "list", "--json").out)
    assert [pack["default"] for pack in document["packs"]] == [True, False]
    assert document["default"] == {
        "pack": str(project / "packs" / "chem"),
        "origin": str(file),
        "path": str(project / "packs" / "chem"),
    }
    monkeypatch.setenv("WIKIGR_PACK", "nothing")
    assert "'nothing' does not exist (environment (WIKIGR_PACK))" in wikigr("pack", "list").err


def test_what_cannot_be_used_is_listed_with_the_reason(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    packs = tmp_path / "packs"
    shutil.copytree(physics_pack, packs / "good")
    (packs / "bad").mkdir()
    (packs / "bad" / "manifest.json").write_text("{")
    change_manifest(physics_pack, packs / "newer", "format_version", 9)
    shutil.copytree(physics_pack, packs / "torn")
    (packs / "torn" / "pack.db").write_bytes(b"")
    shutil.copytree(physics_pack, packs / "lost")
    (packs / "lost" / "graph_index.npz").unlink()
    (packs / "begun" / ".wikigr").mkdir(parents=True)
    (packs / "begun" / ".wikigr" / "staging.sqlite").touch()
    (packs / "articles").mkdir()
    installed_packs().mkdir(parents=True)
    (installed_packs() / "gone").symlink_to(".versions/gone/1.0.0-abc")
    result = wikigr("pack", "list")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[1].startswith("good (physics)")
    reasons = {line.split("  ")[0]: line for line in lines[2:]}
    expected = {
        "bad": "is not valid",
        "newer": "has format 9",
        "torn": "damaged: pack.db has 0 bytes",
        "lost": "damaged: graph_index.npz is missing",
        "begun": "build was interrupted",
        str(installed_packs() / "gone"): "is missing",
    }
    assert set(reasons) == set(expected)
    for name, reason in expected.items():
        assert reason in reasons[name]
    document = json.loads(wikigr("pack", "list", "--json").out)
    assert [pack["given_as"] for pack in document["packs"]] == ["good"]
    assert {pack["given_as"] for pack in document["unusable"]} == set(expected)


def test_the_working_directory_is_listed_too(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(physics_pack, tmp_path / "here" / "inner")
    monkeypatch.chdir(tmp_path / "here")
    assert [pack["given_as"] for pack in json.loads(wikigr("pack", "list", "--json").out)["packs"]] == ["inner"]
    monkeypatch.chdir(tmp_path / "here" / "inner")
    assert [pack["given_as"] for pack in json.loads(wikigr("pack", "list", "--json").out)["packs"]] == ["."]
    assert wikigr("search", "spin", "--pack", ".").code == 0


def test_the_table_fits_in_a_terminal(wikigr: Wikigr, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    assert wikigr("pack", "use", "chem").code == 0
    shown = in_terminal("pack", "list")
    assert widest(shown.out) <= 80
    assert "all-MiniLM-L6-v2  packs/chem" in shown.out
    assert "min ago" in shown.out or " s ago" in shown.out
    narrow = in_terminal("pack", "list", columns=50)
    assert widest(narrow.out) <= 50
    assert narrow.out.splitlines()[0].split() == ["name", "articles", "size", "path"]
