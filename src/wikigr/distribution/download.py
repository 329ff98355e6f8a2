"""Download a file from a server that is not trusted.

``httpx2`` speaks HTTP and TLS, and ``transport`` keeps its deadlines. This module adds the policy:

- A redirect must not reach the local network (server-side request forgery): services on this machine, the router, a
  cloud's metadata service. A host name can resolve to any address and an address can be written in many forms, so the
  host is resolved here, every address is checked, and the connection goes to a checked address, while the certificate
  is verified against the host name. The URL that the user gave is not checked.
- The number of redirects, the time to the end of the headers, the rate of the body and its size are limited.

Proxies from the environment are ignored: a proxy resolves the name itself, so its address could not be checked.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import SplitResult, urljoin, urlsplit

from wikigr import __version__
from wikigr.errors import UsageError, WikigrError, causes_of
from wikigr.files import cannot_write
from wikigr.progress import Progress, Silent

if TYPE_CHECKING:
    import httpx2

_MANUALLY = "Download the file with another tool, then give its path instead of the URL."

_FREE_SPACE = "Free some space, or set XDG_CACHE_HOME to a folder on another disk."

_MAX_REDIRECTS = 5
_MAX_ATTEMPTS = 4
# The pause before the second attempt, in seconds; it doubles each time.
_FIRST_PAUSE = 0.5
# From the lookup of the host to the end of the headers, however slowly the server sends them.
_HEADER_SECONDS = 30.0
# A body is refused when fewer than _STALL_BYTES of it arrive in _STALL_SECONDS, whatever else the server sends.
_STALL_SECONDS = 30.0
_STALL_BYTES = 8 * 1024
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_INVALID_URL_CHARACTER = re.compile(r"[\x00-\x20\x7f-\x9f\\]")

_NAT64 = ip_network("64:ff9b::/96")
_COMPATIBLE = ip_network("::/96")
# The networks of a home, a company or a provider.
_PRIVATE = tuple(map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")))
# Special-purpose ranges of the IANA registries (RFC 6890, RFC 9637) that some supported Python versions do not know.
_PROTOCOLS = ip_network("192.0.0.0/24")
_ANYCAST = (ip_address("192.0.0.9"), ip_address("192.0.0.10"))
_DOCUMENTATION = ip_network("3fff::/20")


class _Interrupted(Exception):  # noqa: N818 -- becomes a WikigrError after the last attempt
    """The connection failed or the server is busy; another attempt may succeed."""


@contextmanager
def open_download(
    url: str, folder: Path, *, max_bytes: int, allow_private: bool = False, progress: Progress | None = None
) -> Iterator[Path]:
    """Download ``url`` into a file in ``folder``, locked against other processes; yield it and remove it at the end.

    A failed attempt is repeated from the start a few times. The file is named after the hash of the URL, so what a
    killed process has left is overwritten. ``allow_private`` permits redirects to private addresses, and plain HTTP to
    this machine.

    Raises ``UsageError`` for a URL that is never fetched, and ``WikigrError`` when the server, the network or the disk
    fails.
    """
    parse_url(url)
    target = folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.download"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(target, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise cannot_write("the download to", folder, error, _FREE_SPACE) from error
    with os.fdopen(handle, "r+b") as file:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_nlink == 0:
                raise BlockingIOError  # another process finished and removed it after it was opened here
        except BlockingIOError as error:
            raise WikigrError(
                "Another process is downloading or installing the same URL.", hint="Wait until it has finished."
            ) from error
        try:
            try:
                _fetch(url, file, folder, max_bytes, allow_private, progress or Silent())
                file.flush()
                os.fsync(handle)
            except OSError as error:
                raise cannot_write("the download to", folder, error, _FREE_SPACE) from error
            yield target
        finally:
            # The caller may have moved the file, and another process may have begun a new one.
            if target.exists() and os.path.samestat(target.stat(), os.fstat(handle)):
                target.unlink()


def _fetch(url: str, file: BinaryIO, folder: Path, max_bytes: int, allow_private: bool, progress: Progress) -> None:
    """Write the content of ``url`` to ``file``, in several attempts if necessary."""
    for attempt in range(1, _MAX_ATTEMPTS + 1):
        try:
            with _open_response(url, allow_private=allow_private) as response:
                _receive(response, redact_url(url), file, folder, max_bytes, progress)
            return
        except _Interrupted as reason:
            if attempt == _MAX_ATTEMPTS:
                raise WikigrError(
                    f"The download of {redact_url(url)} failed {_MAX_ATTEMPTS} times, most recently because {reason}.",
                    hint=f"Run the same command again later. {_proxy_hint()}".rstrip(),
                ) from reason
            pause = _FIRST_PAUSE * 2 ** (attempt - 1)
            progress.note(f"The download was interrupted ({reason}). Starting again in {pause:g} s.")
            time.sleep(pause)


def _receive(
    response: httpx2.Response, url: str, file: BinaryIO, folder: Path, max_bytes: int, progress: Progress
) -> None:
    """Replace the content of ``file`` with the body of ``response``."""
    file.seek(0)
    file.truncate()
    too_large = WikigrError(f"{url} is larger than {max_bytes:,} bytes, the limit for downloads.", hint=_MANUALLY)
    # httpx2 has refused a length that is not a number.
    length = response.headers.get("Content-Length")
    total = int(length) if length else None
    if total is not None:
        if total > max_bytes:
            raise too_large
        free = shutil.disk_usage(folder).free
        if total > free:
            raise WikigrError(
                f"The download needs {total:,} more bytes, but the disk of {folder} has {free:,} left.",
                hint=_FREE_SPACE,
            )
    progress.start("downloading", None if total is None else total // 1024, "KiB")
    have = 0
    for data in _read_body(response):
        if have + len(data) > max_bytes:
            raise too_large
        file.write(data)
        progress.advance((have + len(data)) // 1024 - have // 1024)
        have += len(data)
    if have == 0:
        raise _Interrupted("the server sent nothing")
    if total is not None and have < total:
        raise _Interrupted(f"the connection ended after {have:,} of {total:,} bytes")


def _read_body(response: httpx2.Response) -> Iterator[bytes]:
    """Yield the body as it arrives, not decoded. It may end before ``Content-Length``: the caller compares.

    Raises ``_Interrupted`` when the connection fails, and ``WikigrError`` when the server sends too slowly.
    """
    import httpx2

    transport = response.extensions["transport"]
    transport.extend(_STALL_SECONDS)
    received = 0
    try:
        for data in response.iter_raw():
            yield data
            received += len(data)
            if received >= _STALL_BYTES:
                transport.extend(_STALL_SECONDS)
                received = 0
    except httpx2.TimeoutException as error:
        if not received:
            raise _Interrupted(_reason(error)) from error
        raise WikigrError(
            f"The server sent only {received:,} bytes in {_STALL_SECONDS:g} s.",
            hint="Run the same command again later.",
        ) from error
    except httpx2.HTTPError as error:
        if not isinstance(error, httpx2.RemoteProtocolError) or "Content-Length" not in response.headers:
            raise _Interrupted(_reason(error)) from error


def _proxy_hint() -> str:
    names = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    proxy = next((name for name in names if os.environ.get(name)), None)
    if proxy is None:
        return ""
    return f"{proxy} is ignored, because a proxy would resolve the names in redirects without a check. {_MANUALLY}"


# -- URLs


def is_url(text: str) -> bool:
    """Return whether ``text`` is a URL rather than a path."""
    return "://" in text


def redact_url(url: str) -> str:
    """Return ``url`` without the parts that may be secret: user, password, query and fragment."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def parse_url(url: str) -> SplitResult:
    """Split ``url`` into its parts; raises ``UsageError`` unless it is a plain HTTP or HTTPS URL."""
    if _INVALID_URL_CHARACTER.search(url) or not url.isascii():
        raise UsageError(
            "The URL contains spaces, control characters or letters that must be written as %XX.",
            hint="Percent-encode the URL.",
        )
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"Cannot parse the URL: {error}.") from error
    if parts.scheme not in ("https", "http"):
        raise UsageError(f"Files are downloaded over https, not {parts.scheme!r}.", hint=_MANUALLY)
    if not host:
        raise UsageError("The URL has no host.")
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"The URL {redact_url(url)} contains a user or a password, which would end up in files and logs.",
            hint=_MANUALLY,
        )
    return parts


