"""A client for Claude, or for any server that implements the Messages API, on top of the ``anthropic`` SDK.

The SDK sends the requests, but this module retries them: the SDK would wait as long as a server's Retry-After header
demands (up to 49 days) and would retry a 400 if a header asked for it.
"""

from __future__ import annotations

import email.utils
import json
import math
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from wikigr.errors import UsageError
from wikigr.llm.budget import Budget
from wikigr.llm.failures import BadRequestError, LlmError, Server
from wikigr.llm.prices import cost
from wikigr.llm.redaction import Secrets
from wikigr.llm.reply import (
    BlockEnd,
    Event,
    MalformedReply,
    Reply,
    ReplyReader,
    TextBlock,
    TextDelta,
    ToolUse,
)
from wikigr.llm.response_cache import ResponseCache, request_key
from wikigr.llm.usage import Usage

if TYPE_CHECKING:
    import anthropic
    import httpx2

    from wikigr.transport import Exchange

__all__ = [
    "BadRequestError",
    "BlockEnd",
    "Claude",
    "Event",
    "LlmError",
    "Reply",
    "TextBlock",
    "TextDelta",
    "ToolUse",
]

DEFAULT_BASE_URL = "https://api.anthropic.com"

# Seconds before the first retry and the longest wait without a Retry-After, as in the SDK.
_FIRST_WAIT = 0.5
_MAX_WAIT = 8.0
# The limit of a reply in bytes, and what each token that was asked for adds to it. A token takes about 4 bytes, the
# event that streams it another 130, and its share of the citations a few hundred. Decoded, JSON may be 50 times larger.
_MIN_REPLY_LIMIT = 1024 * 1024
_MAX_TOKEN_BYTES = 1024
# A local server may not require a key, but the SDK does.
_NO_KEY = "none"

_T = TypeVar("_T")


