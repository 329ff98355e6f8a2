"""The HTTP transport for servers that are not trusted: a model's server, a download host.

The timeouts of ``httpx2`` are for each read, so a server that sends a byte now and then would hold its client forever:
in headers, 1xx responses, chunk extensions and trailers, which never reach the caller. Here each read, write and
handshake gets the time that is left until one deadline, and the sizes of headers and bodies are limited. Bodies are not
decompressed and redirects are not followed.
"""

from __future__ import annotations

import ipaddress
import math
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar, cast

import httpcore2
import httpx2

from wikigr.errors import WikigrError

# All bytes before the body: the headers and any 1xx responses. The HTTP library limits one block of headers to 100 KB.
_MAX_HEAD_BYTES = 256 * 1024
# The body of an error contains a message. The rest is not read.
_MAX_ERROR_BYTES = 64 * 1024

_T = TypeVar("_T")

Resolver = Callable[[str, int], list[str]]


def load_certificates(failure: type[WikigrError]) -> ssl.SSLContext:
    """Return a context with the trusted certificates; raises ``failure`` if they cannot be read.

    They are those of the system, on macOS as well; SSL_CERT_FILE and SSL_CERT_DIR take precedence.
    """
    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        raise failure(
            f"Cannot read the trusted certificates: {error.strerror or error}.",
            hint="Check SSL_CERT_FILE and SSL_CERT_DIR.",
        ) from error


class Transport(httpx2.HTTPTransport):
    """Sends one request at a time, which may take ``seconds`` from the lookup of the host to the end of the response.

    ``deadline`` is a time of ``time.monotonic()`` after which nothing is sent or received. Each connection serves one
    request and goes to the addresses that ``resolve`` returns for a host and a port, in that order; ``proxy`` replaces
    the host. Without an ``ssl_context``, no certificate is trusted.

    A body of more than ``max_body`` bytes, or a compressed one, ends early, and ``refused`` says why: a client that
    retries after errors would only get it again. Requests should accept only the encoding ``identity``. The body of an
    error (from status 400 on) is cut off after 64 KiB, or empty if it is compressed.

    The extension ``transport`` of a response is its transport.
    Raises the errors of ``resolve`` and of ``httpx2``, which include ``TimeoutException`` at the deadline.
    """

    def __init__(
        self,
        seconds: float,
        *,
        deadline: float = math.inf,
        max_body: int | None = None,
        resolve: Resolver | None = None,
        ssl_context: ssl.SSLContext | None = None,
        proxy: httpx2.Proxy | None = None,
    ) -> None:
        super().__init__(
            verify=ssl_context or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            # What a server sends after its response would be read as the response to the next request.
            limits=httpx2.Limits(max_keepalive_connections=0),
            proxy=proxy,
        )
        self._pool._network_backend = _Backend(self, resolve)
        self.seconds = seconds
        self.deadline = deadline
        self.refused = ""
        self._max_body = max_body
        self._end = 0.0
        self._head_bytes: int | None = 0

    @property
    def remaining(self) -> float:
        """Seconds until the end of the request; raises ``httpcore2.ReadTimeout`` if it has passed."""
        left = min(self._end, self.deadline) - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the deadline has passed")
        return left

    def extend(self, seconds: float) -> None:
        """Postpone the end of the request to ``seconds`` from now, never to an earlier time nor beyond ``deadline``."""
        self._end = max(self._end, time.monotonic() + seconds)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self._end = time.monotonic() + self.seconds
        self._head_bytes = 0
        self.refused = ""
        # Replaced by what is left until the deadline.
        request.extensions = {name: value for name, value in request.extensions.items() if name != "timeout"}
        response = super().handle_request(request)
        self._head_bytes = None
        # A server may name any codec of Python, including one that decompresses.
        response.encoding = "utf-8"
        response.stream = _Body(response, self)
        response.extensions["transport"] = self
        return response

    def count_head(self, received: int) -> None:
        """Count bytes received before the body; raises ``httpcore2.RemoteProtocolError`` for too many."""
        if self._head_bytes is not None:
            self._head_bytes += received
            if self._head_bytes > _MAX_HEAD_BYTES:
                raise httpcore2.RemoteProtocolError("the headers are too long")

    def limit_body(self, response: httpx2.Response, body: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the body of a response as far as it is accepted."""
        is_error = response.status_code >= 400
        encoding = response.headers.get("Content-Encoding", "identity")
        if encoding.lower() != "identity":
            self.refused = "" if is_error else f"it is compressed ({encoding[:80]!r}), which was not requested"
            return
        limit = _MAX_ERROR_BYTES if is_error else self._max_body
        received = 0
        for piece in body:
            received += len(piece)
            if limit is not None and received > limit:
                if is_error:
                    yield piece[: limit - received]
                else:
                    self.refused = "it is too long"
                return
            yield piece


class _Body(httpx2.SyncByteStream):
    """The body of a response, limited by its transport."""

    def __init__(self, response: httpx2.Response, transport: Transport) -> None:
        self._stream = cast(httpx2.SyncByteStream, response.stream)
        self._pieces = transport.limit_body(response, self._stream)

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        self._stream.close()


class _Backend(httpcore2.NetworkBackend):
    """Opens connections to the addresses of a resolver, by default the system's."""

    def __init__(self, transport: Transport, resolve: Resolver | None) -> None:
        self._transport = transport
        self._resolve = resolve
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(self, host: str, port: int, *_: Any, **options: Any) -> httpcore2.NetworkStream:
        failure: Exception = httpcore2.ConnectError("the host has no address")
        for address in self._look_up(host, port):
            try:
                # At most 10 seconds for one of several addresses.
                stream = self._sockets.connect_tcp(address, port, min(10.0, self._transport.remaining))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
            else:
                return _Stream(stream, self._transport)
        raise failure

    def _look_up(self, host: str, port: int) -> list[str]:
        try:
            if self._resolve is None and _is_address(host):
                return [host]
            resolve = self._resolve or _resolve
            return _call_in_thread(lambda: resolve(host, port), self._transport.remaining)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"the name {host} was not resolved in time") from error
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(str(error)) from error


class _Stream(httpcore2.NetworkStream):
    """A connection whose calls may take what is left until the deadline of its transport."""

    def __init__(self, stream: httpcore2.NetworkStream, transport: Transport) -> None:
        self._stream = stream
        self._transport = transport

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._stream.read(max_bytes, self._transport.remaining)
        self._transport.count_head(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # The library would start its timeout again for each part that the server has read.
        for start in range(0, len(buffer), 1 << 16):
            self._stream.write(buffer[start : start + (1 << 16)], self._transport.remaining)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        try:
            tls = self._stream.start_tls(ssl_context, server_hostname, self._transport.remaining)
        except httpcore2.ConnectTimeout as error:
            # The host did answer, but not in time.
            raise httpcore2.ReadTimeout(str(error)) from error
        return _Stream(tls, self._transport)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _resolve(host: str, port: int) -> list[str]:
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def _call_in_thread(call: Callable[[], _T], seconds: float) -> _T:
    """Return the result of ``call``; raises its errors, or ``TimeoutError`` after ``seconds``.

    The system's resolver cannot be interrupted. After a timeout, its thread goes on until the resolver gives up.
    """
    result: Future[_T] = Future()

    def run() -> None:
        try:
            result.set_result(call())
        except BaseException as error:  # noqa: BLE001 -- the caller raises it
            result.set_exception(error)

    threading.Thread(target=run, name="resolver", daemon=True).start()
    return result.result(seconds)
