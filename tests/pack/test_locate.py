from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from wikigr.errors import PackError
from wikigr.pack.layout import DATABASE, MANIFEST, Layout
from wikigr.pack.locate import Place, find_pack, named_packs, packs_named, project_packs


def make_pack(folder: Path) -> Layout:
    folder.mkdir(parents=True)
    (folder / MANIFEST).write_text("{}")
    (folder / DATABASE).write_text("")
    return Layout(folder)


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def test_a_folder_and_its_database_name_the_same_pack(tmp_path: Path) -> None:
    pack = make_pack(tmp_path / "pack")
    assert find_pack(pack.root) == find_pack(pack.root / DATABASE) == pack


def test_what_only_has_the_name_of_an_installed_pack_does_not_hide_it(tmp_path: Path) -> None:
    installed = make_pack(tmp_path / "data" / "wikigr" / "packs" / "physics")
    (tmp_path / "physics" / "articles").mkdir(parents=True)
    assert find_pack("physics") == installed
    with pytest.raises(PackError, match="does not contain a pack"):
        find_pack("./physics")
    (tmp_path / "physics" / "articles").rmdir()
    (tmp_path / "physics").rmdir()
    (tmp_path / "physics").write_text("notes on physics")
    assert find_pack("physics") == installed
    with pytest.raises(PackError, match="is not a pack"):
        find_pack(tmp_path / "physics")


def test_an_unfinished_build_takes_precedence_over_an_installed_pack(tmp_path: Path) -> None:
    make_pack(tmp_path / "data" / "wikigr" / "packs" / "physics")
    layout = Layout(tmp_path / "physics")
    layout.work.mkdir(parents=True)
    layout.staging.write_text("")
    with pytest.raises(PackError, match="interrupted"):
        find_pack("physics")


def test_a_running_build_is_not_an_interrupted_one(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "physics")
    with layout.building():
        layout.staging.write_text("")
        with pytest.raises(PackError, match="is being built"):
            find_pack("physics")
    with pytest.raises(PackError, match="interrupted"):
        find_pack("physics")


def test_who_names_documents_is_told_how_to_build_a_pack_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my notes").mkdir()
    (tmp_path / "my notes" / "kettle.md").write_text("# Kettle")
    (tmp_path / "packs" / "physics").mkdir(parents=True)
    for location, command in (
        ("my notes", "wikigr pack build 'my notes' -o 'packs/my notes'"),
        ("my notes/kettle.md", "wikigr pack build 'my notes/kettle.md' -o packs/kettle"),
        # A folder for packs holds no documents, and the working directory would contain its own pack.
        ("packs/physics", "wikigr pack build SOURCE -o packs/physics"),
        (".", "wikigr pack build SOURCE -o ."),
    ):
        with pytest.raises(PackError) as caught:
            find_pack(location)
        assert caught.value.hint == f"Build one: {command}"


@pytest.mark.parametrize("name", [MANIFEST, "notes.db", "README.md"])
def test_a_file_next_to_the_database_is_not_a_pack(tmp_path: Path, name: str) -> None:
    pack = make_pack(tmp_path / "pack")
    (pack.root / name).write_text("{}")
    with pytest.raises(PackError, match="is not a pack") as caught:
        find_pack(pack.root / name)
    assert str(pack.root) in (caught.value.hint or "")


def test_an_archive_is_not_taken_for_the_pack_of_its_folder(tmp_path: Path) -> None:
    pack = make_pack(tmp_path / "pack")
    (pack.root / "other-1.0.0.wikigr").write_text("")
    with pytest.raises(PackError, match="is an archive") as caught:
        find_pack(pack.root / "other-1.0.0.wikigr")
    assert "pack install" in (caught.value.hint or "")


