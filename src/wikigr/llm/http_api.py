"""A model client over HTTP on top of an SDK, with retries, deadlines and size limits that hold against any server.

The SDK sends the requests, but this module retries them: the SDK would wait as long as a server's Retry-After header
demands (up to 49 days) and would retry a 400 if a header asked for it.
"""

from __future__ import annotations

import email.utils
import math
import random
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from wikigr.errors import UsageError
from wikigr.llm.budget import Budget
from wikigr.llm.chat_format import END_OF_STREAM
from wikigr.llm.failures import LlmError, Server
from wikigr.llm.model_client import ModelClient, Request, decoded
from wikigr.llm.reply import MalformedReply
from wikigr.llm.response_cache import ResponseCache

if TYPE_CHECKING:
    from wikigr.transport import Exchange

# Seconds before the first retry and the longest wait without a Retry-After, as in the SDKs.
_FIRST_WAIT = 0.5
_MAX_WAIT = 8.0

_T = TypeVar("_T")


class HttpClient(ModelClient):
    """A client of a server, on top of an SDK that was generated like that of Anthropic.

    ``timeout`` is the limit in seconds for one attempt, or for the next event of a stream (pings and comments do not
    count). A transient failure is followed by up to ``retries`` more attempts. No call takes longer than
    ``timeout * (retries + 1)`` to get its complete reply, as a stream or not, whatever the server sends. Redirects are
    not followed.

    A server may echo what it was sent, so credentials are removed from every reply (``secrets``).
    """

    # The data that ends a stream of events, for which ``END_OF_STREAM`` stands.
    _end_of_stream: ClassVar[str | None] = None

    def __init__(
        self,
        *,
        model: str,
        server: Server,
        base_url: str,
        timeout: float,
        retries: int,
        budget: Budget | None,
        cache: ResponseCache | None,
        repeat: int,
    ) -> None:
        super().__init__(model=model, server=server, timeout=timeout, budget=budget, cache=cache, repeat=repeat)
        self.retries = retries
        self._base_url = base_url
        self._sdk: Any = None

    @property
    def sdk(self) -> Any:
        """The SDK's client, created on first use."""
        with self._lock:
            if self._sdk is None:
                self._sdk = self._open_sdk()
            return self._sdk

    @abstractmethod
    def _open_sdk(self) -> Any:
        """Return a new client of the SDK without retries."""

    @abstractmethod
    def _library(self) -> Any:
        """Return the module of the SDK, which has its errors."""

    @abstractmethod
    def _calls(self) -> Any:
        """Return the part of the SDK whose ``create`` sends a request and returns the open response."""

    @abstractmethod
    def _body(self, request: Request, *, stream: bool) -> Mapping[str, Any]:
        """Return the body of a request, apart from ``stream``; raises ``BadRequestError`` if it cannot be expressed."""

    def _to_message(self, reply: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a complete reply of the server as a message of the Messages API."""
        return reply

    def _to_events(self, received: Iterator[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Yield the events of the Messages API for those of the server."""
        return received

    @staticmethod
    def _is_ping(event: Mapping[str, Any]) -> bool:
        """Return whether an event says nothing, and therefore does not postpone the deadline."""
        return event.get("type") == "ping"

    @property
    def _origin(self) -> str:
        return self._base_url

    def close(self) -> None:
        """Close open connections."""
        with self._lock:
            if self._sdk is not None:
                self._sdk.close()

    def _fetch_message(self, request: Request) -> tuple[Mapping[str, Any], str | None]:
        body = self._body(request, stream=False)
        raw, request_id = self._with_retries(
            request.model, self._deadline(), lambda seconds: self._fetch(request, body, seconds)
        )
        message = decoded(raw)
        return self._to_message(message), request_id

    @contextmanager
    def _open_stream(self, request: Request) -> Iterator[tuple[Iterator[Mapping[str, Any]], str | None]]:
        body = self._body(request, stream=True)
        with ExitStack() as stack:
            deadline = self._deadline()
            response = self._with_retries(
                request.model, deadline, lambda seconds: stack.enter_context(self._send(body, seconds, stream=True))
            )
            yield self._to_events(self._events(response, request, deadline)), response.request_id

    def _deadline(self) -> float:
        """Return the time (of ``time.monotonic``) by which a call that starts now must have its reply."""
        # This loads parts of the SDK before the clock starts.
        self._calls()
        return time.monotonic() + self.timeout * (self.retries + 1)

    def _with_retries(self, model: str, deadline: float, attempt: Callable[[float], _T]) -> _T:
        """Call ``attempt`` with its time limit in seconds, and retry after transient failures."""
        import httpx2

        library = self._library()
        tried = 0
        while True:
            try:
                return attempt(min(self.timeout, deadline - time.monotonic()))
            except (library.APIError, httpx2.HTTPError) as error:
                failure = self._failure(error, model)
                asked = _retry_after(error.response.headers) if isinstance(error, library.APIStatusError) else None
            tried += 1
            # Raised outside the handler of the SDK's error, whose traceback could show the key.
            if tried > self.retries or not _is_transient(failure):
                raise failure
            wait = asked if asked is not None else _backoff(tried)
            if time.monotonic() + wait >= deadline:
                if asked is not None:
                    failure.hint = f"The server asks to wait {asked:.0f} s."
                raise failure
            time.sleep(wait)

    def _send(self, body: Mapping[str, Any], seconds: float, *, stream: bool) -> AbstractContextManager[Any]:
        sent: AbstractContextManager[Any] = self._calls().create(**body, stream=stream, timeout=seconds)
        return sent

    def _fetch(self, request: Request, body: Mapping[str, Any], seconds: float) -> tuple[bytes, str | None]:
        """Make one attempt to get a complete reply; return its bytes and its request id."""
        import httpx2

        from wikigr.transport import BodyTooLargeError

        with self._send(body, seconds, stream=False) as response:
            _exchange(response, request)
            try:
                return response.read(), response.request_id
            except (httpx2.DecodingError, BodyTooLargeError) as error:
                raise MalformedReply(str(error)) from None

    def _events(self, response: Any, request: Request, deadline: float) -> Iterator[Mapping[str, Any]]:
        """Yield the decoded events of an open stream. Each must arrive in time, and all of them before ``deadline``."""
        import httpx2

        from wikigr.transport import BodyTooLargeError

        exchange = _exchange(response, request)
        kind = response.headers.get("content-type", "")
        if not kind.startswith("text/event-stream"):
            raise MalformedReply(f"expected a stream, got {kind or 'a response without a type'}")
        exchange.extend(min(self.timeout, deadline - time.monotonic()))
        try:
            for text in httpx2.EventSource(response.http_response):
                if text.data and text.data == self._end_of_stream:
                    yield END_OF_STREAM
                    return
                if text.data:
                    event = decoded(text.data)
                    if not self._is_ping(event):
                        exchange.extend(min(self.timeout, deadline - time.monotonic()))
                    yield event
            return
        except (httpx2.SSEError, httpx2.DecodingError, BodyTooLargeError) as error:
            raise MalformedReply(str(error).rstrip(".")) from None
        except httpx2.HTTPError as error:
            broken = self._failure(error, request.model)
        raise broken

    def _failure(self, error: Any, model: str) -> LlmError:
        import httpx2

        if isinstance(error, self._library().APIStatusError):
            return self._server.rejected(error.status_code, error.body, model=model)
        # The SDK raises the errors of ``httpx2`` as the causes of its own, except while it reads a body.
        cause = error if isinstance(error, httpx2.HTTPError) else error.__cause__ or error
        unreachable = httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol
        if isinstance(cause, unreachable):
            return self._server.unreachable(_reason(cause))
        if isinstance(cause, httpx2.TimeoutException):
            return self._server.timed_out(self.timeout)
        return self._server.disconnected(_reason(cause))


def _exchange(response: Any, request: Request) -> Exchange:
    """Return the exchange of a response, and limit its body to what ``request`` asked for."""
    exchange: Exchange = response.http_response.extensions["exchange"]
    exchange.max_body = request.max_reply_bytes
    return exchange


def _is_transient(failure: LlmError) -> bool:
    """Return whether a retry may help: the connection failed (no status), or the status is a transient one."""
    return failure.status is None or failure.status in (408, 409, 429) or failure.status >= 500


def _backoff(tried: int) -> float:
    """Return the seconds to wait after ``tried`` attempts, with jitter so that clients do not retry in lockstep."""
    return min(_FIRST_WAIT * 2.0 ** (tried - 1), _MAX_WAIT) * random.uniform(0.75, 1.0)


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


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__


def checked_key(given: str | None, variable: str) -> str | None:
    """Return a key or token without surrounding whitespace; raises ``UsageError`` if it cannot be sent in a header."""
    key = (given or "").strip()
    if not key:
        return None
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError(
            "The API key contains invalid characters (spaces, control characters or non-ASCII letters).",
            hint=f"Set {variable} again.",
        )
    return key


def checked_url(given: str, variable: str) -> str:
    """Return the base URL; raises ``UsageError``, which names its ``variable``, if it is malformed."""
    try:
        parts = urlsplit(given)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(
            "The base URL of the model's server is not a valid URL.",
            hint=f"Set {variable} to one such as http://127.0.0.1:8080.",
        )
    return given
