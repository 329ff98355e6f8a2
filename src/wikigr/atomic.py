"""Atomic file replacement: readers see either the old content or the new, even if the process is killed."""

from __future__ import annotations

import errno
import os
import shlex
from pathlib import Path

from wikigr.errors import UsageError, WikigrError


def write_atomic(path: Path, content: str | bytes) -> None:
    """Replace ``path``, or the file that it links to, with ``content`` (text as UTF-8); raises ``OSError``."""
    try:
        path = path.resolve()
    except RuntimeError as error:  # a symbolic link to itself, before Python 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error
    # The process id alone is not unique: in a container, a restarted process may get the id of the killed one.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        with temporary.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def cannot_write(what: str, path: Path, error: OSError, hint: str | None = None) -> WikigrError:
    """Return the error for the file ``path`` of the user's that cannot be written; ``what`` says what it would contain.

    A folder that does not exist is a mistake in the command.
    """
    message = f"Cannot write {what} {path}: {error.strerror or error}."
    if isinstance(error, FileNotFoundError):
        return UsageError(message, hint=f"Create its folder first: mkdir -p {shlex.quote(str(path.parent))}")
    return WikigrError(message, hint=hint)
