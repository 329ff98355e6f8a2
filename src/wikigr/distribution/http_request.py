"""One HTTP GET request to a server that is not trusted.

``httpx2`` speaks HTTP and TLS, and ``transport`` keeps its deadlines. This module adds the policy: the host that a
redirect names is resolved and checked (``addresses``), and the connection goes to the checked address, while the
certificate is verified against the host name. Redirects are therefore followed here. The number of redirects, the time
to the end of the headers, and the rate of the body are limited.

Proxies from the environment are ignored: a proxy resolves the name itself, so its address could not be checked.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urljoin, urlsplit

from wikigr import __version__
from wikigr.distribution.addresses import is_loopback, require_public, resolve
from wikigr.errors import UsageError, WikigrError, causes_of

if TYPE_CHECKING:
    import httpx2

    from wikigr.transport import Transport

DOWNLOAD_MANUALLY = "Download the file with another tool, then give its path instead of the URL."

_MAX_REDIRECTS = 5
# From the lookup of the host to the end of the headers, however slowly the server sends them.
_HEADER_SECONDS = 30.0
# A body is refused when fewer than _STALL_BYTES of it arrive in _STALL_SECONDS, whatever else the server sends.
_STALL_SECONDS = 30.0
_STALL_BYTES = 8 * 1024
_TEMPORARY = frozenset({408, 425, 429, 500, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_INVALID_URL_CHARACTER = re.compile(r"[\x00-\x20\x7f-\x9f\\]")


class DownloadError(WikigrError):
    """A download failed, or the server broke a rule."""


class Interrupted(Exception):  # noqa: N818 -- internal: becomes a DownloadError after the last attempt
    """The connection failed or the server is busy; another attempt may succeed."""


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
        raise UsageError(f"Files are downloaded over https, not {parts.scheme!r}.", hint=DOWNLOAD_MANUALLY)
    if not host:
        raise UsageError("The URL has no host.")
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"The URL {redact_url(url)} contains a user or a password, which would end up in files and logs.",
            hint=DOWNLOAD_MANUALLY,
        )
    return parts


@contextmanager
def open_response(url: str, headers: Mapping[str, str], *, allow_private: bool) -> Iterator[httpx2.Response]:
    """Request ``url``, follow redirects, and yield the response with its body unread.

    Redirects lead to public addresses only. ``allow_private`` also permits redirects to private ones, and plain HTTP to
    this machine. The status is 200, 206 or 416. Raises ``Interrupted`` when another attempt may succeed, and
    ``DownloadError``, ``AddressError`` or ``UsageError`` when it cannot.
    """
    here = url
    for hop in range(_MAX_REDIRECTS + 1):
        with _request_hop(here, headers, allow_private, redirected=hop > 0) as response:
            if response.status_code not in _REDIRECTS:
                _check_status(response, url)
                yield response
                return
            location = response.headers.get("Location")
        if not location:
            raise DownloadError(
                f"{redact_url(here)} redirects without a target (status {response.status_code}).",
                hint=DOWNLOAD_MANUALLY,
            )
        here = _redirect_target(here, location)
    raise DownloadError(f"{redact_url(url)} redirects more than {_MAX_REDIRECTS} times.", hint="Check the URL.")


def _redirect_target(here: str, location: str) -> str:
    """Return the absolute URL of a redirect; raises ``DownloadError`` for one that must not be followed."""
    try:
        target = urljoin(here, location)
        if parse_url(target).scheme == "http" and urlsplit(here).scheme == "https":
            raise UsageError("It downgrades https to http, which anyone on the network path can change.")
    except (UsageError, ValueError) as error:
        why = error.message if isinstance(error, UsageError) else f"Cannot parse the URL: {error}."
        raise DownloadError(
            f"{redact_url(here)} redirects to a URL that is not allowed: {why}", hint=DOWNLOAD_MANUALLY
        ) from error
    return target


@contextmanager
def _request_hop(
    url: str, headers: Mapping[str, str], allow_private: bool, *, redirected: bool
) -> Iterator[httpx2.Response]:
    """Send one request and yield the response once its headers have arrived."""
    import httpx2

    from wikigr.transport import Transport, load_certificates

    plain = parse_url(url).scheme == "http"

    def find_addresses(host: str, port: int) -> list[str]:
        addresses = resolve(host, port)
        if redirected:
            require_public(host, addresses, allow_private=allow_private)
        if plain and not all(map(is_loopback, addresses)):
            raise _plain_http(url)
        return addresses

    if plain and not allow_private:
        raise _plain_http(url)
    try:
        request = httpx2.Request(
            "GET",
            url,
            headers={
                "User-Agent": f"wikigr/{__version__}",
                "Accept-Encoding": "identity",
                "Connection": "close",
                **headers,
            },
        )
    except httpx2.InvalidURL as error:
        raise UsageError(f"Cannot parse the URL: {error}.") from error
    # A bare transport: a client would add cookies, credentials of the environment and a log line with the URL.
    certificates = load_certificates(DownloadError)
    with Transport(_HEADER_SECONDS, resolve=find_addresses, ssl_context=certificates) as transport:
        response = _send(transport, request)
        try:
            yield response
        finally:
            response.close()


def _plain_http(url: str) -> UsageError:
    return UsageError(
        f"{redact_url(url)} uses plain http, which anyone on the network path can change.",
        hint="Use https. --allow-private permits http to this machine only.",
    )


def _send(transport: Transport, request: httpx2.Request) -> httpx2.Response:
    """Return the response once its headers have arrived."""
    import httpx2

    try:
        return transport.handle_request(request)
    except httpx2.HTTPError as error:
        cause = _root_cause(error)
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise DownloadError(
                f"{request.url.host} has no certificate that can be trusted: {cause.verify_message.rstrip('.')}.",
                hint="If you run the server yourself, set SSL_CERT_FILE to the certificate of its authority.",
            ) from error
        raise Interrupted(_reason(error)) from error


def read_body(response: httpx2.Response) -> Iterator[bytes]:
    """Yield the body as it arrives, not decoded. It may end before ``Content-Length``: the caller compares.

    Raises ``Interrupted`` when the connection fails, and ``DownloadError`` when the server sends too slowly.
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
            raise Interrupted(_reason(error)) from error
        raise DownloadError(
            f"The server sent only {received:,} bytes in {_STALL_SECONDS:g} s.",
            hint="Run the same command again later to resume.",
        ) from error
    except httpx2.HTTPError as error:
        if not isinstance(error, httpx2.RemoteProtocolError) or "Content-Length" not in response.headers:
            raise Interrupted(_reason(error)) from error


def _check_status(response: httpx2.Response, url: str) -> None:
    """Raise ``Interrupted`` or ``DownloadError`` for a response that is not a file."""
    status, headers = response.status_code, response.headers
    if status in _TEMPORARY:
        raise Interrupted(f"the server answered with status {status}")
    if status in (401, 403, 407):
        raise DownloadError(f"{redact_url(url)} requires permission (status {status}).", hint=DOWNLOAD_MANUALLY)
    if status in (404, 410):
        raise DownloadError(f"{redact_url(url)} does not exist (status {status}).", hint="Check the URL.")
    if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        return
    if status not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
        raise DownloadError(
            f"{redact_url(url)} answered with status {status} instead of a file.", hint=DOWNLOAD_MANUALLY
        )
    if headers.get("Content-Type", "").partition(";")[0].strip().lower() == "text/html":
        raise DownloadError(
            f"{redact_url(url)} is a web page, not a file to download.",
            hint="Use the URL of the file itself (often 'raw').",
        )
    encoding = headers.get("Content-Encoding", "identity").lower()
    if encoding != "identity":
        raise DownloadError(
            f"{redact_url(url)} sends the file with an encoding that was not requested ({encoding[:80]!r}).",
            hint=DOWNLOAD_MANUALLY,
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
