"""A model client over HTTP on top of an SDK, which retries, with a deadline and size limits for any server."""

from __future__ import annotations

import email.utils
import logging
import math
import os
import ssl
import time
import urllib.request
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from wikigr.errors import UsageError
from wikigr.llm.failures import BadRequestError, LlmError, Server, refused_in, without
from wikigr.llm.model_client import CallOptions, ModelClient, Request, decoded
from wikigr.llm.reply import END_OF_STREAM, MalformedReply, events_of_message

if TYPE_CHECKING:
    from typing import Unpack

    import httpx2

    from wikigr.transport import Transport

# Seconds before the first retry and the longest wait without a Retry-After, as in the SDKs.
_FIRST_WAIT = 0.5
_MAX_WAIT = 8.0

_T = TypeVar("_T")

_log = logging.getLogger(__name__)

# What servers refused, by their address and the model.
_refused: dict[tuple[str, str], set[str]] = {}


class HttpClient(ModelClient):
    """A client of a server, on top of an SDK that was generated like that of Anthropic.

    ``timeout`` is the limit in seconds for one attempt, or for the next event of a stream (pings and comments do not
    count). A transient failure is followed by up to ``retries`` more attempts. No call takes longer than
    ``timeout * (retries + 1)`` to get its complete reply, as a stream or not, whatever the server sends. Redirects are
    not followed.

    A server may echo what it was sent, so credentials are removed from every reply (``secrets``).
    """

    # The package of the SDK, and the data that end a stream of events, for which ``END_OF_STREAM`` stands.
    _package: ClassVar[str]
    _end_of_stream: ClassVar[str | None] = None
    # The parts of a body that are arguments of ``create``.
    _arguments: ClassVar[tuple[str, ...]]

    def __init__(self, *, model: str, server: Server, base_url: str, **options: Unpack[CallOptions]) -> None:
        super().__init__(model=model, server=server, **options)
        self._base_url = base_url

    @cached_property
    def sdk(self) -> Any:
        """A client of the SDK for calls of other kinds, without this client's budget, cache and limits."""
        import httpx2

        return self._open_sdk(httpx2.Client(follow_redirects=False, timeout=self.timeout), retries=self.retries)

    @abstractmethod
    def _open_sdk(self, http: httpx2.Client, *, retries: int) -> Any:
        """Return a new client of the SDK."""

    @abstractmethod
    def _calls(self, sdk: Any) -> Any:
        """Return the resource of the SDK whose ``create`` sends a request."""

    @abstractmethod
    def _body(self, request: Request, *, stream: bool) -> dict[str, Any]:
        """Return the body of a request, apart from ``stream``; raises ``BadRequestError`` if it cannot be expressed."""

    def _prepare(self, request: httpx2.Request) -> None:
        """Change the headers of a request before it is sent."""

    def _of_message(self, message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Yield the events of the Messages API for a complete reply of the server."""
        return events_of_message(message)

    def _of_stream(self, events: Iterator[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Yield the events of the Messages API for those of the server."""
        return events

    @staticmethod
    def _is_ping(event: Mapping[str, Any]) -> bool:
        """Return whether an event says nothing, and therefore does not postpone the deadline."""
        return event.get("type") == "ping"

    @property
    def _origin(self) -> str:
        return self._base_url

    def close(self) -> None:
        if "sdk" in self.__dict__:
            self.sdk.close()

    @contextmanager
    def _events(self, request: Request, *, stream: bool) -> Iterator[tuple[Iterator[Mapping[str, Any]], str | None]]:
        with self._connected(request.max_reply_bytes) as (sdk, transport), ExitStack() as opened:
            calls = self._calls(sdk)

            def send(body: Mapping[str, Any]) -> Any:
                if stream:
                    sent = calls.with_streaming_response.create(**body, stream=True, timeout=self.timeout)
                    return opened.enter_context(sent)
                return calls.with_raw_response.create(**body, stream=False, timeout=self.timeout)

            response = self._accepted(request, send, stream=stream)
            if stream:
                events = self._of_stream(self._received(response.http_response, transport, request))
            else:
                events = self._of_message(decoded(_content_of(response, transport)))
            yield events, response.request_id

    def _accepted(self, request: Request, send: Callable[[Mapping[str, Any]], Any], *, stream: bool) -> Any:
        """Return the response to the body without what the server refused before, or refuses now: it is remembered."""
        refused = _refused.setdefault((self._base_url, request.model), set())
        while True:
            body = without(self._body(request, stream=stream), refused)
            arguments = {name: body.pop(name) for name in self._arguments}
            try:
                return self._attempted(partial(send, {**arguments, "extra_body": body}), request.model)
            except BadRequestError as error:
                name = refused_in(error.message, {"messages": arguments["messages"], **body})
                if name is None:
                    raise
                _log.warning("%s refuses %s for the model %s: requests do without.", self.server, name, request.model)
                refused.add(name)

    def _fetch(self, send: Callable[[Any], Any], max_body: int, model: str) -> bytes:
        """Return the body of the response to what ``send`` sends with the SDK."""
        with self._connected(max_body) as (sdk, transport):
            return _content_of(self._attempted(lambda: send(sdk), model), transport)

    @contextmanager
    def _connected(self, max_body: int) -> Iterator[tuple[Any, Transport]]:
        """Open a client of the SDK for one call, whose deadline starts with the first attempt."""
        import httpx2

        from wikigr.transport import Transport

        transport = Transport(self.timeout, max_body=max_body, ssl_context=self._ssl_context, proxy=self._proxy())
        attempts = _Attempts(transport, self.timeout, self.retries)
        hooks: dict[str, list[Callable[..., Any]]] = {
            "request": [self._prepare, attempts.begin],
            "response": [attempts.limit_wait],
        }
        with httpx2.Client(transport=transport, headers={"Accept-Encoding": "identity"}, event_hooks=hooks) as http:
            sdk = self._open_sdk(http, retries=attempts.retries)
            self._calls(sdk)  # This loads parts of the SDK, which is not to count.
            yield sdk, transport

    def _received(
        self, response: httpx2.Response, transport: Transport, request: Request
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the decoded events of an open stream. Each must arrive in time."""
        import httpx2

        kind = response.headers.get("content-type", "")
        if not kind.startswith("text/event-stream"):
            raise MalformedReply(f"expected a stream, got {kind or 'a response without a type'}")
        transport.extend(self.timeout)
        try:
            for text in httpx2.EventSource(response):
                if text.data and text.data == self._end_of_stream:
                    yield END_OF_STREAM
                    return
                if text.data:
                    event = decoded(text.data)
                    if not self._is_ping(event):
                        transport.extend(self.timeout)
                    yield event
        except httpx2.SSEError as error:
            raise MalformedReply(str(error).rstrip(".")) from None
        except httpx2.HTTPError as error:
            broken = self._failure(error, request.model)
        else:
            if not transport.refused:
                return
            raise MalformedReply(transport.refused)
        raise broken

    def _attempted(self, call: Callable[[], _T], model: str) -> _T:
        """Return the result of ``call``, which uses the SDK; raises ``LlmError``."""
        import httpx2

        try:
            return call()
        except (import_module(self._package).APIError, httpx2.HTTPError) as error:
            failure = self._failure(error, model)
        # Raised outside the handler of the SDK's error, whose traceback could show the key.
        raise failure

    def _failure(self, error: Any, model: str) -> LlmError:
        import httpx2

        if isinstance(error, import_module(self._package).APIStatusError):
            rejected = self._server.rejected(error.status_code, error.body, model=model)
            if (asked := error.response.headers.get(_TOO_LONG)) is not None:
                rejected.hint = f"The server asks to wait {asked} s."
            return rejected
        # The SDK raises the errors of ``httpx2`` as the causes of its own, except while it reads a stream.
        cause = error if isinstance(error, httpx2.HTTPError) else error.__cause__ or error
        reason = str(cause) or type(cause).__name__
        unreachable = httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol
        if isinstance(cause, unreachable):
            return self._server.unreachable(reason)
        if isinstance(cause, httpx2.TimeoutException):
            return self._server.timed_out(self.timeout)
        return self._server.disconnected(reason)

    @cached_property
    def _ssl_context(self) -> ssl.SSLContext | None:
        from wikigr.transport import load_certificates

        # Reading the certificate authorities takes 30 ms, which a local server does not need.
        return load_certificates(UsageError) if urlsplit(self._base_url).scheme == "https" else None

    def _proxy(self) -> httpx2.Proxy | None:
        """Return the proxy from the environment; requests to this machine bypass it."""
        import httpx2

        parts = urlsplit(self._base_url)
        host = parts.hostname or ""
        if host in ("localhost", "127.0.0.1", "::1") or urllib.request.proxy_bypass(parts.netloc.rpartition("@")[2]):
            return None
        proxies = urllib.request.getproxies()
        url = proxies.get(parts.scheme) or proxies.get("all")
        if not url:
            return None
        try:
            return httpx2.Proxy(url if "://" in url else f"http://{url}")
        except (ValueError, httpx2.InvalidURL):
            # Without the cause, which contains the URL and its password.
            raise UsageError(
                f"The proxy for {parts.scheme} in the environment is not a valid URL.",
                hint="Set HTTPS_PROXY, HTTP_PROXY or ALL_PROXY to a URL such as http://proxy.example:3128.",
            ) from None


def _content_of(response: Any, transport: Transport) -> bytes:
    if transport.refused:
        raise MalformedReply(transport.refused)
    return bytes(response.http_response.content)


# The header of a response that says, in seconds, which wait its server asked for in vain.
_TOO_LONG = "x-wikigr-wait"


class _Attempts:
    """The attempts of one call. They and the waits of the SDK between them fit into ``timeout * (retries + 1)``.

    Without limits, the SDK waits as long as a server's Retry-After demands (up to 49 days), and retries whatever the
    header x-should-retry asks for.
    """

    def __init__(self, transport: Transport, timeout: float, retries: int) -> None:
        self._transport = transport
        self._timeout = timeout
        self._seconds = timeout * (retries + 1)
        # At most half of the time is for waiting.
        waits = [min(_FIRST_WAIT * 2**number, _MAX_WAIT) for number in range(retries)]
        while sum(waits) > self._seconds / 2:
            waits.pop()
        self.retries = len(waits)
        self._waits = waits

    @property
    def _remaining(self) -> float:
        """The seconds for this attempt, without those for the waits that may follow."""
        return float(self._transport.deadline - time.monotonic() - sum(self._waits))

    def begin(self, request: httpx2.Request) -> None:
        """Start an attempt: the hook for requests."""
        if self._transport.deadline == math.inf:
            self._transport.deadline = time.monotonic() + self._seconds
        else:
            self._waits = self._waits[1:]
        self._transport.seconds = min(self._timeout, self._remaining)

    def limit_wait(self, response: httpx2.Response) -> None:
        """Leave only a wait that the SDK can take: the hook for responses."""
        headers = response.headers
        asked = _retry_after(headers)
        for name in ("retry-after-ms", "retry-after", "x-should-retry", _TOO_LONG):
            headers.pop(name, None)
        if asked is None or not (response.status_code in (408, 409, 429) or response.status_code >= 500):
            return
        if asked < self._remaining:
            headers["retry-after-ms"] = str(1000 * asked)
        else:
            headers |= {"x-should-retry": "false", _TOO_LONG: f"{asked:.0f}"}


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait: ``retry-after-ms``, or ``retry-after`` in seconds or as a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        return max(date.timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return None


def checked_key(given: str | None, variable: str) -> str | None:
    """Return the given key or token, else that in the environment variable, without surrounding whitespace.

    Raises ``UsageError`` if it cannot be sent in a header.
    """
    key = (given or os.environ.get(variable) or "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError(
            "The API key contains invalid characters (spaces, control characters or non-ASCII letters).",
            hint=f"Set {variable} again.",
        )
    return key or None


def checked_url(given: str, variable: str) -> str:
    """Return the given base URL, else that in the environment variable; raises ``UsageError`` if it is malformed."""
    url = (given or os.environ.get(variable) or "").strip()
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(
            "The base URL of the model's server is not a valid URL.",
            hint=f"Set {variable} to one such as http://127.0.0.1:8080.",
        )
    return url
