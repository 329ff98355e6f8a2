"""Folders that may receive a pack, and folders with files of the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.errors import UsageError
from wikigr.ingest.destination import check_destination


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("notes/a.md", "notes/old/b.md", "mine/x.doc", "pack/manifest.json", "physics/articles/a.md",
                 "physics/README.md", "physics/eval/questions.jsonl", "empty/.git/config", "stopped/.wikigr/lock",
                 "dumps/wiki.xml"):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    (tmp_path / "link").symlink_to("notes")
    monkeypatch.chdir(tmp_path)


def test_a_pack_is_not_mixed_with_files_of_the_user(subtests: pytest.Subtests) -> None:
    for source, output, why, hint in [
        ("notes", "notes", "is the folder of the source", "notes -o notes-pack"),
        ("notes/", "./notes/.", "is the folder of the source", "notes/ -o notes-pack"),
        ("link", "notes", "is the folder of the source", "link -o notes-pack"),
        ("notes", "notes/pack", "lies in the source folder notes", "notes -o notes-pack"),
        ("notes", "notes/old", "lies in the source folder notes", "notes -o notes-pack"),
        ("notes/old", "notes", "is not empty and not a pack (it contains a.md)", "notes/old -o notes/old-pack"),
        ("notes", "mine", "is not empty and not a pack (it contains x.doc)", "notes -o mine/notes-pack"),
        ("-", "mine", "is not empty and not a pack (it contains x.doc)", "- -o mine/pack"),
        ("notes", ".", "(it contains dumps, empty, link and 4 more)", "notes -o notes-pack"),
        ("notes", "physics", "(it contains articles)", "notes -o physics/notes-pack"),
    ]:
        with subtests.test(source=source):
            before = sorted(Path().rglob("*"))
            with pytest.raises(UsageError) as refused:
                check_destination(source, Path(output))
            assert why in refused.value.message
            assert refused.value.hint == f"wikigr pack build {hint}"
            assert sorted(Path().rglob("*")) == before
            # The hint is a way out.
            check_destination(source, Path(hint.rpartition(" ")[2]))


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("notes", "new/pack"),
        ("notes", "pack"),
        ("pack", "pack"),
        ("notes", "empty"),
        ("notes", "stopped"),
        ("physics/articles", "physics"),
        ("dumps/wiki.xml", "dumps"),
        ("-", "new"),
    ],
)
def test_new_folders_and_packs_are_accepted(source: str, output: str) -> None:
    check_destination(source, Path(output))
