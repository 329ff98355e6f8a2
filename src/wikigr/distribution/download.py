"""Download a pack archive into a file, resumable and limited in size.

An interrupted download resumes, in the same process or a later one, if the file on the server has not changed.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from wikigr.atomic import write_atomic
from wikigr.distribution.http_request import (
    DOWNLOAD_MANUALLY,
    DownloadError,
    Interrupted,
    open_response,
    parse_url,
    read_body,
    redact_url,
)
from wikigr.progress import Progress, Silent

if TYPE_CHECKING:
    import httpx2

_MAX_ATTEMPTS = 4
# The pause before the second attempt, in seconds; it doubles each time.
_FIRST_PAUSE = 0.5
_KIB = 1024
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)")
_UNSATISFIED_RANGE = re.compile(r"bytes \*/(\d{1,18})")


@dataclass(frozen=True, slots=True)
class _Version:
    """The version of the file that a partial download belongs to, from the response headers; ``total`` is in bytes."""

    etag: str | None
    last_modified: str | None
    total: int | None

    @property
    def validator(self) -> str | None:
        """The value for ``If-Range``. A weak ETag does not qualify: it does not identify the exact bytes."""
        return self.etag if self.etag is not None and not self.etag.startswith("W/") else self.last_modified


@contextmanager
def open_download(
    url: str,
    folder: Path,
    *,
    max_bytes: int,
    allow_private: bool = False,
    progress: Progress | None = None,
) -> Iterator[Path]:
    """Download ``url`` into ``folder`` and yield the file, locked against other processes.

    The file is named after the hash of the URL. The caller removes it with ``discard``. A partial file from an earlier
    call is resumed if the file on the server is still the same. ``allow_private`` permits redirects to private
    addresses, and plain HTTP to this machine.

    Raises ``UsageError`` for a URL that is never fetched, and ``DownloadError`` or ``AddressError`` when the server,
    the network or the disk fails.
    """
    parse_url(url)
    progress = progress or Silent()
    target = folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.download"
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(_open_locked(target))
            _fetch(url, _PartialFile(target, file), max_bytes, allow_private, progress)
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                size = target.stat().st_size if target.exists() else 0
                raise DownloadError(
                    f"The disk is full: the download stopped after {size:,} bytes.",
                    hint=f"Free some space on the disk of {folder}, then run the same command again to resume.",
                ) from error
            raise DownloadError(
                f"Cannot write the download to {folder}: {error.strerror or error}.",
                hint="Make that folder writable, or set XDG_CACHE_HOME to another one.",
            ) from error
        yield target


def discard(target: Path) -> None:
    """Remove a downloaded file and its resume state."""
    _state_path(target).unlink(missing_ok=True)
    target.unlink(missing_ok=True)


def _state_path(target: Path) -> Path:
    return target.with_suffix(".json")


@contextmanager
def _open_locked(target: Path) -> Iterator[BinaryIO]:
    """Open the partial download with an exclusive lock; raises ``DownloadError`` when another process holds it."""
    handle = os.open(target, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "r+b") as file:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_nlink == 0:
                raise BlockingIOError  # another process finished and removed it after it was opened here
        except BlockingIOError as error:
            raise DownloadError(
                "Another process is downloading or installing the same URL.", hint="Wait until it has finished."
            ) from error
        yield file


class _PartialFile:
    """A partial download: the bytes so far, and in a small file next to them the version that they belong to."""

    def __init__(self, target: Path, file: BinaryIO) -> None:
        self.file = file
        self.folder = target.parent
        self._state = _state_path(target)

    @property
    def size(self) -> int:
        self.file.flush()
        return os.fstat(self.file.fileno()).st_size

    @property
    def version(self) -> _Version | None:
        try:
            version = _Version(**json.loads(self._state.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return version if version.validator is not None else None

    def clear(self) -> None:
        # In this order: a kill between the two leaves no bytes under the wrong version.
        self._state.unlink(missing_ok=True)
        self.file.seek(0)
        self.file.truncate()

    def start(self, version: _Version) -> None:
        self.clear()
        write_atomic(self._state, json.dumps(asdict(version)))

    def range_headers(self) -> dict[str, str]:
        """Return the headers that request the rest of the file, or none to request all of it."""
        version = self.version
        if not self.size or version is None or version.validator is None:
            return {}
        return {"Range": f"bytes={self.size}-", "If-Range": version.validator}


def _fetch(url: str, partial: _PartialFile, max_bytes: int, allow_private: bool, progress: Progress) -> None:
    """Complete ``partial`` with the content of ``url``, in several attempts if necessary."""
    for attempt in range(1, _MAX_ATTEMPTS + 1):
        try:
            with open_response(url, partial.range_headers(), allow_private=allow_private) as response:
                _receive(response, redact_url(url), partial, max_bytes, progress)
            return
        except Interrupted as reason:
            if attempt == _MAX_ATTEMPTS:
                raise DownloadError(
                    f"The download of {redact_url(url)} failed {_MAX_ATTEMPTS} times, most recently because {reason}.",
                    hint=f"Run the same command again later to resume. {_proxy_hint()}".rstrip(),
                ) from reason
            pause = _FIRST_PAUSE * 2 ** (attempt - 1)
            progress.note(f"The download was interrupted ({reason}). Retrying in {pause:g} s.")
            time.sleep(pause)


def _receive(response: httpx2.Response, url: str, partial: _PartialFile, max_bytes: int, progress: Progress) -> None:
    """Write the body of ``response``: appended when it is the requested range, else from the start."""
    headers = response.headers
    if response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        complete = _UNSATISFIED_RANGE.fullmatch(headers.get("Content-Range", ""))
        if complete is not None and int(complete[1]) == partial.size:
            return
        partial.clear()
        raise Interrupted("the partial download belongs to another file")
    # httpx2 has refused a length that is not a number.
    length = headers.get("Content-Length")
    version = _Version(headers.get("ETag"), headers.get("Last-Modified"), int(length) if length else None)
    if response.status_code == HTTPStatus.PARTIAL_CONTENT:
        total = _check_range(headers.get("Content-Range", ""), version, url, partial)
    else:
        total = version.total
        partial.start(version)
    have = partial.size
    too_large = DownloadError(
        f"{url} is larger than {max_bytes:,} bytes, the limit for downloads.", hint=DOWNLOAD_MANUALLY
    )
    if total is not None:
        if total > max_bytes:
            raise too_large
        free = shutil.disk_usage(partial.folder).free
        if total - have > free:
            raise DownloadError(
                f"The download needs {total - have:,} more bytes, but the disk of {partial.folder} has {free:,} left.",
                hint="Free some space, or set XDG_CACHE_HOME to a folder on another disk.",
            )
    progress.start("downloading", None if total is None else total // _KIB, "KiB", done=have // _KIB)
    partial.file.seek(have)
    for data in read_body(response):
        partial.file.write(data)
        progress.advance((have + len(data)) // _KIB - have // _KIB)
        have += len(data)
        if have > max_bytes or (total is not None and have > total):
            partial.clear()
            if have > max_bytes:
                raise too_large
            raise DownloadError(f"{url} sends more bytes than it announced.", hint=DOWNLOAD_MANUALLY)
    if have == 0:
        raise Interrupted("the server sent nothing")
    if total is not None and have < total:
        raise Interrupted(f"the connection ended after {have:,} of {total:,} bytes")


def _check_range(content_range: str, version: _Version, url: str, partial: _PartialFile) -> int | None:
    """Return the total size in bytes, if known, once a partial response continues the partial download."""
    known, have = partial.version, partial.size
    found = _RANGE.fullmatch(content_range)
    if found is None or known is None or int(found[1]) != have:
        partial.clear()
        raise DownloadError(
            f"{url} sent a different part of the file than requested "
            f"({content_range[:80] or 'no Content-Range'!r} instead of from byte {have}).",
            hint="Run the same command again: it starts from the beginning.",
        )
    total = None if found[3] == "*" else int(found[3])
    same = version.etag in (None, known.etag) and version.last_modified in (None, known.last_modified)
    if not same or (known.total is not None and total not in (None, known.total)):
        # Some servers support Range but ignore If-Range.
        partial.clear()
        raise Interrupted("the file on the server has changed")
    return total if total is not None else known.total


def _proxy_hint() -> str:
    names = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    proxy = next((name for name in names if os.environ.get(name)), None)
    if proxy is None:
        return ""
    return (
        f"{proxy} is ignored, because a proxy would resolve the names in redirects without a check. {DOWNLOAD_MANUALLY}"
    )
