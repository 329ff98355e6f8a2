"""``wikigr pack update --watch`` keeps a pack current while files change, and is safe to interrupt."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.conftest import Wikigr

from wikigr.pack.open import Pack
from wikigr.pack.validate import validate_pack

MAIN = "from wikigr_cli.entry import main; main()"


@contextmanager
def watching(pack: Path, source: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Watch ``source`` in a process, whose first line on stderr says that it does."""
    words = ["pack", "update", str(pack), "--from", str(source), "--watch", "--jobs", "0", *options]
    command = [sys.executable, "-c", MAIN, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("Watching"):
                break
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def notes(wikigr: Wikigr, tmp_path: Path) -> tuple[Path, Path]:
    source, pack = tmp_path / "notes", tmp_path / "pack"
    source.mkdir()
    (source / "spin.md").write_text("# Spin\n\nSpin is a form of angular momentum.\n")
    (source / "photon.md").write_text("# Photon\n\nA photon is a particle of light.\n")
    assert wikigr("-q", "pack", "build", str(source), "-o", str(pack)).code == 0
    return source, pack


def titles(pack: Path) -> list[str]:
    with Pack(str(pack)) as opened:
        return sorted(row[0] for row in opened.graph.rows("MATCH (a:Article) RETURN a.title"))


def test_every_change_of_the_folder_becomes_an_update_until_ctrl_c(notes: tuple[Path, Path]) -> None:
    source, pack = notes
    with watching(pack, source, "--json") as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        assert not first["updated"]  # nothing had changed
        # Files that do not belong to the source do not count.
        (source / ".spin.md.swp").write_text("x")
        (source / "laser.md").write_text("# Laser\n\nA laser emits coherent light.\n")
        second = json.loads(process.stdout.readline())
        assert second["updated"] and titles(pack) == ["Laser", "Photon", "Spin"]
        # A mistake is reported, and the next change is waited for.
        (source / "laser.md").write_bytes(b"# Laser\n\n\xff\xfe\xff")
        assert process.stderr is not None
        assert "laser.md" in process.stderr.readline()
        assert "--keep-going" in process.stderr.readline()
        (source / "laser.md").write_text("# Maser\n\nA maser emits coherent microwaves.\n")
        third = json.loads(process.stdout.readline())
        assert third["updated"] and "Maser" in titles(pack)
        # Another folder takes its place, as when a checkout is made anew.
        new = source.with_name("new")
        shutil.copytree(source, new)
        (new / "boson.md").write_text("# Boson\n\nA boson has an integer spin.\n")
        source.rename(source.with_name("old"))
        new.rename(source)
        fourth = json.loads(process.stdout.readline())
        assert fourth["updated"] and titles(pack) == ["Boson", "Maser", "Photon", "Spin"]
        assert "was removed or replaced" in process.stderr.readline()
        # It is deleted, and made again later.
        shutil.copytree(source, new)
        shutil.rmtree(source)
        while "was removed or replaced" not in process.stderr.readline():
            assert process.poll() is None
        (new / "boson.md").unlink()
        new.rename(source)
        fifth = json.loads(process.stdout.readline())
        assert fifth["updated"] and titles(pack) == ["Maser", "Photon", "Spin"]
        # What changes in the new folder is noticed.
        (source / "quark.md").write_text("# Quark\n\nA quark is an elementary particle.\n")
        assert json.loads(process.stdout.readline())["updated"] and "Quark" in titles(pack)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert "Stopped watching." in process.stderr.read()
    assert [check for check in validate_pack(str(pack)) if not check.passed] == []


def test_a_file_that_an_editor_replaces_is_followed(wikigr: Wikigr, tmp_path: Path) -> None:
    source, pack = tmp_path / "a.jsonl", tmp_path / "pack"
    row = '{"id": "%s", "title": "%s", "text": "Some text."}\n'
    source.write_text(row % ("1", "One"))
    assert wikigr("-q", "pack", "build", str(source), "-o", str(pack)).code == 0
    with watching(pack, source) as process:
        new = tmp_path / "a.jsonl.new"
        new.write_text(row % ("1", "One") + row % ("2", "Two"))
        new.rename(source)
        assert process.stdout is not None
        # An update is one line.
        assert "articles: 1 added; 1 section encoded in " in process.stdout.readline()
        assert titles(pack) == ["One", "Two"]


def test_what_cannot_be_watched(wikigr: Wikigr, notes: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    source, pack = notes
    for options, message in (
        (("--from", str(source), "--watch", "--dry-run"), "--watch does not go with --dry-run"),
        (("--from", str(source / "none"), "--watch"), "needs a folder or a file"),
        (("--watch",), "--from must name its source"),
    ):
        result = wikigr("pack", "update", str(pack), *options)
        assert result.code == 2 and message in result.err.replace("\n", " "), result.err
    find_spec: Callable[..., object] = lambda name: None  # noqa: E731
    monkeypatch.setattr("wikigr.sources.watching.find_spec", find_spec)
    result = wikigr("pack", "update", str(pack), "--from", str(source), "--watch")
    assert result.code == 2 and "pip install 'wikigr[watch]'" in result.err.replace("\n", " ")
