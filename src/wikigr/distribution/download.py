"""Fetch a pack's archive: over HTTPS, from the public internet, and as a stranger's word.

The server chooses what comes: where a redirect leads, how much it sends and how slowly. So every hop's host is
resolved and checked (``addresses``), the connection goes to the checked address while the certificate is verified
against the name, and size, time and number of hops are bounded. Proxies of the environment are not used: a proxy
would resolve the name itself, and nothing could be checked.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import SplitResult, urljoin, urlsplit

from wikigr import __version__
from wikigr.atomic import write_atomic
from wikigr.distribution.addresses import is_loopback, resolve
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.pack.manifest import file_sha256
from wikigr.progress import Progress, Silent

_MAX_REDIRECTS = 5
_TRIES = 4
_FIRST_PAUSE = 0.5
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 30.0
# From the connection to the end of the headers, however the server spreads them.
_HEADER_SECONDS = 30.0
# A server that sends less than this in such a time keeps us waiting on purpose, or in vain.
_STALL_SECONDS = 60.0
_STALL_BYTES = 16 * 1024
_CHUNK = 256 * 1024
_UNIT = 1024
_TEMPORARY = frozenset({408, 425, 429, 500, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)")
_UNSATISFIED = re.compile(r"bytes \*/(\d{1,18})")
_NOT_IN_A_URL = re.compile(r"[\x00-\x20\x7f-\x9f\\]")
_BY_HAND = "Download it with a tool of your own, then install the file."


class DownloadError(WikigrError):
    """A download failed, or the server did what none may do."""


class _Interrupted(Exception):  # noqa: N818 -- a reason to try again, which becomes a DownloadError in the end
    """The connection failed or the server is busy: another try may do."""


@dataclass(frozen=True, slots=True)
class _Version:
    """Which version of the file a partial download is of, in the server's words; ``total`` is its size in bytes."""

    etag: str | None
    last_modified: str | None
    total: int | None

    @property
    def validator(self) -> str | None:
        """What ``If-Range`` may hold: a weak ETag promises nothing about bytes."""
        return self.etag if self.etag is not None and not self.etag.startswith("W/") else self.last_modified


@contextmanager
def downloaded(
    url: str,
    folder: Path,
    *,
    max_bytes: int,
    sha256: str | None = None,
    allow_private: bool = False,
    progress: Progress | None = None,
) -> Iterator[Path]:
    """Fetch ``url`` into ``folder`` and yield the file, named after the URL's hash; the caller removes it.

    Meanwhile no other process changes or removes it.

    A download that was cut off, in this process or an earlier one, goes on where it stopped, if the file on the server
    is the same. ``allow_private`` permits addresses of one's own network, and plain HTTP to this machine itself.
    Raises ``UsageError`` for a URL of another kind, ``PackError`` when ``sha256`` (hexadecimal) is not that of the
    file, and ``DownloadError`` for everything that servers, networks and disks do.
    """
    checked_url(url)
    progress = progress or Silent()
    target = folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.download"
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(_held(target))
            _fetch(url, file, _State(target), max_bytes, allow_private, progress)
            os.fsync(file.fileno())
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DownloadError(
                    f"The disk is full: the download stopped after {_size(target):,} bytes.",
                    hint=f"Free some space on the disk of {folder}, then run the same command again: it goes on there.",
                ) from error
            raise DownloadError(
                f"The download cannot be written to {folder}: {error.strerror or error}.",
                hint="Make that folder writable, or set XDG_CACHE_HOME to another one.",
            ) from error
        if sha256 is not None:
            found = file_sha256(target)
            if found != sha256.lower():
                discard(target)
                raise PackError(
                    f"{shown(url)} is not the file that was asked for: its sha256 is {found}, not {sha256.lower()}.",
                    hint="Nothing was installed. Ask its publisher which of the two is right.",
                )
        yield target


def discard(target: Path) -> None:
    """Remove a downloaded file and what is known of it."""
    _State(target).path.unlink(missing_ok=True)
    target.unlink(missing_ok=True)


def is_url(text: str) -> bool:
    """Tell whether ``text`` is meant as a URL and not as a path."""
    return "://" in text


