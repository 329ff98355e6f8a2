"""Files that are replaced as a whole: a reader, or a kill at any moment, finds the old content or the new."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def write_atomic(path: Path, content: str | bytes) -> None:
    """Put ``content`` (text as UTF-8) in the place of ``path``, or of the file that it links to; raises ``OSError``."""
    try:
        path = path.resolve()
    except RuntimeError as error:  # a link to itself, before Python 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error
    # In a container every process may have the number of the one that was killed before it.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        with temporary.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