# -- requests


@contextmanager
def _open_response(url: str, *, allow_private: bool) -> Iterator[httpx2.Response]:
    """Request ``url``, follow redirects, and yield the response to the last request with its body unread.

    Raises ``_Interrupted`` when another attempt may succeed, and ``WikigrError`` when it cannot.
    """
    here = url
    for hop in range(_MAX_REDIRECTS + 1):
        with _request(here, allow_private, redirected=hop > 0) as response:
            if response.status_code not in _REDIRECTS:
                _check_response(response, redact_url(url))
                yield response
                return
            location = response.headers.get("Location")
        if not location:
            raise WikigrError(
                f"{redact_url(here)} redirects without a target (status {response.status_code}).", hint=_MANUALLY
            )
        here = _redirect_target(here, location)
    raise WikigrError(f"{redact_url(url)} redirects more than {_MAX_REDIRECTS} times.", hint="Check the URL.")


def _redirect_target(here: str, location: str) -> str:
    """Return the absolute URL of a redirect; raises ``WikigrError`` for one that must not be followed."""
    try:
        target = urljoin(here, location)
        if parse_url(target).scheme == "http" and urlsplit(here).scheme == "https":
            raise UsageError("It downgrades https to http, which anyone on the network path can change.")
    except (UsageError, ValueError) as error:
        why = error.message if isinstance(error, UsageError) else f"Cannot parse the URL: {error}."
        raise WikigrError(
            f"{redact_url(here)} redirects to a URL that is not allowed: {why}", hint=_MANUALLY
        ) from error
    return target


