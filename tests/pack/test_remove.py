"""What a removal deletes, what it never touches, and what an interruption leaves."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from wikigr.errors import BuildError, PackError, UsageError
from wikigr.pack.layout import MANIFEST, Layout
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import EXTRAS, describe_file
from wikigr.pack.remove import plan_removal, remove_pack


def everything(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@pytest.fixture
def pack(letters_copy: Path) -> Path:
    """A pack without the worked examples and gold questions that its author wrote."""
    for name in EXTRAS:
        (letters_copy / name).unlink(missing_ok=True)
    (letters_copy / "eval").rmdir()
    return letters_copy


def test_files_of_the_user_stay(pack: Path) -> None:
    for name in ("notes.md", "articles/a.md", "lexical/mine.txt", "few_shot_examples.json", ".wikigr/mine"):
        (pack / name).parent.mkdir(exist_ok=True)
        (pack / name).write_text("mine")
    kept = remove_pack(Layout(pack)).kept
    assert kept == (".wikigr/mine", "articles/", "few_shot_examples.json", "lexical/", "notes.md")
    assert everything(pack) == {
        "notes.md", "articles", "articles/a.md", "lexical", "lexical/mine.txt", "few_shot_examples.json", ".wikigr",
        ".wikigr/mine",
    }  # fmt: skip


def test_links_are_neither_followed_nor_removed(pack: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (pack / "lexical").rename(outside)
    (pack / "lexical").symlink_to(outside)
    (pack / "pack.db").rename(tmp_path / "big.db")
    (pack / "pack.db").symlink_to(tmp_path / "big.db")
    before = everything(outside)
    kept = remove_pack(Layout(pack)).kept
    assert kept == ("lexical", "pack.db")
    assert everything(outside) == before
    assert (tmp_path / "big.db").stat().st_size > 0
    assert everything(pack) >= {"lexical", "pack.db"}
    link = tmp_path / "link"
    link.symlink_to(pack)
    with pytest.raises(UsageError, match="is a link"):
        remove_pack(Layout(link))


def test_a_manifest_cannot_name_files_that_are_not_of_a_pack(pack: Path, tmp_path: Path) -> None:
    manifest = json.loads((pack / MANIFEST).read_text())
    (tmp_path / "secret").write_text("mine")
    (pack / "notes.md").write_text("mine")
    for name in ("../secret", str(tmp_path / "secret"), "notes.md", "lexical/../../secret"):
        manifest["files"][name] = {"size": 4, "sha256": "0" * 64}
    (pack / MANIFEST).write_text(json.dumps(manifest))
    remove_pack(Layout(pack))
    assert (tmp_path / "secret").read_text() == "mine"
    assert everything(pack) == {"notes.md"}


def test_examples_of_the_pack_go_unless_they_were_edited(pack: Path) -> None:
    manifest = json.loads((pack / MANIFEST).read_text())
    for name in ("few_shot_examples.json", "eval/questions.jsonl"):
        (pack / name).parent.mkdir(exist_ok=True)
        (pack / name).write_text("original")
        record = describe_file(pack / name)
        manifest["files"][name] = {"size": record.size, "sha256": record.sha256}
    (pack / MANIFEST).write_text(json.dumps(manifest))
    (pack / "few_shot_examples.json").write_text("modified")
    assert remove_pack(Layout(pack)).kept == ("few_shot_examples.json",)
    assert everything(pack) == {"few_shot_examples.json"}


@pytest.mark.parametrize("content", ["{", "{}", '{"files": {"pack.db": {}}}'])
def test_a_folder_with_another_manifest_is_not_a_pack(tmp_path: Path, content: str) -> None:
    (tmp_path / MANIFEST).write_text(content)
    (tmp_path / "pack.db").write_text("mine")
    with pytest.raises(PackError, match="not the manifest of a pack"):
        remove_pack(Layout(tmp_path))
    assert everything(tmp_path) == {MANIFEST, "pack.db"}


def test_a_pack_of_another_format_is_removed(pack: Path) -> None:
    manifest = json.loads((pack / MANIFEST).read_text())
    (pack / MANIFEST).write_text(json.dumps({**manifest, "format_version": 99}))
    remove_pack(Layout(pack))
    assert not pack.exists()


def test_a_pack_that_is_being_built_is_not_removed(pack: Path) -> None:
    with Layout(pack).building(), pytest.raises(BuildError, match="Another process is building"):
        remove_pack(Layout(pack))
    assert Layout(pack).exists()


def _die_in_removal(folder: str, moment: int) -> None:
    """Kill this process before the change of a file after the first ``moment`` ones."""
    left = moment

    def kill_later(event: str, arguments: object) -> None:
        nonlocal left
        if event in ("os.remove", "os.rmdir", "os.rename"):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(kill_later)
    remove_pack(Layout(Path(folder)))


_FAILING = """
import sys
from pathlib import Path
from wikigr.errors import BuildError
from wikigr.pack.layout import Layout
from wikigr.pack.remove import remove_pack
left = 2
def fail_later(event, arguments):
    global left
    if event == "os.remove":
        left -= 1
        if left == 0:
            raise OSError(5, "Input/output error", arguments[0])
sys.addaudithook(fail_later)
try:
    remove_pack(Layout(Path(sys.argv[1])))
except BuildError as error:
    print(error.message)
"""


def test_a_removal_that_fails_says_that_the_pack_is_partly_removed(pack: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _FAILING, str(pack)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("The pack is only partly removed; run the same command again. Input/output error: ")
    assert Layout(pack).half_removed()
    remove_pack(Layout(pack))
    assert not pack.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_not_writable_keeps_the_whole_pack(pack: Path) -> None:
    before = everything(pack)
    (pack / "lexical").chmod(0o500)
    with pytest.raises(BuildError, match="lexical is not writable"):
        remove_pack(Layout(pack))
    assert everything(pack) >= before
    assert Layout(pack).exists()
    (pack / "lexical").chmod(0o700)
    remove_pack(Layout(pack))
    assert not pack.exists()


def test_a_kill_at_any_moment_leaves_a_whole_pack_or_none(pack: Path, tmp_path: Path) -> None:
    outcomes = set()
    for moment in range(0, 100, 3):
        folder = shutil.copytree(pack, tmp_path / str(moment) / "letters")
        whole = everything(folder)
        (folder / "notes.md").write_text("mine")
        removing = multiprocessing.get_context("fork").Process(target=_die_in_removal, args=(str(folder), moment))
        removing.start()
        removing.join()
        layout = Layout(folder)
        if layout.exists():
            outcomes.add("whole")
            assert whole <= everything(folder) | {".wikigr"}
        elif layout.half_removed():
            outcomes.add("half")
            with pytest.raises(PackError, match="removal was interrupted") as caught:
                find_pack(folder)
            assert f"wikigr pack remove {folder}" in str(caught.value.hint)
            assert "notes.md" in plan_removal(layout).kept
            remove_pack(layout)
            assert everything(folder) == {"notes.md"}
        else:
            outcomes.add("gone")
            assert everything(folder) <= {"notes.md", ".wikigr"}
        assert (folder / "notes.md").read_text() == "mine"
        if removing.exitcode == 0:
            break
        assert removing.exitcode == -signal.SIGKILL
    assert outcomes == {"whole", "half", "gone"}
    assert removing.exitcode == 0
