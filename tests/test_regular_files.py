"""Files that are no regular ones, or longer than they claim."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wikigr.regular_files import read_regular


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