@contextmanager
def _request(url: str, allow_private: bool, *, redirected: bool) -> Iterator[httpx2.Response]:
    """Send one request and yield the response once its headers have arrived."""
    import httpx2

    from wikigr.transport import Transport, load_certificates

    is_plain = parse_url(url).scheme == "http"
    plain_http = UsageError(
        f"{redact_url(url)} uses plain http, which anyone on the network path can change.",
        hint="Use https. --allow-private permits http to this machine only.",
    )

    def find_addresses(host: str, port: int) -> list[str]:
        addresses = resolve(host, port)
        if redirected:
            require_public(host, addresses, allow_private=allow_private)
        if is_plain and not all(ip_address(address).is_loopback for address in addresses):
            raise plain_http
        return addresses

    if is_plain and not allow_private:
        raise plain_http
    headers = {"User-Agent": f"wikigr/{__version__}", "Accept-Encoding": "identity", "Connection": "close"}
    try:
        request = httpx2.Request("GET", url, headers=headers)
    except httpx2.InvalidURL as error:
        raise UsageError(f"Cannot parse the URL: {error}.") from error
    # A bare transport: a client would add cookies, credentials of the environment and a log line with the URL.
    certificates = load_certificates(WikigrError)
    with Transport(_HEADER_SECONDS, resolve=find_addresses, ssl_context=certificates) as transport:
        try:
            response = transport.handle_request(request)
        except httpx2.HTTPError as error:
            cause = _root_cause(error)
            if isinstance(cause, ssl.SSLCertVerificationError):
                raise WikigrError(
                    f"{request.url.host} has no certificate that can be trusted: {cause.verify_message.rstrip('.')}.",
                    hint="If you run the server yourself, set SSL_CERT_FILE to the certificate of its authority.",
                ) from error
            raise _Interrupted(_reason(error)) from error
        try:
            yield response
        finally:
            response.close()


def _check_response(response: httpx2.Response, url: str) -> None:
    """Raise ``_Interrupted`` or ``WikigrError`` for a response that is not a file."""
    status, headers = response.status_code, response.headers
    encoding = headers.get("Content-Encoding", "identity").lower()
    if status in _BUSY:
        raise _Interrupted(f"the server answered with status {status}")
    if status in (401, 403, 407):
        raise WikigrError(f"{url} requires permission (status {status}).", hint=_MANUALLY)
    if status in (404, 410):
        raise WikigrError(f"{url} does not exist (status {status}).", hint="Check the URL.")
    if status != HTTPStatus.OK:
        raise WikigrError(f"{url} answered with status {status} instead of a file.", hint=_MANUALLY)
    if headers.get("Content-Type", "").partition(";")[0].strip().lower() == "text/html":
        raise WikigrError(
            f"{url} is a web page, not a file to download.", hint="Use the URL of the file itself (often 'raw')."
        )
    if encoding != "identity":
        raise WikigrError(
            f"{url} sends the file with an encoding that was not requested ({encoding[:80]!r}).", hint=_MANUALLY
        )


def _root_cause(error: BaseException) -> BaseException:
    *_, root = causes_of(error)
    return root


def _reason(error: httpx2.HTTPError) -> str:
    """Return why a connection failed, as a clause of one line."""
    import httpx2

    if isinstance(error, httpx2.TimeoutException):
        return "the server takes too long to answer"
    cause = _root_cause(error)
    text = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(error)
    return " ".join(text.split())[:200].rstrip(".") or type(error).__name__


# -- addresses


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of ``host`` in the order of the resolver; raises ``WikigrError`` if there is none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise WikigrError(
            f"Cannot resolve the host {host!r}: {getattr(error, 'strerror', None) or error}.",
            hint="Check the URL and your network. Proxies are not used.",
        ) from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def require_public(host: str, addresses: Sequence[str], *, allow_private: bool) -> None:
    """Raise ``WikigrError`` when one of the addresses of ``host`` is not public.

    ``allow_private`` also permits private and loopback addresses, but never link-local or multicast ones.
    """
    for address in addresses:
        if not is_allowed(address, allow_private=allow_private):
            private = is_allowed(address, allow_private=True)
            raise WikigrError(
                f"The host {host!r} resolves to {address}, which is not an address of the public internet.",
                hint="--allow-private permits addresses of your own network." if private else None,
            )


def is_allowed(text: str, *, allow_private: bool) -> bool:
    """Return whether a download may connect to the address ``text``."""
    address = ip_address(text)
    if isinstance(address, IPv6Address):
        embedded = _embedded_ipv4(address)
        if embedded is not None:
            return is_allowed(str(embedded), allow_private=allow_private)
    # In the ipaddress module, most multicast addresses are global, and link-local ones are private.
    if address.is_multicast or address.is_link_local or address.is_unspecified:
        return False
    if address in _DOCUMENTATION or (address in _PROTOCOLS and address not in _ANYCAST):
        return False
    if allow_private and (address.is_loopback or any(address in network for network in _PRIVATE)):
        return True
    return address.is_global and not address.is_reserved and not getattr(address, "is_site_local", False)


def _embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address embeds (mapped, 6to4, Teredo, NAT64 or compatible)."""
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
