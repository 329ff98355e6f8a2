"""Read files that a stranger may have put in place: regular ones only, and no more of them than expected."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading; raises ``OSError`` for another kind, which might wait for a writer."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    file = os.fdopen(handle, "rb")
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return file


def read_regular(path: Path, limit: int) -> bytes:
    """Return the content of a regular file of at most ``limit`` bytes, whatever its size claims to be.

    Raises ``OSError`` for another kind of file, which might never end or wait for a writer, and ``ValueError`` for a
    longer one.
    """
    with open_regular(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"{path} has more than {limit:,} bytes, the limit")
    return data
