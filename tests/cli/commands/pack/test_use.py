"""``wikigr pack use``: the default pack, and the settings file that names it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from wikigr.pack.layout import installed_packs
from wikigr.settings import cache_folder

from ...conftest import Wikigr


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "wikigr" / "config.yaml"


def test_the_default_pack_is_used_by_every_command_and_has_an_origin(
    wikigr: Wikigr, physics_pack: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(physics_pack, installed_packs() / "physics")
    assert wikigr("graph", "schema").code == 2
    nothing = wikigr("pack", "use")
    assert (nothing.code, nothing.out) == (0, "There is no default pack.\n")
    done = wikigr("pack", "use", "physics")
    assert (done.code, done.out.splitlines()[0]) == (0, "physics is the default pack.")
    assert user_file.read_text() == "pack: physics\n"
    for command in (("search", "spin"), ("pack", "info"), ("graph", "schema"), ("pack", "validate")):
        assert wikigr(*command).code == 0, command
    line = wikigr("config", "show", "--origin").out.splitlines()[0]
    assert line.startswith("pack = physics ") and f"{user_file} (top level)" in line
    shown = json.loads(wikigr("pack", "use", "--json").out)
    assert (shown["pack"], shown["origin"]) == ("physics", str(user_file))
    assert Path(shown["path"]) == installed_packs() / "physics"
    monkeypatch.setenv("WIKIGR_PACK", "physics")
    assert wikigr("search", "spin").code == 0
    assert "environment (WIKIGR_PACK)" in wikigr("pack", "use").out
    assert f"environment (WIKIGR_PACK) precedes {user_file}." in wikigr("pack", "use", "physics").err
    assert "There is no pack 'third'" in wikigr("search", "spin", "--pack", "third").err
    monkeypatch.delenv("WIKIGR_PACK")
    assert wikigr("pack", "use", "--unset").out == "There is no default pack.\n"
    assert "sets no default pack" in wikigr("pack", "use", "--unset").err


def test_the_file_names_a_pack_that_is_not_installed_by_its_path(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = shutil.copytree(physics_pack, tmp_path / "packs" / "chem")
    assert wikigr("pack", "use", "chem").code == 0
    assert user_file.read_text() == f"pack: {pack}\n"
    monkeypatch.chdir("/")
    assert wikigr("search", "spin").code == 0


@pytest.mark.parametrize(
    "settings", ["pack: bio", "pack: ./bio", "search: {pack: [./bio, ~/bio]}", "pack: ~/bio/pack.db"]
)
def test_a_path_in_the_settings_file_is_relative_to_the_file(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch, settings: str
) -> None:
    # The encoders are in the cache below the real home folder.
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_folder().parent))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for folder in (tmp_path / "home", user_file.parent):
        shutil.copytree(physics_pack, folder / "bio")
    user_file.write_text(f"{settings}\n")
    is_name = settings == "pack: bio"
    assert wikigr("search", "spin").code == (4 if is_name else 0)
    used = json.loads(wikigr("pack", "use", "--json").out)
    assert (used["path"] is None) == (is_name or settings.startswith("search:"))


def test_several_default_packs_are_the_same_for_every_command(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("chem", "bio"):
        shutil.copytree(physics_pack, tmp_path / "packs" / name)
    user_file.parent.mkdir(parents=True)
    user_file.write_text(f"pack: [{tmp_path}/packs/chem, {tmp_path}/packs/bio]  # two\n")
    for variable in ("", f"packs/chem{os.pathsep}bio"):
        monkeypatch.setenv("WIKIGR_PACK", variable)
        assert wikigr("search", "spin").code == 0
        listed = wikigr("pack", "list")
        assert [line[:6] for line in listed.out.splitlines()] == ["  name", "* bio ", "* chem"]
        assert "* a default pack, from " in listed.err and "exist" not in listed.err
        shown = wikigr("pack", "use")
        assert (shown.code, shown.out.count("is a default pack.")) == (0, 2)
        paths = [default["path"] for default in json.loads(wikigr("pack", "use", "--json").out)["defaults"]]
        assert [Path(path).name for path in paths] == ["chem", "bio"]
    monkeypatch.delenv("WIKIGR_PACK")
    refused = wikigr("pack", "info")
    assert (refused.code, "pack must be a single value for `wikigr pack info`" in refused.err) == (2, True)
    assert wikigr("pack", "use", "chem").code == 0
    assert user_file.read_text() == f"pack: {tmp_path}/packs/chem\n"


def test_a_variable_that_is_one_pack_is_not_split(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(physics_pack, tmp_path / f"a{os.pathsep}b")
    monkeypatch.setenv("WIKIGR_PACK", str(folder))
    for command in (("search", "spin"), ("pack", "info")):
        assert wikigr(*command).code == 0, command
    assert json.loads(wikigr("pack", "use", "--json").out)["path"] == str(folder)


def test_only_a_pack_that_can_be_read_becomes_the_default(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, user_file: Path
) -> None:
    pack = shutil.copytree(physics_pack, tmp_path / "packs" / "physics")
    misspelled = wikigr("pack", "use", "phisics")
    assert (misspelled.code, "Did you mean physics?" in misspelled.err) == (4, True)
    (pack / "manifest.json").write_text("{")
    assert wikigr("pack", "use", "physics").code == 4
    assert not user_file.exists()


def test_contradictory_arguments_are_wrong_usage(wikigr: Wikigr) -> None:
    assert wikigr("pack", "use", "p", "--unset").code == 2
