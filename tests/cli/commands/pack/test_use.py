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
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(physics_pack, installed_packs() / "physics")
    assert wikigr("search", "spin").code == 2
    nothing = wikigr("pack", "use")
    assert (nothing.code, nothing.out) == (0, "There is no default pack.\n")
    done = wikigr("pack", "use", "physics")
    assert (done.code, done.out.splitlines()[0]) == (0, "physics is the default pack.")
    assert user_file.read_text() == "pack: physics\n"
    for command in (("search", "spin"), ("pack", "info"), ("graph", "schema"), ("pack", "validate")):
        assert wikigr(*command).code == 0, command
    lines = wikigr("config", "show", "--origin", "--all").out.splitlines()
    (line,) = [line for line in lines if line.startswith("search --pack ")]
    assert line.startswith("search --pack = physics ") and line.endswith(f"{user_file} (top level)")
    shown = json.loads(wikigr("pack", "use", "--json").out)
    assert (shown["pack"], shown["origin"]) == ("physics", str(user_file))
    assert Path(shown["path"]) == installed_packs() / "physics"
    (tmp_path / "wikigr.yaml").write_text("pack: other\n")
    assert "There is no pack 'other'" in wikigr("search", "spin").err
    monkeypatch.setenv("WIKIGR_PACK", "physics")
    assert wikigr("search", "spin").code == 0
    assert "environment (WIKIGR_PACK)" in wikigr("pack", "use").out
    assert "There is no pack 'third'" in wikigr("search", "spin", "--pack", "third").err
    monkeypatch.delenv("WIKIGR_PACK")
    unset = wikigr("pack", "use", "--unset", "--project")
    assert (unset.code, (tmp_path / "wikigr.yaml").read_text()) == (0, "")
    assert "Another setting applies" in unset.err
    assert wikigr("pack", "use", "--unset").out == "There is no default pack.\n"
    assert "sets no default pack" in wikigr("pack", "use", "--unset").err


def test_the_file_names_a_pack_by_its_name_only_where_that_refers_to_it(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    pack = shutil.copytree(physics_pack, project / "packs" / "chem")
    shutil.copytree(physics_pack, project / "elsewhere" / "bio")
    (project / "wikigr.yaml").write_text("# ours\nsearch:\n  top-k: 3\n")
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    assert wikigr("pack", "use", "chem").code == 0
    assert user_file.read_text() == f"pack: {pack}\n"
    done = wikigr("pack", "use", "chem", "--project")
    assert done.code == 0
    assert (project / "wikigr.yaml").read_text() == "# ours\nsearch:\n  top-k: 3\npack: chem\n"
    assert wikigr("search", "spin", "--json").code == 0
    assert wikigr("pack", "use", "../elsewhere/bio", "--project").code == 0
    assert (project / "wikigr.yaml").read_text() == "# ours\nsearch:\n  top-k: 3\npack: elsewhere/bio\n"
    assert wikigr("search", "spin").code == 0
    hidden = wikigr("pack", "use", "chem")
    assert f"{project / 'wikigr.yaml'} precedes {user_file}." in hidden.err


@pytest.mark.parametrize(
    "settings",
    [
        "pack: packs/chem",
        "pack: ./packs/chem",
        "search: {pack: [packs/chem, ~/bio]}",
        "pack: ~/bio",
        "pack: ~/bio/pack.db",
    ],
)
def test_a_path_in_a_settings_file_is_relative_to_the_file(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str
) -> None:
    # The encoders are in the cache below the real home folder.
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_folder().parent))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    shutil.copytree(physics_pack, tmp_path / "home" / "bio")
    project = tmp_path / "project"
    shutil.copytree(physics_pack, project / "packs" / "chem")
    (project / "wikigr.yaml").write_text(f"{settings}\n")
    (project / "src").mkdir()
    for folder in (project, project / "src"):
        monkeypatch.chdir(folder)
        assert wikigr("search", "spin").code == 0
        used = json.loads(wikigr("pack", "use", "--json").out)
        assert (used["path"] is None) == settings.startswith("search:")


def test_a_pack_beside_the_settings_file_is_named_as_a_path(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(physics_pack, tmp_path / "project" / "bio")
    (tmp_path / "project" / "wikigr.yaml").write_text("")
    monkeypatch.chdir(tmp_path / "project" / "bio")
    assert wikigr("pack", "use", ".", "--project").code == 0
    assert Path("../wikigr.yaml").read_text() == "pack: ./bio\n"
    assert wikigr("search", "spin").code == 0


def test_several_default_packs_are_the_same_for_every_command(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("chem", "bio"):
        shutil.copytree(physics_pack, tmp_path / "packs" / name)
    (tmp_path / "wikigr.yaml").write_text("pack: [chem, packs/bio]  # two\n")
    for variable in ("", f"packs/chem{os.pathsep}bio"):
        monkeypatch.setenv("WIKIGR_PACK", variable)
        assert wikigr("search", "spin").code == 0
        listed = wikigr("pack", "list")
        assert [line[:6] for line in listed.out.splitlines()] == ["  name", "* bio ", "* chem"]
        assert "* a default pack, from " in listed.err and "exist" not in listed.err
        shown = wikigr("pack", "use")
        assert (shown.code, shown.out.count("is a default pack.")) == (0, 2)
        paths = [default["path"] for default in json.loads(wikigr("pack", "use", "--json").out)["defaults"]]
        assert paths == ["packs/chem", "packs/bio"]
    monkeypatch.delenv("WIKIGR_PACK")
    refused = wikigr("pack", "info")
    assert (refused.code, "pack must be a single value for `wikigr pack info`" in refused.err) == (2, True)
    assert wikigr("pack", "use", "chem", "--project").code == 0
    assert (tmp_path / "wikigr.yaml").read_text() == "pack: chem  # two\n"


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


@pytest.mark.parametrize("arguments", [("p", "--unset"), ("--project",)])
def test_contradictory_arguments_are_wrong_usage(wikigr: Wikigr, arguments: tuple[str, ...]) -> None:
    assert wikigr("pack", "use", *arguments).code == 2
