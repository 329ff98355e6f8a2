"""``wikigr pack remove``: the question, the default pack, and installed packs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from wikigr.pack.layout import VERSIONS, installed_packs
from wikigr_cli.app import run

from ...conftest import Result, Wikigr
from ...terminal import Terminal, environment_of

pytestmark = pytest.mark.usefixtures("quick_validation")


def answer(text: str, *arguments: str) -> Result:
    """Run a command in a terminal in which the user types ``text``."""
    environment, out, err = environment_of(80)
    environment.stdin = Terminal(text)
    return Result(run(arguments, environment), out.getvalue(), err.getvalue())


@pytest.fixture
def pack(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> Path:
    del wikigr  # it is what changes to the folder of the test
    folder = shutil.copytree(physics_pack, tmp_path / "packs" / "physics")
    (folder / "notes.md").write_text("mine")
    return folder


@pytest.mark.parametrize("text", ["n\n", "\n", "", "yess\n"])
def test_without_consent_nothing_is_removed(pack: Path, text: str) -> None:
    before = {path: path.read_bytes() for path in pack.rglob("*") if path.is_file()}
    asked = answer(text, "pack", "remove", "physics")
    assert (asked.code, asked.out) == (0, "")
    assert "The pack physics in packs/physics: " in asked.err
    assert "Not part of the pack, so kept in packs/physics: notes.md" in asked.err
    assert asked.err.endswith("Remove it? [y/N] Nothing was removed.\n")
    assert {path: path.read_bytes() for path in pack.rglob("*") if path.is_file()} == before


def test_with_consent_only_the_pack_is_removed(pack: Path) -> None:
    done = answer("y\n", "pack", "remove", "physics")
    assert (done.code, done.out) == (0, "physics was removed.\n")
    assert [path.name for path in pack.iterdir()] == ["notes.md"]


def test_a_script_needs_yes(wikigr: Wikigr, pack: Path) -> None:
    refused = wikigr("pack", "remove", "physics", stdin="y\n")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert (pack / "manifest.json").exists()
    done = json.loads(wikigr("pack", "remove", "physics", "--yes", "--json").out)
    assert done == {
        "schema_version": 1, "removed": "physics", "path": "packs/physics", "kept": ["notes.md"], "unset": [],
    }  # fmt: skip
    again = wikigr("pack", "remove", "physics", "--yes")
    assert (again.code, "does not contain a pack" in again.err) == (4, True)
    assert wikigr("pack", "remove", "nothing", "--yes").code == 4


def test_the_default_pack_is_unset(wikigr: Wikigr, pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = tmp_path / "config" / "wikigr" / "config.yaml"
    user.parent.mkdir(parents=True)
    user.write_text("# mine\nask: {strict: true}\n")
    assert wikigr("pack", "use", "physics").code == 0
    shutil.copytree(pack, tmp_path / "packs" / "other")
    assert json.loads(wikigr("pack", "remove", "other", "--yes", "--json").out)["unset"] == []
    monkeypatch.setenv("WIKIGR_PACK", "packs/physics")
    assert f"It is the default pack ({user})." in " ".join(answer("n\n", "pack", "remove", "physics").err.split())
    done = wikigr("pack", "remove", "physics", "--yes", "--json")
    assert json.loads(done.out)["unset"] == [str(user)]
    assert "WIKIGR_PACK still names it." in done.err
    assert user.read_text() == "# mine\nask: {strict: true}\n"


def test_the_setting_stays_while_the_default_pack_exists(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wikigr("pack", "install", str(physics_pack), "--name", "phys2").code == 0
    assert wikigr("pack", "use", "phys2").code == 0
    user = tmp_path / "config" / "wikigr" / "config.yaml"
    shutil.copytree(physics_pack, tmp_path / "elsewhere" / "phys2")
    monkeypatch.chdir(tmp_path / "elsewhere")
    done = wikigr("pack", "remove", "phys2", "--yes", "--json")
    assert (done.code, json.loads(done.out)["path"], json.loads(done.out)["unset"]) == (0, "phys2", [])
    assert user.read_text() == "pack: phys2\n"
    assert json.loads(wikigr("pack", "remove", "phys2", "--yes", "--json").out)["unset"] == [str(user)]


def test_one_of_several_default_packs_does_not_unset_the_others(wikigr: Wikigr, pack: Path, tmp_path: Path) -> None:
    shutil.copytree(pack, tmp_path / "packs" / "other")
    user = tmp_path / "config" / "wikigr" / "config.yaml"
    user.parent.mkdir(parents=True)
    user.write_text(f"pack: [{tmp_path}/packs/physics, {tmp_path}/packs/other]\n")
    done = wikigr("pack", "remove", "physics", "--yes")
    assert (done.code, "still names it among the default packs" in done.err) == (0, True)
    assert user.read_text().startswith("pack: [")


def test_a_built_pack_is_removed_with_the_record_of_its_source(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "Spin.md").write_text("# Spin\n\nSpin is an intrinsic form of angular momentum.\n")
    build = ("pack", "build", "notes", "-o", "built", "--description", "Spin", "--license", "CC0-1.0")
    assert wikigr(*build).code == 0
    assert (tmp_path / "built" / ".wikigr" / "source").exists()
    assert wikigr("pack", "remove", "built", "--yes").code == 0
    assert not (tmp_path / "built").exists()
    assert wikigr(*build).code == 0
    (tmp_path / "built" / ".wikigr" / "mine.txt").write_text("mine")
    assert "kept in built: .wikigr/mine.txt" in answer("n\n", "pack", "remove", "built").err
    done = wikigr("pack", "remove", "built", "--yes", "--json")
    assert json.loads(done.out)["kept"] == [".wikigr/mine.txt"]
    left = [path for path in (tmp_path / "built").rglob("*") if path.is_file()]
    assert left == [tmp_path / "built" / ".wikigr" / "mine.txt"]


def test_a_path_with_a_line_break_stays_on_its_line(wikigr: Wikigr, pack: Path, tmp_path: Path) -> None:
    odd = "a\n\tb"
    pack.rename(tmp_path / "packs" / odd)
    (tmp_path / "packs" / odd / "my\nnotes").write_text("mine")
    shown = answer("n\n", "pack", "remove", f"packs/{odd}").err
    assert "The pack packs/a b in packs/a b: " in shown and "my notes" in shown
    listed = wikigr("pack", "list").out.splitlines()
    assert [line.split("  ")[0] for line in listed] == ["name", "a b (physics)"]


def test_an_interrupted_removal_is_listed_and_can_be_finished(wikigr: Wikigr, pack: Path) -> None:
    (pack / ".wikigr").mkdir(exist_ok=True)
    (pack / "manifest.json").rename(pack / ".wikigr" / "removed.json")
    assert "physics  cannot be used: " in wikigr("pack", "list").out
    failed = wikigr("search", "spin", "--pack", "physics")
    assert (failed.code, "wikigr pack remove packs/physics" in failed.err) == (4, True)
    assert wikigr("pack", "remove", "physics", "--yes").code == 0
    assert [path.name for path in pack.iterdir()] == ["notes.md"]


def test_an_installed_pack_is_removed_with_its_versions(wikigr: Wikigr, physics_pack: Path) -> None:
    assert wikigr("pack", "install", str(physics_pack)).code == 0
    assert wikigr("pack", "use", "physics").code == 0
    version = (installed_packs() / "physics").resolve()
    (version / "notes.md").write_text("mine")
    refused = wikigr("pack", "remove", "physics", "--yes")
    assert (refused.code, f"{version / 'notes.md'} is not part of the pack" in refused.err) == (2, True)
    assert wikigr("search", "spin").code == 0
    (version / "notes.md").unlink()
    shown = answer("n\n", "pack", "remove", str(installed_packs() / "physics")).err
    assert "The installed pack physics in" in shown and "It is the default pack" in shown
    done = wikigr("pack", "remove", "physics", "--yes")
    assert (done.code, done.out) == (0, "physics was removed.\n")
    assert wikigr("pack", "use").out == "There is no default pack.\n"
    assert not (installed_packs() / "physics").is_symlink()
    assert not (installed_packs() / VERSIONS / "physics").exists()


def test_an_installed_pack_whose_version_is_missing_or_damaged_is_removed(wikigr: Wikigr, physics_pack: Path) -> None:
    for damage in ("missing", "no manifest"):
        assert wikigr("pack", "install", str(physics_pack)).code == 0
        assert wikigr("pack", "use", "physics").code == 0
        version = (installed_packs() / "physics").resolve()
        if damage == "missing":
            shutil.rmtree(version)
        else:
            (version / "manifest.json").unlink()
        assert wikigr("pack", "remove", "physics", "--yes").code == 0, damage
        assert not (installed_packs() / "physics").is_symlink()
        assert wikigr("pack", "use").out == "There is no default pack.\n", damage


def test_a_link_put_there_by_hand_is_not_followed(wikigr: Wikigr, pack: Path, tmp_path: Path) -> None:
    installed_packs().mkdir(parents=True)
    (installed_packs() / "mine").symlink_to(pack)
    (tmp_path / "near").symlink_to(pack)
    refused = wikigr("pack", "remove", "mine", "--yes")
    assert (refused.code, "by hand" in refused.err) == (4, True)
    for given in ("near", str(installed_packs() / "mine")):
        refused = wikigr("pack", "remove", given, "--yes")
        assert (refused.code, "is a link" in refused.err) == (2, True), given
    assert (pack / "manifest.json").exists()
