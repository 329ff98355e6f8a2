from __future__ import annotations

import re
from pathlib import Path

import pytest

from wikigr.errors import PackError
from wikigr.pack.layout import DATABASE, MANIFEST, Layout
from wikigr.pack.locate import find_pack


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


def test_an_installed_pack_is_found_by_name_unless_a_folder_has_it(tmp_path: Path) -> None:
    installed = make_pack(tmp_path / "data" / "wikigr" / "packs" / "physics")
    assert find_pack("physics") == installed
    make_pack(tmp_path / "physics")
    assert find_pack("physics") == Layout(Path("physics"))


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


@pytest.mark.parametrize("name", [MANIFEST, "notes.db", "README.md"])
def test_a_file_next_to_the_database_is_not_a_pack(tmp_path: Path, name: str) -> None:
    pack = make_pack(tmp_path / "pack")
    (pack.root / name).write_text("{}")
    with pytest.raises(PackError, match="is not a pack") as caught:
        find_pack(pack.root / name)
    assert str(pack.root) in (caught.value.hint or "")


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="no pack 'nothing'"):
        find_pack("nothing")
    layout = Layout(tmp_path / "pack")
    layout.work.mkdir(parents=True)
    with pytest.raises(PackError, match="does not contain a pack"):
        find_pack(layout.root)
    layout.staging.write_text("")
    with pytest.raises(PackError, match="interrupted"):
        find_pack(layout.root)


def test_a_misspelled_name_gets_a_suggestion(tmp_path: Path) -> None:
    make_pack(tmp_path / "data" / "wikigr" / "packs" / "physics")
    make_pack(tmp_path / "packs" / "chemistry")
    with pytest.raises(PackError) as caught:
        find_pack("phisics")
    assert "physics" in (caught.value.hint or "")
    with pytest.raises(PackError) as caught:
        find_pack("packs/chemystry")
    assert "packs/chemistry" in (caught.value.hint or "")


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