def shown(url: str) -> str:
    """Return ``url`` without what may be secret in it: user, password and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def checked_url(url: str) -> SplitResult:
    """Return the parts of ``url``; raises ``UsageError`` for one that is not fetched, whatever it leads to."""
    if _NOT_IN_A_URL.search(url) or not url.isascii():
        raise UsageError(
            "The URL holds spaces, control characters or letters that must be written as %XX.", hint="Write it encoded."
        )
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"The URL cannot be read: {error}.") from error
    if parts.scheme not in ("https", "http"):
        raise UsageError(f"Packs are fetched over https, not {parts.scheme!r}.", hint=_BY_HAND)
    if not host:
        raise UsageError("The URL names no host.")
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"The URL of {shown(url)} holds a user or a password, which would be kept in files and logs.", hint=_BY_HAND
        )
    return parts


class _State:
    """What is known of a partial download, in a small file beside it."""

    def __init__(self, target: Path) -> None:
        self.path = target.with_suffix(".json")

    def read(self) -> _Version | None:
        try:
            version = _Version(**json.loads(self.path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return version if version.validator is not None else None

    def forget(self) -> None:
        self.path.unlink(missing_ok=True)

    def keep(self, version: _Version) -> None:
        write_atomic(self.path, json.dumps(asdict(version)))


@contextmanager
def _held(target: Path) -> Iterator[BinaryIO]:
    """Open the partial download for one process; whoever else fetches the same URL is told so."""
    handle = os.open(target, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "r+b") as file:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_nlink == 0:
                raise BlockingIOError  # it was finished and removed since it was opened
        except BlockingIOError as error:
            raise DownloadError(
                "Another process downloads or installs the same URL.", hint="Wait until it has finished."
            ) from error
        yield file


def _fetch(url: str, file: BinaryIO, state: _State, max_bytes: int, allow_private: bool, progress: Progress) -> None:
    """Bring ``file`` to the whole content of ``url``, in several tries if need be."""
    for attempt in range(1, _TRIES + 1):
        try:
            with _answer(url, _conditions(file, state), allow_private) as response:
                _receive(response, url, file, state, max_bytes, progress)
            return
        except _Interrupted as reason:
            if attempt == _TRIES:
                raise DownloadError(
                    f"The download of {shown(url)} failed {_TRIES} times, the last time because {reason}.",
                    hint="Run the same command again later: it goes on where it stopped. " + _proxy_hint(),
                ) from reason
            pause = _FIRST_PAUSE * 2 ** (attempt - 1)
            progress.note(f"The download was interrupted ({reason}); trying again in {pause:g} s.")
            time.sleep(pause)


def _conditions(file: BinaryIO, state: _State) -> dict[str, str]:
    """Return the headers that ask for the rest of a partial download, if there is one of a known version."""
    have, version = _length(file), state.read()
    if not have or version is None or version.validator is None:
        return {}
    return {"Range": f"bytes={have}-", "If-Range": version.validator}


@contextmanager
def _answer(url: str, conditions: dict[str, str], allow_private: bool) -> Iterator[http.client.HTTPResponse]:
    """Ask for ``url`` and follow redirects by hand; every hop is checked as the first one is."""
    here = url
    for _ in range(_MAX_REDIRECTS + 1):
        parts = checked_url(here)
        with closing(_connect(parts, allow_private)) as connection:
            response = _ask(connection, parts, conditions)
            if response.status not in _REDIRECTS:
                try:
                    yield response
                finally:
                    response.close()
                return
            target = response.getheader("Location")
        if not target:
            raise DownloadError(f"{shown(here)} redirects to nowhere (status {response.status}).", hint=_BY_HAND)
        here = _following(here, target)
    raise DownloadError(f"{shown(url)} redirects more than {_MAX_REDIRECTS} times.", hint="Check the URL.")


def _following(here: str, target: str) -> str:
    """Return where a redirect from ``here`` leads, if that is a place that may be fetched."""
    try:
        following = urljoin(here, target)
        if checked_url(following).scheme == "http" and urlsplit(here).scheme == "https":
            raise UsageError("it leads from https to http, which anybody on the way can change.")
    except (UsageError, ValueError) as error:
        why = error.message if isinstance(error, UsageError) else f"the URL cannot be read: {error}."
        raise DownloadError(f"{shown(here)} redirects to a place that is not fetched: {why}", hint=_BY_HAND) from error
    return following


class _Connection(http.client.HTTPConnection):
    """A connection to an address that was checked, for a host whose certificate is verified by its name."""

    def __init__(self, host: str, port: int, addresses: list[str], context: ssl.SSLContext | None) -> None:
        super().__init__(host, port)
        # The port that the header Host leaves out.
        self.default_port = 80 if context is None else 443
        self._addresses = addresses
        self._context = context
        self._socket: socket.socket | None = None
        self.gave_up = False
        self._patience = threading.Timer(_HEADER_SECONDS, self._give_up)
        self._patience.daemon = True

    def connect(self) -> None:
        self.sock = self._socket = self._dial()
        self._patience.start()
        self.sock.settimeout(_READ_SECONDS)
        if self._context is not None:
            # Where the host is an address, it is compared with the addresses in the certificate.
            self.sock = self._socket = self._context.wrap_socket(self.sock, server_hostname=self.host)

    def has_headers(self) -> None:
        """Say that the headers are there: from now on the body's rate counts."""
        self._patience.cancel()

    def close(self) -> None:
        self._patience.cancel()
        super().close()

    def _dial(self) -> socket.socket:
        failure: OSError | None = None
        for address in self._addresses:
            try:
                return socket.create_connection((address, self.port), _CONNECT_SECONDS)
            except OSError as error:
                failure = error
        raise failure or OSError(errno.EHOSTUNREACH, "it has no address")

    def _give_up(self) -> None:
        self.gave_up = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