class Claude:
    """Calls one model, tracks its usage, and enforces a budget. Thread-safe.

    ``api_key`` and ``base_url`` default to ``ANTHROPIC_API_KEY`` (else ``ANTHROPIC_AUTH_TOKEN``) and
    ``ANTHROPIC_BASE_URL``; the SDK's credential files are not read. ``timeout`` is the limit in seconds for one
    attempt, or for the next event of a stream (pings and comments do not count). A transient failure is followed by up
    to ``retries`` more attempts. No call takes longer than ``timeout * (retries + 1)`` to get its complete reply, as a
    stream or not, whatever the server sends. Redirects are not followed.

    With a ``cache``, stored replies (never streams) are reused, without effect on the budget and ``usage``. ``repeat``
    selects one of several answers to the same request; it may be changed between calls unless threads share the client.
    ``asked`` counts the requests sent to the server, and ``hits`` those answered by the cache.

    A server may echo what it was sent, so credentials are removed from every reply (``secrets``). They include the
    values of the headers in ``ANTHROPIC_CUSTOM_HEADERS``, which the SDK sends as well.

    Raises ``UsageError`` if there is neither a key nor a base URL, or if one of them is malformed.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 60.0,
        retries: int = 2,
        budget: Budget | None = None,
        cache: ResponseCache | None = None,
        repeat: int = 0,
    ) -> None:
        self.model = model
        self.timeout = timeout
        self.retries = retries
        self.budget = budget
        self.cache = cache
        self.repeat = repeat
        self.asked = 0
        self.hits = 0
        self._key = _key(api_key or os.environ.get("ANTHROPIC_API_KEY"))
        self._token = None if self._key else _key(os.environ.get("ANTHROPIC_AUTH_TOKEN"))
        given_url = (base_url or os.environ.get("ANTHROPIC_BASE_URL") or "").strip()
        if not (self._key or self._token or given_url):
            raise UsageError(
                "There is no API key for a language model.",
                hint="Set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a local server.",
            )
        self._base_url = _url(given_url or DEFAULT_BASE_URL)
        self._server = Server(self._base_url, self._key or self._token)
        self._lock = threading.Lock()
        self._sdk: anthropic.Anthropic | None = None
        self._usage = Usage()

    @property
    def server(self) -> str:
        """The server's URL without credentials."""
        return self._server.name

    @property
    def secrets(self) -> Secrets:
        """The credentials sent to the server, which are removed from replies."""
        return self._server.secrets

    @property
    def sdk(self) -> anthropic.Anthropic:
        """The SDK's client, created on first use."""
        with self._lock:
            if self._sdk is None:
                import anthropic

                from wikigr.llm.http_client import open_http_client

                # An explicit key or token stops the SDK from searching for profiles and tokens on disk.
                self._sdk = anthropic.Anthropic(
                    api_key=self._key or (None if self._token else _NO_KEY),
                    auth_token=self._token,
                    base_url=self._base_url,
                    timeout=self.timeout,
                    max_retries=0,
                    http_client=open_http_client(self._base_url),
                )
            return self._sdk

    @property
    def usage(self) -> Usage:
        """The total usage of all calls so far."""
        return self._usage

    def close(self) -> None:
        """Close open connections."""
        with self._lock:
            if self._sdk is not None:
                self._sdk.close()

    def complete(
        self,
        *,
        system: Sequence[Mapping[str, Any]] | str,
        messages: Sequence[Mapping[str, Any]],
        max_tokens: int,
        model: str | None = None,
        extra: Mapping[str, Any] | None = None,
        usable: Callable[[Reply], bool] = lambda _: True,
    ) -> Reply:
        """Send a request and return the complete reply. ``extra`` holds further fields of the request's body.

        The cache neither returns nor stores replies that are not ``usable``, so the next call asks again.

        Raises ``BudgetError`` before a call that could exceed the budget, ``BadRequestError`` if the server rejects the
        request, and ``LlmError`` for any other failure, including a reply with neither text nor a use of an offered
        tool.
        """
        request = _Request.of(model or self.model, system, messages, max_tokens, extra)
        key = self._cache_key(request) if self.cache is not None else ""
        stored = self.cache.get(key) if self.cache is not None else None
        if stored is not None:
            reply = self._reply(request, stored, None, cached=True)
            if usable(reply):
                with self._lock:
                    self.hits += 1
                return reply
        # The reader removes credentials, so that neither the caller nor the cache gets one.
        reader = ReplyReader(secrets=self.secrets)
        with self._accounted(request, reader):
            fetched = self._with_retries(request, self._deadline(), lambda seconds: self._fetch(request, seconds))
            raw, request_id = fetched
            message = self._decoded(raw)
            if message.get("type") == "error":
                raise self._server.reported(message, model=request.model)
            reader.read(message)
        reply = self._reply(request, reader, request_id)
        if self.cache is not None and usable(reply):
            self.cache.put(key, reader)
        return reply

    def stream(
        self,
        *,
        system: Sequence[Mapping[str, Any]] | str,
        messages: Sequence[Mapping[str, Any]],
        max_tokens: int,
        on_event: Callable[[Event], None],
        model: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Send a request, pass text and finished blocks to ``on_event`` as they arrive, and return the complete reply.

        Only failures before the stream begins are retried. Raises the errors of ``complete`` and of ``on_event``; after
        an error, the events passed so far are not an answer.
        """
        request = _Request.of(model or self.model, system, messages, max_tokens, extra)
        reader = ReplyReader(on_event, self.secrets)
        with self._accounted(request, reader), ExitStack() as stack:
            deadline = self._deadline()
            response = self._with_retries(
                request, deadline, lambda seconds: stack.enter_context(self._send(request, seconds, stream=True))
            )
            for event in self._events(response, request, deadline):
                if event.get("type") == "error":
                    raise self._server.reported(event, model=request.model)
                reader.take(event)
                if reader.finished:
                    return self._reply(request, reader, response.request_id)
            raise self._server.disconnected("the stream ended without its last event")

    @contextmanager
    def _accounted(self, request: _Request, reader: ReplyReader) -> Iterator[None]:
        """Reserve the call's worst case in the budget; afterwards, in any case, settle the usage that was reported."""
        reservation = None
        if self.budget is not None:
            reservation = self.budget.reserve(request.model, request.size, request.max_tokens)
        with self._lock:
            self.asked += 1
        complete = False
        try:
            yield
            complete = True
        except MalformedReply as error:
            raise self._server.malformed_reply(str(error)) from None
        except LlmError as error:
            # A rejected request is not billed. An interrupted one may be billed in full.
            complete = error.status is not None
            raise
        finally:
            used = _used(request, reader)
            with self._lock:
                self._usage += used
            if self.budget is not None:
                self.budget.settle(used, reservation, worst_case=not complete)

    def _deadline(self) -> float:
        """Return the time (of ``time.monotonic``) by which a call that starts now must have its reply."""
        # This loads parts of the SDK before the clock starts.
        _ = self.sdk.messages.with_streaming_response
        return time.monotonic() + self.timeout * (self.retries + 1)

    def _with_retries(self, request: _Request, deadline: float, attempt: Callable[[float], _T]) -> _T:
        """Call ``attempt`` with its time limit in seconds, and retry after transient failures."""
        import anthropic
        import httpx2

        tried = 0
        while True:
            try:
                return attempt(min(self.timeout, deadline - time.monotonic()))
            except (anthropic.APIError, httpx2.HTTPError) as error:
                failure = self._failure(error, request)
                asked = _retry_after(error.response.headers) if isinstance(error, anthropic.APIStatusError) else None
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

    def _send(
        self, request: _Request, seconds: float, *, stream: bool
    ) -> AbstractContextManager[anthropic.APIResponse[Any]]:
        create: Any = self.sdk.messages.with_streaming_response.create
        sent: AbstractContextManager[anthropic.APIResponse[Any]] = create(
            model=request.model,
            max_tokens=request.max_tokens,
            messages=request.messages,
            stream=stream,
            extra_body=request.fields,
            timeout=seconds,
        )
        return sent

    def _fetch(self, request: _Request, seconds: float) -> tuple[bytes, str | None]:
        """Make one attempt to get a complete reply; return its bytes and its request id."""
        import httpx2

        from wikigr.transport import BodyTooLargeError

        with self._send(request, seconds, stream=False) as response:
            _exchange(response, request)
            try:
                return response.read(), response.request_id
            except (httpx2.DecodingError, BodyTooLargeError) as error:
                raise MalformedReply(str(error)) from None

    def _events(
        self, response: anthropic.APIResponse[Any], request: _Request, deadline: float
    ) -> Iterator[Mapping[str, Any]]:
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
                if text.data:
                    event = self._decoded(text.data)
                    if event.get("type") != "ping":
                        exchange.extend(min(self.timeout, deadline - time.monotonic()))
                    yield event
            return
        except (httpx2.SSEError, httpx2.DecodingError, BodyTooLargeError) as error:
            raise MalformedReply(str(error).rstrip(".")) from None
        except httpx2.HTTPError as error:
            broken = self._failure(error, request)
        raise broken

    def _cache_key(self, request: _Request) -> str:
        return request_key(
            base_url=self._base_url,
            model=request.model,
            max_tokens=request.max_tokens,
            messages=request.messages,
            fields=request.fields,
            repeat=self.repeat,
        )

    def _reply(self, request: _Request, reader: ReplyReader, request_id: str | None, *, cached: bool = False) -> Reply:
        """Return the finished reply; raises ``LlmError`` if it is empty."""
        reply = Reply(
            blocks=tuple(reader.blocks),
            stop_reason=reader.stop_reason,
            model=reader.model,
            usage=Usage() if cached else _used(request, reader),
            request_id=self.secrets.clean(request_id) if request_id else None,
            tool_uses=tuple(reader.tool_uses),
            cached=cached,
        )
        # A use of a tool that was not offered does not count.
        if not reply.text.strip() and not (reply.tool_uses and "tools" in request.fields):
            reason = self._server.clean(reader.stop_reason or "none")
            raise LlmError(
                f"The model {request.model} gave no text (stop reason: {reason}).",
                hint="Raise synthesis.max_tokens in the profile." if reason == "max_tokens" else None,
            )
        return reply

    def _decoded(self, raw: bytes | str) -> Mapping[str, Any]:
        try:
            decoded = json.loads(raw)
        except (ValueError, RecursionError):
            decoded = None
        if not isinstance(decoded, dict):
            raise MalformedReply("it is not a JSON object")
        return decoded

    def _failure(self, error: anthropic.APIError | httpx2.HTTPError, request: _Request) -> LlmError:
        import anthropic
        import httpx2

        if isinstance(error, anthropic.APIStatusError):
            return self._server.rejected(error.status_code, error.body, model=request.model)
        # The SDK raises the errors of ``httpx2`` as the causes of its own, except while it reads a body.
        cause = error if isinstance(error, httpx2.HTTPError) else error.__cause__ or error
        unreachable = httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol
        if isinstance(cause, unreachable):
            return self._server.unreachable(_reason(cause))
        if isinstance(cause, httpx2.TimeoutException):
            return self._server.timed_out(self.timeout)
        return self._server.disconnected(_reason(cause))


@dataclass(frozen=True, slots=True)
class _Request:
    """A request; ``fields`` holds the other fields of its body, and ``size`` is its length as JSON in bytes."""

    model: str
    max_tokens: int
    messages: Sequence[Mapping[str, Any]]
    fields: Mapping[str, Any]
    size: int

    @classmethod
    def of(
        cls,
        model: str,
        system: Sequence[Mapping[str, Any]] | str,
        messages: Sequence[Mapping[str, Any]],
        max_tokens: int,
        extra: Mapping[str, Any] | None,
    ) -> _Request:
        fields = dict(extra or {})
        named = {"model", "max_tokens", "messages", "system", "stream"} & fields.keys()
        if named:
            raise ValueError(f"extra cannot set {sorted(named)}")
        if system:
            fields["system"] = system
        body = {"model": model, "max_tokens": max_tokens, "messages": messages, **fields}
        try:
            size = len(json.dumps(body, ensure_ascii=False).encode())
        except UnicodeEncodeError as error:
            raise UsageError("The text for the model contains invalid Unicode (unpaired surrogates).") from error
        return cls(model, max_tokens, messages, fields, size)


def _exchange(response: anthropic.APIResponse[Any], request: _Request) -> Exchange:
    """Return the exchange of a response, and limit its body to what ``request`` asked for."""
    exchange: Exchange = response.http_response.extensions["exchange"]
    exchange.max_body = _MIN_REPLY_LIMIT + _MAX_TOKEN_BYTES * request.max_tokens
    return exchange


def _used(request: _Request, reader: ReplyReader) -> Usage:
    """Return the usage that the reply reported, at the price of the requested model; empty if it reported none."""
    counts = reader.tokens
    if not counts:
        return Usage()
    tokens = {
        "input_tokens": counts.get("input_tokens", 0),
        "output_tokens": counts.get("output_tokens", 0),
        "cache_read_tokens": counts.get("cache_read_input_tokens", 0),
        "cache_write_tokens": counts.get("cache_creation_input_tokens", 0),
    }
    return Usage(**tokens, calls=1, cost_usd=cost(request.model, **tokens))


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


def _key(given: str | None) -> str | None:
    """Return a key or token without surrounding whitespace; raises ``UsageError`` if it cannot be sent in a header."""
    key = (given or "").strip()
    if not key:
        return None
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError(
            "The API key contains invalid characters (spaces, control characters or non-ASCII letters).",
            hint="Set ANTHROPIC_API_KEY again.",
        )
    return key


def _url(given: str) -> str:
    try:
        parts = urlsplit(given)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(
            "The base URL of the model's server is not a valid URL.", hint="Give one such as http://127.0.0.1:8080."
        )
    return given
