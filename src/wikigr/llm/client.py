"""A client of Claude, or of any server that speaks the Messages API, over the ``anthropic`` SDK.

The SDK carries the requests. Retries are made here: the SDK would wait for as long as a server's Retry-After says
(up to 49 days) and would retry a 400 if a header asked it to.
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
    Partial,
    Reply,
    StreamReader,
    TextBlock,
    TextDelta,
    ToolUse,
    clean_message,
    read_message,
)
from wikigr.llm.response_cache import ResponseCache, request_key
from wikigr.llm.usage import Usage

if TYPE_CHECKING:
    import anthropic
    import httpx2

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
# A reply of 128,000 tokens has about half a megabyte.
_REPLY_LIMIT = 32 * 1024 * 1024
# A local server may ask for no key, but the SDK insists on one.
_NO_KEY = "none"
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")

_T = TypeVar("_T")


class Claude:
    """Asks one model, counts what that uses, and keeps to a budget. Threads may share it.

    ``api_key`` and ``base_url`` default to ``ANTHROPIC_API_KEY`` (else ``ANTHROPIC_AUTH_TOKEN``) and
    ``ANTHROPIC_BASE_URL``; credentials in files of the SDK are not read. ``timeout`` is in seconds: an attempt has
    that long to answer, a stream that long for its next piece. There are ``retries`` more attempts after a failure
    that may pass, and no call waits for its reply longer than ``timeout * (retries + 1)``.

    With a ``cache``, a whole reply (never a stream) that it keeps is given again: that takes nothing of the budget and
    adds nothing to ``usage``. ``repeat`` says which of several answers to the same request is wanted; it may be set
    anew between calls, by whoever is alone with the client. ``asked`` counts the requests that went to the server,
    ``hits`` those that the cache answered.

    A server may put what it was sent into a reply: its credentials are taken out before anybody has it (``secrets``).
    The SDK sends the headers in ``ANTHROPIC_CUSTOM_HEADERS`` too, and their values are among those.

    Raises ``UsageError`` when there is neither a key nor a base URL, or one of them cannot be right.
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
                "There is no API key for a model.",
                hint="Set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a local server.",
            )
        self._base_url = _url(given_url or DEFAULT_BASE_URL)
        self._server = Server(self._base_url, self._key or self._token)
        self._lock = threading.Lock()
        self._sdk: anthropic.Anthropic | None = None
        self._usage = Usage()

    @property
    def server(self) -> str:
        """The server's URL, without what may be secret in it."""
        return self._server.name

    @property
    def secrets(self) -> Secrets:
        """What the server is sent and nobody else may see; replies are without it."""
        return self._server.secrets

    @property
    def sdk(self) -> anthropic.Anthropic:
        """The one client of the SDK, made when it is first needed."""
        with self._lock:
            if self._sdk is None:
                import anthropic

                # A key or token that is given keeps the SDK from looking for profiles and tokens on disk. What is
                # meant for a server on this machine does not go through a proxy.
                self._sdk = anthropic.Anthropic(
                    api_key=self._key or (None if self._token else _NO_KEY),
                    auth_token=self._token,
                    base_url=self._base_url,
                    timeout=self.timeout,
                    max_retries=0,
                    http_client=anthropic.DefaultHttpxClient(
                        timeout=self.timeout, mounts={f"all://{host}": None for host in _LOOPBACK}
                    ),
                )
            return self._sdk

    @property
    def usage(self) -> Usage:
        """The sum over all calls so far."""
        return self._usage

    def close(self) -> None:
        """Close the connections, if any were opened."""
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
        """Ask, and wait for the whole reply. ``extra`` holds further fields of the request's body.

        The cache neither gives nor keeps a reply that is not ``usable``, so that the next call asks again.

        Raises ``BudgetError`` before a call that could pass the budget, ``BadRequestError`` for a request that the
        server rejects, and ``LlmError`` for every other failure, a reply without text (or a use of a tool that was
        offered) included.
        """
        request = _Request.of(model or self.model, system, messages, max_tokens, extra)
        key = self._cache_key(request) if self.cache is not None else ""
        kept = self.cache.get(key) if self.cache is not None else None
        if kept is not None:
            reply = self._reply(request, kept, None, cached=True)
            if usable(reply):
                with self._lock:
                    self.hits += 1
                return reply
        partial = Partial()
        with self._accounted(request, partial):
            raw, request_id = self._retried(request, lambda seconds: self._fetch(request, seconds))
            # Here, so that a credential that the server sent back reaches neither the caller nor the cache.
            message = clean_message(self._decoded(raw), self.secrets)
            if message.get("type") == "error":
                raise self._server.reported(message, model=request.model)
            read_message(message, partial)
        reply = self._reply(request, partial, request_id)
        if self.cache is not None and usable(reply):
            self.cache.put(key, message)
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
        """Ask, and hand text and finished blocks to ``on_event`` as they come; returns the whole reply at the end.

        Only what fails before the stream begins is tried again. Raises what ``complete`` raises, and what
        ``on_event`` raises; events that were given before an error are no answer.
        """
        request = _Request.of(model or self.model, system, messages, max_tokens, extra)
        reader = StreamReader(on_event, self.secrets)
        with self._accounted(request, reader.partial), ExitStack() as stack:
            response = self._retried(
                request, lambda seconds: stack.enter_context(self._send(request, seconds, stream=True))
            )
            for event in self._events(response):
                if event.get("type") == "error":
                    raise self._server.reported(event, model=request.model)
                reader.take(event)
                if reader.finished:
                    return self._reply(request, reader.partial, response.request_id)
            raise self._server.broke_off("the stream ended without its last event")

    @contextmanager
    def _accounted(self, request: _Request, partial: Partial) -> Iterator[None]:
        """Hold the call's worst case in the budget; afterwards, come what may, settle what ``partial`` reported."""
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
            raise self._server.no_reply(str(error)) from None
        except LlmError as error:
            # A refusal is not billed; what broke off without one may be, in full.
            complete = error.status is not None
            raise
        finally:
            used = _used(request, partial)
            with self._lock:
                self._usage += used
            if self.budget is not None:
                self.budget.settle(used, reservation, worst_case=not complete)

    def _retried(self, request: _Request, attempt: Callable[[float], _T]) -> _T:
        """Call ``attempt`` with the seconds that it may take, and again after failures that may pass."""
        import anthropic
        import httpx2

        # The SDK loads its parts here, before the clock starts.
        _ = self.sdk.messages.with_streaming_response
        deadline = time.monotonic() + self.timeout * (self.retries + 1)
        tried = 0
        while True:
            try:
                return attempt(min(self.timeout, deadline - time.monotonic()))
            except (anthropic.APIError, httpx2.HTTPError) as error:
                failure = self._failure(error, request)
                asked = _retry_after(error.response.headers) if isinstance(error, anthropic.APIStatusError) else None
            tried += 1
            # Raised here and not while handling the SDK's error: a traceback of that could show the key.
            if tried > self.retries or not _may_pass(failure):
                raise failure
            wait = asked if asked is not None else _backoff(tried)
            if time.monotonic() + wait >= deadline:
                if asked is not None:
                    failure.hint = f"The server asks to wait for {asked:.0f} s."
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
        """One attempt at a whole reply: its bytes and its request id."""
        import httpx2

        ends = time.monotonic() + seconds
        body = bytearray()
        with self._send(request, seconds, stream=False) as response:
            for chunk in response.iter_bytes():
                body += chunk
                if time.monotonic() > ends:
                    raise httpx2.ReadTimeout("the reply came too slowly")
                if len(body) > _REPLY_LIMIT:
                    raise self._server.no_reply("it does not end")
            return bytes(body), response.request_id

    def _events(self, response: anthropic.APIResponse[Any]) -> Iterator[Mapping[str, Any]]:
        """The events of an open stream, decoded. A server may send a comment or a ping at any time."""
        import anthropic
        import httpx2

        kind = response.headers.get("content-type", "")
        if not kind.startswith("text/event-stream"):
            raise self._server.no_reply(f"a stream was asked for, and {kind or 'something of no type'} came")
        broken: LlmError
        try:
            for event in anthropic.Stream.raw_events(response.http_response):
                if event.data:
                    yield self._decoded(event.data)
            return
        except httpx2.TimeoutException:
            broken = self._server.silent(self.timeout)
        except httpx2.HTTPError as error:
            broken = self._server.broke_off(_reason(error))
        except UnicodeDecodeError:
            broken = self._server.no_reply("it is no UTF-8")
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

    def _reply(self, request: _Request, partial: Partial, request_id: str | None, *, cached: bool = False) -> Reply:
        """The finished reply; raises ``LlmError`` when it says nothing, which is no answer."""
        reply = Reply(
            blocks=tuple(partial.blocks),
            stop_reason=partial.stop_reason,
            model=partial.model,
            usage=Usage() if cached else _used(request, partial),
            request_id=self.secrets.clean(request_id) if request_id else None,
            tool_uses=tuple(partial.tool_uses),
            cached=cached,
        )
        # A use of a tool that nobody offered says nothing either.
        if not reply.text.strip() and not (reply.tool_uses and "tools" in request.fields):
            reason = self._server.clean(partial.stop_reason or "none")
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
            raise self._server.no_reply("it is no JSON object")
        return decoded

    def _failure(self, error: anthropic.APIError | httpx2.HTTPError, request: _Request) -> LlmError:
        import anthropic
        import httpx2

        if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
            return self._server.silent(self.timeout)
        if isinstance(error, anthropic.APIStatusError):
            return self._server.refused(error.status_code, error.body, model=request.model)
        cause = error.__cause__ or error
        if isinstance(cause, httpx2.ConnectError | httpx2.ProxyError | httpx2.UnsupportedProtocol):
            return self._server.unreachable(_reason(cause))
        return self._server.broke_off(_reason(cause))