def test_a_message_names_the_folder_that_a_dot_stands_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "notes" / "sub"
    folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.chdir(folder)
    for location, named in (
        (".", folder),
        ("./", folder),
        ("..", folder.parent),
        (tmp_path / "link", tmp_path / "link"),
    ):
        with pytest.raises(PackError, match=f"^{re.escape(str(named))} does not contain a pack") as caught:
            find_pack(location)
        assert str(caught.value.hint).endswith(f"-o {Path(location)}")
    (folder / ".wikigr").mkdir()
    (folder / ".wikigr" / "staging.sqlite").touch()
    with pytest.raises(PackError, match=f"no finished pack at {re.escape(str(folder))}, because"):
        find_pack(".")


def test_a_name_means_a_folder_here_then_an_installed_pack_then_one_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / ".git").mkdir()
    monkeypatch.chdir(project / "src")
    in_project = make_pack(project / "packs" / "physics")
    assert find_pack("physics").root.samefile(in_project.root)
    assert [pack.place for pack in packs_named("physics")] == [Place.PROJECT]
    installed = make_pack(tmp_path / "data" / "wikigr" / "packs" / "physics")
    assert find_pack("physics") == installed
    here = make_pack(project / "src" / "physics")
    assert find_pack("physics").root.samefile(here.root)
    assert [pack.place for pack in packs_named("physics")] == [Place.FOLDER, Place.INSTALLED, Place.PROJECT]
    assert [str(pack.path) for pack in packs_named("physics")] == ["physics", str(installed.root), "../packs/physics"]
    assert [(pack.name, pack.place) for pack in named_packs()] == [("physics", place) for place in Place]
    assert packs_named("../packs/physics") == packs_named("..") == packs_named("") == []


def test_one_folder_in_two_places_is_one_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = make_pack(tmp_path / "packs" / "physics")
    (tmp_path / ".git").mkdir()
    (tmp_path / "data" / "wikigr" / "packs").mkdir(parents=True)
    (tmp_path / "data" / "wikigr" / "packs" / "physics").symlink_to(pack.root)
    monkeypatch.chdir(tmp_path / "packs")
    assert len(packs_named("physics")) == len(named_packs()) == 1


def test_packs_above_the_project_or_the_home_folder_are_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_pack(tmp_path / "packs" / "physics")
    deep = tmp_path / "home" / "project" / "src" / "deep"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert project_packs() is None  # outside of every project and of the home folder
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert project_packs() is None
    (tmp_path / "home" / "packs").mkdir()
    assert project_packs() == Path("../../../packs")
    (tmp_path / "home" / "project" / ".git").mkdir()
    assert project_packs() is None
    with pytest.raises(PackError, match="no pack 'physics'"):
        find_pack("physics")
    (tmp_path / "home" / "project" / "packs").mkdir()
    assert project_packs() == Path("../../packs")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "home" / "project" / ".git").rmdir()
    shutil.rmtree(tmp_path / "home" / "project" / "packs")
    (tmp_path / "home" / "packs").rmdir()
    assert find_pack("physics").root.samefile(tmp_path / "packs" / "physics")


def test_a_project_pack_that_is_not_built_yet_is_named_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "packs" / "physics" / "articles").mkdir(parents=True)
    with pytest.raises(PackError, match="packs/physics does not contain a pack") as caught:
        find_pack("physics")
    assert str(caught.value.hint).endswith("-o packs/physics")


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("chemystry", "chemistry"),
        ("CHEMISTRY", "chemistry"),
        ("packs/chemystry", "packs/chemistry"),
        ("pakcs/chemistry", "packs/chemistry"),
        ("packs/chemistri/pack.db", "packs/chemistry"),
        ("zoology", None),
    ],
)
def test_suggestions_are_packs(tmp_path: Path, typed: str, suggested: str | None) -> None:
    make_pack(tmp_path / "packs" / "chemistry")
    (tmp_path / "packs" / "chemystries").mkdir()
    make_pack(tmp_path / "data" / "wikigr" / "packs" / "chimistri")
    with pytest.raises(PackError) as caught:
        find_pack(typed)
    hint = str(caught.value.hint)
    assert hint == f"Did you mean {suggested}?" if suggested else "Did you mean" not in hint
