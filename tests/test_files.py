from __future__ import annotations

import os
from pathlib import Path

import pytest

from wikigr.files import read_regular, write_atomic


def test_text_and_bytes_replace_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomic(path, "naïve")
    assert path.read_bytes() == "naïve".encode()
    write_atomic(path, b"\x00\x01")
    assert path.read_bytes() == b"\x00\x01"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target"
    target.write_text("old")
    link = tmp_path / "link"
    link.symlink_to(target)
    write_atomic(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_link_to_itself_is_an_os_error(tmp_path: Path) -> None:
    link = tmp_path / "loop"
    link.symlink_to(link)
    with pytest.raises(OSError, match="loop"):
        write_atomic(link, "x")


def test_a_failed_write_leaves_the_old_content_and_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_only_regular_files_of_a_known_size_are_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    assert read_regular(path, 3) == b"abc"
    with pytest.raises(ValueError, match="has more than 2 bytes, the limit"):
        read_regular(path, 2)
    with pytest.raises(OSError, match="directory"):
        read_regular(tmp_path, 3)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none", 3)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        for endless in (tmp_path / "pipe", Path("/dev/zero")):
            with pytest.raises(OSError, match="it is not a regular file"):
                read_regular(endless, 3)
