"""The HTTP transport for servers that are not trusted: a model's server, a download host.

``httpx2`` limits the time of each read, so a server that sends a byte now and then holds its client forever: in
headers, 1xx responses, chunk extensions and trailers, which never reach the caller. It also puts no limit on the body
of an error. Here a timer shuts the connection down at a deadline, whatever is being sent or received at that moment,
and the sizes of headers and bodies are limited. Bodies are not decompressed and redirects are not followed.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, cast

import httpcore2
import httpx2

from wikigr.errors import WikigrError

# For the connection to one of a host's addresses.
_CONNECT_SECONDS = 10.0
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


class BodyTooLargeError(httpx2.TransportError):
    """The body of a response exceeds the limit of the transport."""


class Exchange:
    """One request and its response, with a deadline in ``seconds``: the extension ``exchange`` of the response.

    ``max_body`` limits the body in bytes; it may be changed until the body is read.
    """

    def __init__(self, seconds: float, max_body: int | None) -> None:
        self.max_body = max_body
        self.expired = False
        self._end = time.monotonic() + seconds
        self._connection: socket.socket | None = None
        self._closed = threading.Event()
        self._head_bytes: int | None = 0
        threading.Thread(target=self._watch, name="deadline", daemon=True).start()

    @property
    def remaining(self) -> float:
        """Seconds until the deadline."""
        return max(self._end - time.monotonic(), 0.0)

    def extend(self, seconds: float) -> None:
        """Postpone the deadline to ``seconds`` from now, never to an earlier time."""
        self._end = max(self._end, time.monotonic() + seconds)

    def close(self) -> None:
        """Stop the timer."""
        self._closed.set()

    def use(self, connection: socket.socket) -> None:
        """Shut ``connection`` down at the deadline; raises ``httpcore2.ReadTimeout`` if it has passed."""
        self._connection = connection
        self.require_time()

    def require_time(self) -> None:
        if self.expired:
            raise httpcore2.ReadTimeout("the deadline has passed")

    def count(self, received: int) -> None:
        """Count bytes received before the body; raises ``httpcore2.RemoteProtocolError`` for too many."""
        if self._head_bytes is not None:
            self._head_bytes += received
            if self._head_bytes > _MAX_HEAD_BYTES:
                raise httpcore2.RemoteProtocolError("the headers are too long")

    def begin_body(self) -> None:
        self._head_bytes = None

    def _watch(self) -> None:
        while not self._closed.wait(self.remaining):
            if not self.remaining:
                self.expired = True
                # ``use`` stores the connection before it reads ``expired``, so one of the two threads sees the other.
                if self._connection is not None:
                    with suppress(OSError):
                        self._connection.shutdown(socket.SHUT_RDWR)
                return


class Transport(httpx2.BaseTransport):
    """Sends each request under an ``Exchange``, whose deadline is the read timeout of the request.

    Reading a body of more than ``max_body`` bytes (if given) raises ``BodyTooLargeError``, and reading a compressed one
    raises ``httpx2.DecodingError``, so requests should accept only the encoding ``identity``. The body of an error is
    cut off, or empty if it is compressed. Connections go to the addresses that ``resolve`` returns for a host and a
    port, in that order, and serve one request; ``proxy`` replaces the host. Thread-safe.

    Raises the errors of ``resolve`` and of ``httpx2``, which include ``TimeoutException`` at the deadline.
    """

    def __init__(
        self,
        *,
        max_body: int | None = None,
        resolve: Resolver | None = None,
        ssl_context: ssl.SSLContext | None = None,
        proxy: httpx2.Proxy | None = None,
    ) -> None:
        self._max_body = max_body
        self._pool = httpcore2.ConnectionPool(
            ssl_context=ssl_context,
            proxy=None if proxy is None else _core_proxy(proxy),
            max_connections=None,
            # What a server sends after its response would be read as the response to the next request.
            max_keepalive_connections=0,
            network_backend=_Backend(resolve or _resolve),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = Exchange(request.extensions["timeout"]["read"], self._max_body)
        url = request.url
        try:
            with _httpx_errors():
                core = self._pool.handle_request(
                    httpcore2.Request(
                        request.method,
                        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                        headers=request.headers.raw,
                        content=cast(Iterable[bytes], request.stream),
                        # The library passes these on to every call of the connection, so that it knows its exchange.
                        extensions={"timeout": dict.fromkeys(("connect", "read", "write"), exchange)},
                    )
                )
        except BaseException:
            exchange.close()
            raise
        exchange.begin_body()
        headers = httpx2.Headers(core.headers)
        body = _Body(core, exchange, headers.get("Content-Encoding", "identity"))
        return httpx2.Response(
            core.status, headers=headers, stream=body, extensions={**core.extensions, "exchange": exchange}
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    """The body of a response, limited in size. The body of an error (from status 400 on) is only a message."""

    def __init__(self, response: httpcore2.Response, exchange: Exchange, encoding: str) -> None:
        self._response = response
        self._exchange = exchange
        self._encoding = encoding.lower()

    def __iter__(self) -> Iterator[bytes]:
        is_error = self._response.status >= 400
        if self._encoding != "identity":
            if is_error:
                return
            raise httpx2.DecodingError(f"it is compressed ({self._encoding[:80]!r}), which was not requested")
        limit = _MAX_ERROR_BYTES if is_error else self._exchange.max_body
        received = 0
        with _httpx_errors():
            for piece in cast(Iterable[bytes], self._response.stream):
                received += len(piece)
                if limit is not None and received > limit:
                    if is_error:
                        yield piece[: limit - received]
                        return
                    raise BodyTooLargeError("it is too long")
                yield piece

    def close(self) -> None:
        self._exchange.close()
        self._response.close()


class _Backend(httpcore2.NetworkBackend):
    """Opens connections to the addresses of a resolver. Each ``timeout`` is the exchange."""

    def __init__(self, resolve: Resolver) -> None:
        self._resolve = resolve
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: Any = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        exchange: Exchange = timeout
        failure: Exception = httpcore2.ConnectError("the host has no address")
        for address in self._look_up(host, port, exchange):
            seconds = min(_CONNECT_SECONDS, exchange.remaining)
            if not seconds:
                raise httpcore2.ReadTimeout("the deadline has passed")
            try:
                stream = self._sockets.connect_tcp(address, port, seconds, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
                continue
            return _Stream(stream, stream.get_extra_info("socket").dup())
        raise failure

    def _look_up(self, host: str, port: int, exchange: Exchange) -> list[str]:
        if self._resolve is _resolve and _is_address(host):
            # The resolver's thread may start late on a busy machine, and an address cannot be unresolved.
            return [host]
        try:
            return _call_in_thread(lambda: self._resolve(host, port), exchange.remaining)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"the name {host} was not resolved in time") from error
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(str(error)) from error


class _Stream(httpcore2.NetworkStream):
    """A connection. Each ``timeout`` is the exchange that uses it.

    ``handle`` duplicates the socket, because a timer cannot use the socket itself: TLS takes it over in the middle of
    the handshake, and the shutdown of a TLS socket makes a concurrent read return encrypted bytes.
    """

    def __init__(self, stream: httpcore2.NetworkStream, handle: socket.socket) -> None:
        self._stream = stream
        self._handle = handle

    def read(self, max_bytes: int, timeout: Any = None) -> bytes:
        with self._used_by(timeout):
            data = self._stream.read(max_bytes)
        timeout.count(len(data))
        return data

    def write(self, buffer: bytes, timeout: Any = None) -> None:
        with self._used_by(timeout):
            self._stream.write(buffer)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: Any = None
    ) -> httpcore2.NetworkStream:
        try:
            with self._used_by(timeout):
                return _Stream(self._stream.start_tls(ssl_context, server_hostname), self._handle)
        except BaseException:
            # The library does not close a connection whose handshake failed.
            self.close()
            raise

    def close(self) -> None:
        self._stream.close()
        self._handle.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    @contextmanager
    def _used_by(self, exchange: Exchange) -> Iterator[None]:
        exchange.use(self._handle)
        try:
            yield
        except httpcore2.NetworkError:
            exchange.require_time()
            raise
        # After the shutdown, a read returns what looks like the end of the body.
        exchange.require_time()


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


def _core_proxy(proxy: httpx2.Proxy) -> httpcore2.Proxy:
    url = proxy.url
    return httpcore2.Proxy(
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        auth=proxy.raw_auth,
        headers=proxy.headers.raw,
        ssl_context=proxy.ssl_context,
    )


@contextmanager
def _httpx_errors() -> Iterator[None]:
    """Raise the errors of the lower library as those of the same name in ``httpx2``."""
    try:
        yield
    except (
        httpcore2.TimeoutException,
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        httpcore2.ProxyError,
        httpcore2.UnsupportedProtocol,
    ) as error:
        raise getattr(httpx2, type(error).__name__)(str(error)) from error