def _connect(parts: SplitResult, allow_private: bool) -> _Connection:
    """Prepare a connection for a URL, having checked where it would lead; nothing is sent yet."""
    host, secure = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    # Without a need, nobody is asked for the address of a host that nothing will be fetched from.
    addresses = resolve(host, port, allow_private=allow_private) if secure or allow_private else []
    if secure:
        return _Connection(host, port, addresses, _certificates())
    if not (allow_private and all(map(is_loopback, addresses))):
        raise UsageError(
            f"{shown(parts.geturl())} is plain http, which anybody on the way can change.",
            hint="Use https. --allow-private permits http to this machine itself only.",
        )
    return _Connection(host, port, addresses, None)


def _certificates() -> ssl.SSLContext:
    import httpx2

    try:
        # The system's authorities, on macOS too; SSL_CERT_FILE and SSL_CERT_DIR come first.
        return httpx2.create_ssl_context()
    except OSError as error:
        raise DownloadError(
            f"The certificates of the trusted authorities cannot be read: {error.strerror or error}.",
            hint="Check SSL_CERT_FILE and SSL_CERT_DIR.",
        ) from error


def _ask(connection: _Connection, parts: SplitResult, conditions: dict[str, str]) -> http.client.HTTPResponse:
    headers = {
        "User-Agent": f"wikigr/{__version__}",
        "Accept-Encoding": "identity",
        "Connection": "close",
        **conditions,
    }
    try:
        connection.request("GET", (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), headers=headers)
        response = connection.getresponse()
    except ssl.SSLCertVerificationError as error:
        raise DownloadError(
            f"{parts.hostname} has no certificate that can be trusted: {error.verify_message.rstrip('.')}.",
            hint="If it is a server of your own, name its authority's certificate in SSL_CERT_FILE.",
        ) from error
    except (http.client.HTTPException, OSError) as error:
        raise _Interrupted(_words(error)) from error
    connection.has_headers()
    if connection.gave_up:
        # Headers that end where the connection does look whole.
        raise _Interrupted("the server takes too long to answer")
    return response