@dataclass(frozen=True, slots=True)
class _Request:
    """A request; ``fields`` are those of its body beside the first three, ``size`` its bytes as JSON."""

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
            raise UsageError("The text for the model holds characters that are not Unicode.") from error
        return cls(model, max_tokens, messages, fields, size)


def _used(request: _Request, partial: Partial) -> Usage:
    """What the reply reported, at the price of the model that was asked for; nothing where nothing was reported."""
    counts = partial.tokens.counts
    if not counts:
        return Usage()
    tokens = {
        "input_tokens": counts.get("input_tokens", 0),
        "output_tokens": counts.get("output_tokens", 0),
        "cache_read_tokens": counts.get("cache_read_input_tokens", 0),
        "cache_write_tokens": counts.get("cache_creation_input_tokens", 0),
    }
    return Usage(**tokens, calls=1, cost_usd=cost(request.model, **tokens))


def _may_pass(failure: LlmError) -> bool:
    """Whether another attempt can help: no status (the connection failed), or one of a passing state."""
    return failure.status is None or failure.status in (408, 409, 429) or failure.status >= 500


def _backoff(tried: int) -> float:
    """Seconds to wait after ``tried`` attempts; the jitter keeps clients from coming back together."""
    return min(_FIRST_WAIT * 2.0 ** (tried - 1), _MAX_WAIT) * random.uniform(0.75, 1.0)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait, from ``retry-after-ms``, or ``retry-after`` in seconds or as a date."""
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
    """A key or token without the white space around it; raises ``UsageError`` for one that no header can carry."""
    key = (given or "").strip()
    if not key:
        return None
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError(
            "The API key holds characters that no key has (spaces, control characters or letters beyond ASCII).",
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
            "The base URL of the model's server is no URL.", hint="Give one such as http://127.0.0.1:8080."
        )
    return given
