"""Read and write files: replace them atomically, read regular ones only, and say why one cannot be read."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shlex
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedRandom, BufferedReader, BufferedWriter
from json import JSONDecodeError
from pathlib import Path

from wikigr.errors import UsageError, WikigrError

# What the messages of the YAML parser mean, in the words of someone who does not know its grammar.
_YAML_MISTAKES = (
    (r"found character '\\t'", "a tab, but YAML is indented with blanks"),
    (r"mapping values are not allowed", "a colon that is out of place"),
    (r"could not find expected ':'", "a key without a colon after it"),
    (r"expected <block end>", "a line that is not indented like the ones before it"),
    (r"expected ',' or '\]'", "a list that is not closed with ]"),
    (r"expected ',' or '\}'", "a mapping that is not closed with }"),
    (r"found unexpected end of stream", "a quotation mark that is not closed"),
)


def write_atomic(path: Path, content: str | bytes) -> None:
    """Replace ``path``, or the file that it links to, with ``content`` (text as UTF-8); see ``replacing``."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing(path: Path) -> Iterator[BufferedRandom]:
    """Yield a new file that replaces ``path``, or the file that it links to, unless an error ends the context.

    It keeps the permissions. Readers see either the old content or the new, even if the process is killed. Raises
    ``OSError``.
    """
    try:
        path = path.resolve()
    except RuntimeError as error:  # a symbolic link to itself, before Python 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error
    # The process id alone is not unique: in a container, a restarted process may get the id of the killed one.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        with temporary.open("x+b") as file:
            # As long as it is locked, it is not one of a killed process.
            fcntl.flock(file, fcntl.LOCK_EX)
            if path.exists():
                os.fchmod(file.fileno(), path.stat().st_mode & 0o777)
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def remove_unfinished(path: Path) -> None:
    """Remove the files that killed processes wrote to replace ``path`` with; raises ``OSError``."""
    left = re.compile(rf"\.{re.escape(path.name)}\.[0-9]+-[0-9a-f]{{8}}")
    for file in path.parent.iterdir():
        if left.fullmatch(file.name):
            with suppress(FileNotFoundError, BlockingIOError), open_regular(file) as opened:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file.unlink()


@contextmanager
def locked(path: Path, on_wait: Callable[[], object] | None = None) -> Iterator[None]:
    """Hold the lock of the file ``path``, which is created if necessary, against other processes.

    ``on_wait`` is called before waiting for another process; without it, that raises ``BlockingIOError``. Raises
    ``OSError``.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if on_wait is None:
                raise
            on_wait()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def sync(path: Path) -> None:
    """Flush ``path``, a file or a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(root: Path) -> None:
    """Flush the folder ``root`` with everything in it to the disk."""
    for folder, _, files in os.walk(root, topdown=False):
        for name in (*files, ""):
            sync(Path(folder, name))


def open_private(path: Path) -> BufferedWriter:
    """Open a file for appending that only the user may read; it is created, with its folder, if necessary.

    Raises ``OSError``, also for a symbolic link.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600), "ab")
    # An earlier file, or one from a backup, may have other permissions.
    os.fchmod(file.fileno(), 0o600)
    return file


def cannot_write(what: str, path: Path, error: OSError, hint: str | None = None) -> WikigrError:
    """Return the error for the file ``path`` of the user's that cannot be written; ``what`` says what it would contain.

    A folder that does not exist is a mistake in the command.
    """
    message = f"Cannot write {what} {path}: {error.strerror or error}."
    if isinstance(error, FileNotFoundError):
        return UsageError(message, hint=f"Create its folder first: mkdir -p {shlex.quote(str(path.parent))}")
    return WikigrError(message, hint=hint)


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading; raises ``OSError`` for another kind, which might wait for a writer.

    For files that a stranger may have put in place.
    """
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
        # Nothing is read, and no memory taken, for a size that is over the limit.
        is_too_long = os.fstat(file.fileno()).st_size > limit
        pieces: list[bytes] = []
        while not is_too_long and (piece := file.read(1 << 20)):
            pieces.append(piece)
            is_too_long = len(pieces) > (limit >> 20) and sum(map(len, pieces)) > limit
    if is_too_long:
        raise ValueError(f"{path} has more than {limit:,} bytes, the limit")
    return b"".join(pieces)


def explain_json_error(error: Exception) -> str:
    """Return why ``json.loads``, or a hook of it, raised ``error``, in words for the user."""
    if isinstance(error, JSONDecodeError):
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        return f"{error.msg} at {line}column {error.colno}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    # What Python says of a number whose conversion would take long.
    return "a number in it has too many digits" if "integer string conversion" in str(error) else str(error)


def describe_read_error(error: Exception) -> str:
    """Return the reason of an error of the system, of decoding or of YAML, without the file's name and a period.

    A mistake in YAML has its line and column.
    """
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, UnicodeDecodeError):
        line = error.object.count(b"\n", 0, error.start) + 1
        return f"invalid UTF-8 in line {line} (0x{error.object[error.start]:02x})"
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None or problem is None:
        return " ".join(explain_json_error(error).replace('in "<unicode string>", ', "at ").split())
    problem = next((words for pattern, words in _YAML_MISTAKES if re.match(pattern, problem)), problem)
    reason = f"{problem} in {_place(mark)}"
    start = getattr(error, "context_mark", None)
    return f"{reason} (it begins in {_place(start)})" if start is not None else reason


def _place(mark: object) -> str:
    line, column = (getattr(mark, name, 0) + 1 for name in ("line", "column"))
    return f"line {line}, column {column}"