def _receive(
    response: http.client.HTTPResponse,
    url: str,
    file: BinaryIO,
    state: _State,
    max_bytes: int,
    progress: Progress,
) -> None:
    """Write the body of ``response`` to ``file``, after what is there when it is the rest of that."""
    _refuse_status(response, url)
    if response.status == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
        complete = _UNSATISFIED.fullmatch(response.getheader("Content-Range", ""))
        if complete is not None and int(complete[1]) == _length(file):
            return
        _start_anew(file, state)
        raise _Interrupted("what was fetched earlier is of another file")
    length = response.getheader("Content-Length", "")
    version = _Version(
        response.getheader("ETag"), response.getheader("Last-Modified"), int(length) if _is_number(length) else None
    )
    if response.status == http.client.PARTIAL_CONTENT:
        version = _continued(response, version, url, file, state)
    else:
        _start_anew(file, state)
        state.keep(version)
    have, total = _length(file), version.total
    if total is not None:
        _refuse_size(total, max_bytes, url)
        _refuse_full_disk(total - have, state.path.parent)
    progress.start("downloading", None if total is None else total // _UNIT, "KiB", done=have // _UNIT)
    file.seek(have)
    for data in _body(response):
        file.write(data)
        progress.advance((have + len(data)) // _UNIT - have // _UNIT)
        have += len(data)
        if have > max_bytes or (total is not None and have > total):
            _start_anew(file, state)
            _refuse_size(have, max_bytes, url)
            raise DownloadError(f"{shown(url)} sends more bytes than it announced.", hint=_BY_HAND)
    if have == 0:
        raise _Interrupted("the server sent nothing")
    if total is not None and have < total:
        raise _Interrupted(f"the connection ended after {have:,} of {total:,} bytes")


def _continued(
    response: http.client.HTTPResponse, version: _Version, url: str, file: BinaryIO, state: _State
) -> _Version:
    """Return the version that a partial answer is of, which must be the one that was begun."""
    known, have = state.read(), _length(file)
    found = _RANGE.fullmatch(response.getheader("Content-Range", ""))
    if found is None or known is None or int(found[1]) != have:
        _start_anew(file, state)
        raise DownloadError(
            f"{shown(url)} sent another part of the file than was asked for "
            f"({response.getheader('Content-Range', 'no Content-Range')[:80]!r} instead of from byte {have}).",
            hint="Run the same command again: it starts anew.",
        )
    total = None if found[3] == "*" else int(found[3])
    same = version.etag in (None, known.etag) and version.last_modified in (None, known.last_modified)
    if not same or (known.total is not None and total not in (None, known.total)):
        # Some servers know Range but not If-Range.
        _start_anew(file, state)
        raise _Interrupted("the file on the server has changed")
    return _Version(known.etag, known.last_modified, total if total is not None else known.total)


def _body(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Yield the body as it comes; raises ``DownloadError`` for one that only drips."""
    begun, received = time.monotonic(), 0
    while True:
        try:
            data = response.read1(_CHUNK)
        except (http.client.HTTPException, OSError) as error:
            raise _Interrupted(_words(error)) from error
        if not data:
            return
        yield data
        received += len(data)
        now = time.monotonic()
        if now - begun >= _STALL_SECONDS:
            if received < _STALL_BYTES:
                raise DownloadError(
                    f"The server sent only {received:,} bytes in {now - begun:.0f} s.",
                    hint="Run the same command again later: it goes on where it stopped.",
                )
            begun, received = now, 0


def _refuse_status(response: http.client.HTTPResponse, url: str) -> None:
    """Raise for every answer that is no file, with what a person can do about it."""
    status = response.status
    if status in _TEMPORARY:
        raise _Interrupted(f"the server answered with status {status}")
    if status in (401, 403, 407):
        raise DownloadError(f"{shown(url)} is not for everybody (status {status}).", hint=_BY_HAND)
    if status in (404, 410):
        raise DownloadError(f"There is nothing at {shown(url)} (status {status}).", hint="Check the URL.")
    if status not in (200, 206, 416):
        raise DownloadError(f"{shown(url)} answered with status {status} instead of a file.", hint=_BY_HAND)
    if status != http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
        if response.getheader("Content-Type", "").partition(";")[0].strip().lower() == "text/html":
            raise DownloadError(
                f"{shown(url)} is a web page and no pack.", hint="Use the URL of the file itself (often 'raw')."
            )
        encoding = response.getheader("Content-Encoding", "identity").lower()
        if encoding != "identity":
            raise DownloadError(
                f"{shown(url)} sends the file encoded ({encoding[:80]!r}), which was not asked for.", hint=_BY_HAND
            )


def _refuse_size(size: int, max_bytes: int, url: str) -> None:
    if size > max_bytes:
        raise DownloadError(
            f"{shown(url)} is larger than {max_bytes:,} bytes, the most that is fetched.", hint=_BY_HAND
        )


def _refuse_full_disk(needed: int, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DownloadError(
            f"The download needs {needed:,} more bytes; the disk of {folder} has {free:,}.",
            hint="Free some space, or set XDG_CACHE_HOME to a folder on another disk.",
        )


def _start_anew(file: BinaryIO, state: _State) -> None:
    # In this order: a kill in between leaves no bytes under the wrong version.
    state.forget()
    file.seek(0)
    file.truncate()


def _length(file: BinaryIO) -> int:
    file.flush()
    return os.fstat(file.fileno()).st_size


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def _words(error: Exception) -> str:
    """Return why a connection failed, in one line."""
    if isinstance(error, TimeoutError):
        return "the server does not answer"
    if isinstance(error, http.client.RemoteDisconnected):
        return "the server closed the connection"
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split())[:200] or type(error).__name__


def _proxy_hint() -> str:
    names = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    proxy = next((name for name in names if os.environ.get(name)), None)
    if proxy is None:
        return ""
    return f"The proxy of {proxy} is not used: it would look up names itself, unchecked. {_BY_HAND}"
