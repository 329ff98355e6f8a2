from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
from pathlib import Path

import pytest

from wikigr.errors import BuildError, UsageError
from wikigr.pack.layout import (
    DATABASE,
    ENCODER,
    LEXICAL,
    MANIFEST,
    ORIGIN,
    PAGERANK,
    PARTS,
    SIGNATURE,
    Layout,
    installed_name,
    installed_packs,
)


def write_parts(folder: Path, text: str, *, without: str = "") -> None:
    """Write the parts of a pack whose manifest lists them, except the part ``without``."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [f"{name}/file-{text}" if name in (LEXICAL, ENCODER) else name for name in PARTS if name != without]
    files.remove(MANIFEST)
    for name in files:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / MANIFEST).write_text(json.dumps({"wikigr_version": text, "files": {name: {} for name in files}}))


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files below ``folder`` outside the working folder."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    named = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    return {name: content for name, content in named.items() if not name.startswith(".wikigr/")}


def read_parts(layout: Layout) -> set[str]:
    texts = {layout.part(name).read_text() for name in (DATABASE, PAGERANK)}
    texts.add(json.loads(layout.part(MANIFEST).read_text())["wikigr_version"])
    for name in (LEXICAL, ENCODER):
        texts |= {file.read_text() for file in layout.part(name).iterdir()}
    return texts


def commit(layout: Layout, text: str) -> None:
    with layout.building():
        layout.clear_new()
        write_parts(layout.new, text)
        layout.replace_parts()


def test_a_commit_replaces_every_part_and_touches_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "articles").mkdir()
    (tmp_path / "articles" / "spin.md").write_text("mine")
    layout = Layout(tmp_path)
    commit(layout, "old")
    commit(layout, "new")
    assert read_parts(layout) == {"new"}
    assert (tmp_path / "articles" / "spin.md").read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*PARTS, "articles", ".wikigr"])
    assert not layout.new.exists()


def _die_in_commit(root: str, step: int) -> None:
    """Kill this process at the ``step``-th rename of a commit."""
    layout = Layout(Path(root))
    calls = 0
    real = os.replace, os.rename

    def counting(which: int, *paths: object) -> None:
        nonlocal calls
        calls += 1
        if calls > step:
            os.kill(os.getpid(), signal.SIGKILL)
        real[which](*paths)  # type: ignore[arg-type]

    os.replace = lambda *paths, **_: counting(0, *paths)  # type: ignore[assignment]
    os.rename = lambda *paths, **_: counting(1, *paths)  # type: ignore[assignment]
    commit(layout, "new")


@pytest.mark.parametrize("step", range(8))
def test_killed_between_any_two_renames_the_pack_is_whole_and_the_next_build_finishes_it(
    tmp_path: Path, step: int
) -> None:
    layout = Layout(tmp_path)
    commit(layout, "old")
    process = multiprocessing.get_context("fork").Process(target=_die_in_commit, args=(str(tmp_path), step))
    process.start()
    process.join()
    if step < 7:
        assert process.exitcode == -signal.SIGKILL
    assert read_parts(layout) == {"new"}
    with layout.building():
        pass
    assert read_parts(layout) == {"new"}
    assert not layout.new.exists()


def test_killed_before_the_commit_the_old_pack_stays(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    commit(layout, "old")
    with layout.building():
        layout.clear_new()
        write_parts(layout.new, "half")
    assert read_parts(layout) == {"old"}
    commit(layout, "new")
    assert read_parts(layout) == {"new"}


def test_two_builds_in_one_folder_are_refused(tmp_path: Path) -> None:
    with Layout(tmp_path).building(), pytest.raises(BuildError, match="Another process"), Layout(tmp_path).building():
        pass
    with Layout(tmp_path).building():
        pass


def test_a_folder_that_cannot_be_created_is_a_build_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BuildError, match="Cannot write to the folder"), Layout(tmp_path / "file" / "pack").building():
        pass


def test_a_pack_that_cannot_be_written_is_to_be_copied(tmp_path: Path) -> None:
    (tmp_path / ".wikigr").write_text("in the way")
    with pytest.raises(BuildError, match="Cannot write to the folder") as caught, Layout(tmp_path).building():
        pass
    assert "with -o" in (caught.value.hint or "")
    write_parts(tmp_path, "old")
    with pytest.raises(BuildError, match="Cannot write to the folder") as caught, Layout(tmp_path).building():
        pass
    assert "with -o" not in (caught.value.hint or "")
    assert f"cp -RL {tmp_path} COPY" in (caught.value.hint or "")


def test_nothing_is_written_into_an_installed_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    version = installed_packs() / ".versions" / "letters" / "1.0.0-abc"
    write_parts(version, "old")
    (installed_packs() / "letters").symlink_to(".versions/letters/1.0.0-abc")
    (tmp_path / "link").symlink_to(installed_packs() / "letters")
    for place in (version, installed_packs() / "letters", tmp_path / "link"):
        assert installed_name(place) == "letters"
        with pytest.raises(UsageError, match="installed pack") as caught, Layout(place).building():
            pass
        assert f"cp -RL {place} COPY" in (caught.value.hint or "")
    assert not (version / ".wikigr").exists()
    shutil.copytree(version, tmp_path / "copy")
    assert installed_name(tmp_path / "copy") is None
    commit(Layout(tmp_path / "copy"), "new")


def test_a_signature_is_removed_with_its_manifest(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    commit(layout, "old")
    assert layout.signature() is None
    (tmp_path / SIGNATURE).write_text(json.dumps({"algorithm": "ed25519", "public_key": "", "signature": ""}))
    (tmp_path / ORIGIN).write_text(json.dumps({"source": "letters.wikigr", "identity": "abc"}))
    commit(layout, "old")
    assert layout.signature() == tmp_path / SIGNATURE
    # Killed before anything was renamed: readers see the new manifest, of which there is no signature.
    layout.clear_new()
    write_parts(layout.new, "new")
    (layout.work / "commit").touch()
    assert layout.signature() is None
    with layout.building():
        pass
    assert not (tmp_path / SIGNATURE).exists()
    assert not (tmp_path / ORIGIN).exists()


@pytest.mark.parametrize("name", PARTS)
def test_a_users_own_file_named_like_a_part_is_never_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"mine": true}')
    with pytest.raises(BuildError, match=name), Layout(tmp_path).building():
        pass
    assert (tmp_path / name).read_text() == '{"mine": true}'


def test_an_encoder_that_is_no_longer_bundled_is_removed(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    commit(layout, "old")
    with layout.building():
        layout.clear_new()
        write_parts(layout.new, "new", without=ENCODER)
        layout.replace_parts()
    assert not (tmp_path / ENCODER).exists()
    commit(layout, "newer")
    assert read_parts(layout) == {"newer"}


@pytest.mark.parametrize(
    "name", ["encoder/model.onnx", "signature.json", ".origin.json", "lexical/notes.txt", "lexical/.notes", "encoder"]
)
def test_a_build_is_refused_if_the_pack_contains_a_file_of_the_user(tmp_path: Path, name: str) -> None:
    layout = Layout(tmp_path)
    write_parts(tmp_path, "old", without=ENCODER)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    before = contents(tmp_path)
    with pytest.raises(BuildError, match=name.removesuffix("model.onnx")) as caught, layout.building():
        pass
    assert "Move it out" in (caught.value.hint or "")
    assert contents(tmp_path) == before
    (tmp_path / name).unlink()
    if name == "encoder/model.onnx":
        (tmp_path / ENCODER).rmdir()
    commit(layout, "new")
    assert read_parts(layout) == {"new"}


@pytest.mark.parametrize("name", ["encoder/model.onnx", "signature.json", "lexical/notes.txt"])
def test_a_file_that_the_user_adds_during_a_build_is_kept(tmp_path: Path, name: str) -> None:
    layout = Layout(tmp_path)
    write_parts(tmp_path, "old", without=ENCODER)
    with layout.building():
        layout.clear_new()
        write_parts(layout.new, "new")
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
        before = contents(tmp_path)
        with pytest.raises(BuildError, match="manifest does not list"):
            layout.replace_parts()
    assert contents(tmp_path) == before
    assert json.loads(layout.part(MANIFEST).read_text())["wikigr_version"] == "old"


def test_files_beside_the_parts_and_files_of_the_index_do_not_prevent_a_build(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    commit(layout, "old")
    kept = ["README.md", "eval/questions.jsonl", "few_shot_examples.json", "notes/codes.bin", "articles/spin.md"]
    for name in (*kept, "lexical/.managed.json", "lexical/.tantivy-writer.lock"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    commit(layout, "new")
    assert read_parts(layout) == {"new"}
    assert all((tmp_path / name).read_text() == "mine" for name in kept)


def test_a_pack_whose_manifest_lists_no_files_is_replaced_but_its_encoder_is_not(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    write_parts(tmp_path, "old", without=ENCODER)
    (tmp_path / MANIFEST).write_text('{"wikigr_version": "0.0"}')
    (tmp_path / ENCODER).mkdir()
    with pytest.raises(BuildError, match="encoder/"), layout.building():
        pass
    (tmp_path / ENCODER).rmdir()
    commit(layout, "new")
    assert read_parts(layout) == {"new"}


def test_replacing_one_part_does_not_check_the_others(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    write_parts(tmp_path, "old", without=ENCODER)
    (tmp_path / ENCODER).mkdir()
    (tmp_path / ENCODER / "model.onnx").write_text("mine")
    with layout.building([PAGERANK, MANIFEST]):
        layout.clear_new()
        shutil.copy(tmp_path / MANIFEST, layout.new)
        (layout.new / PAGERANK).write_text("new")
        layout.replace_parts()
    assert (tmp_path / PAGERANK).read_text() == "new"
    assert (tmp_path / ENCODER / "model.onnx").read_text() == "mine"
