"""What the pipeline, builds and evaluations need of a model, and what every client does around a call."""

from __future__ import annotations

import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypedDict

from wikigr.errors import UsageError
from wikigr.llm.budget import Budget, BudgetError
from wikigr.llm.failures import EmptyReplyError, LlmError, Server
from wikigr.llm.redaction import Secrets
from wikigr.llm.reply import Event, MalformedReply, Reply, ReplyReader
from wikigr.llm.response_cache import ResponseCache, request_key
from wikigr.llm.thoughts import Thoughts
from wikigr.llm.usage import Usage, cost


class CallOptions(TypedDict, total=False):
    """The options that all clients have; ``ModelClient`` describes them."""

    timeout: float
    retries: int
    budget: Budget | None
    cache: ResponseCache | None
    repeat: int


class ModelClient(ABC):
    """Calls a model with requests of the Messages API, tracks its usage, enforces a budget and uses a cache.

    Subclasses send the requests: ``Claude`` (the Messages API), ``ChatServer`` (the API of OpenAI) and ``ModelFile`` (a
    GGUF file). Thread-safe. ``timeout`` is in seconds. With a ``cache``, stored replies (never streams) are reused,
    without effect on the budget and ``usage``. ``repeat`` selects one of several answers to the same request; it may be
    changed between calls unless threads share the client. ``asked`` counts the requests that reached the model, and
    ``hits`` those answered by the cache.
    """

    # Whether the model runs on this machine without a server, so that nothing leaves it.
    runs_here: ClassVar[bool] = False
    # Whether a reply without its tokens is refused. Otherwise its usage is unknown, and the budget counts its maximum.
    _requires_usage: ClassVar[bool] = True
    # Whether streams are held back until one has shown that the model's thoughts do not come without an opening tag.
    _holds_streams: bool = False

    def __init__(
        self,
        *,
        model: str,
        server: Server,
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
        self._server = server
        self._lock = threading.Lock()
        self._usage = Usage()

    @property
    def server(self) -> str:
        """The server's URL without credentials; empty for a model in a file."""
        return self._server.name

    @property
    def secrets(self) -> Secrets:
        """The credentials sent to the server, which are removed from replies."""
        return self._server.secrets

    @property
    def usage(self) -> Usage:
        """The total usage of all calls so far."""
        return self._usage

    @property
    def weights_sha256(self) -> str | None:
        """The SHA-256 of the model's file, if it is in a file here."""
        return None

    @property
    def caveat(self) -> str:
        """What makes the replies less reliable than they should be, ``""`` if nothing is known."""
        return ""

    @abstractmethod
    def close(self) -> None:
        """Close connections and end processes."""

    @abstractmethod
    def _events(
        self, request: Request, *, stream: bool
    ) -> AbstractContextManager[tuple[Iterator[Mapping[str, Any]], str | None]]:
        """Return the events of the Messages API that answer a request, while the context lasts, and the request id.

        Without ``stream``, the reply may arrive at once.
        """

    @property
    @abstractmethod
    def _origin(self) -> str:
        """What else than the request decides about a reply: the URL of the server, or the hash of the file."""

    def answering(self, model: str | None = None) -> str:
        """Return the name of the model that answers if ``model``, by default the client's, is asked for."""
        return model or self.model

    def check_model(self, option: str) -> None:
        """Raise ``UsageError``, which names the ``option`` to correct, if another model than the client's answers."""
        del option

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
        request = Request.of(self.answering(model), system, messages, max_tokens, extra)
        reader = ReplyReader(secrets=self.secrets, requires_usage=self._requires_usage, thoughts=Thoughts(holds=True))
        if self.cache is None:
            return self._ask(request, reader, stream=False)
        key = request_key(
            base_url=self._origin,
            model=request.model,
            max_tokens=request.max_tokens,
            messages=request.messages,
            fields=request.fields,
            repeat=self.repeat,
        )
        stored = self.cache.get(key)
        if stored is not None:
            reply = self._reply(request, stored, None, cached=True)
            if usable(reply):
                with self._lock:
                    self.hits += 1
                return reply
        reply = self._ask(request, reader, stream=False)
        if usable(reply):
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
        request = Request.of(self.answering(model), system, messages, max_tokens, extra)
        thoughts = Thoughts(holds=self._holds_streams)
        return self._ask(request, ReplyReader(on_event, self.secrets, self._requires_usage, thoughts), stream=True)

    def _ask(self, request: Request, reader: ReplyReader, *, stream: bool) -> Reply:
        """Send a request and let ``reader``, which removes credentials, read what arrives."""
        begun, first = time.monotonic(), None
        with self._accounted(request, reader), self._events(request, stream=stream) as (events, request_id):
            for event in events:
                if first is None and event.get("type") == "content_block_delta":
                    first = time.monotonic()
                if event.get("type") == "error":
                    raise self._server.reported(event, model=request.model)
                reader.take(event)
                if reader.finished:
                    break
            else:
                raise self._server.disconnected("the stream ended without its last event")
        self._holds_streams = reader.thoughts.unopened
        reply = self._reply(request, reader, request_id)
        return reply if first is None else replace(reply, first_token=first - begun, writing=time.monotonic() - first)

    @contextmanager
    def _accounted(self, request: Request, reader: ReplyReader) -> Iterator[None]:
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
            used = _used(request, reader, complete=complete)
            with self._lock:
                self._usage += used
            if self.budget is not None:
                self.budget.settle(used, reservation, worst_case=not complete or used.is_unknown)

    def _reply(self, request: Request, reader: ReplyReader, request_id: str | None, *, cached: bool = False) -> Reply:
        """Return the finished reply; raises ``LlmError`` if it is empty."""
        reply = Reply(
            blocks=tuple(reader.blocks),
            stop_reason=reader.stop_reason,
            model=reader.model or request.model,
            usage=Usage() if cached else _used(request, reader, complete=True),
            request_id=self.secrets.clean(request_id) if request_id else None,
            tool_uses=tuple(reader.tool_uses),
            cached=cached,
        )
        # A use of a tool that was not offered does not count.
        if not reply.text.strip() and not (reply.tool_uses and "tools" in request.fields):
            reason = self._server.clean(reader.stop_reason or "none")
            thought = " but its thoughts" if reader.thoughts.found else ""
            raise EmptyReplyError(
                f"The model {request.model} gave no text{thought} (stop reason: {reason}).",
                hint="Raise synthesis.max_tokens in the profile." if reason == "max_tokens" else None,
            )
        return reply


class CallQuota:
    """Limits a client to ``calls`` calls, in addition to the client's own budget."""

    def __init__(self, client: ModelClient, *, calls: int) -> None:
        self._client = client
        self._max_calls = calls
        self.calls = 0

    def complete(self, **request: Any) -> Reply:
        """Like ``ModelClient.complete``, but raises ``BudgetError`` instead of calling if the quota is exhausted."""
        if self.calls >= self._max_calls:
            raise BudgetError(f"The question has used its quota of {self._max_calls} model calls.")
        self.calls += 1
        return self._client.complete(**request)


@dataclass(frozen=True, slots=True)
class Request:
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
    ) -> Request:
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

    @property
    def max_reply_bytes(self) -> int:
        """The limit of the reply in bytes.

        A token takes about 4 bytes, the event that streams it another 130, and its share of the citations a few
        hundred. Decoded, JSON may be 50 times larger.
        """
        return (1 << 20) + 1024 * self.max_tokens


def decoded(raw: bytes | str) -> Mapping[str, Any]:
    """Return a JSON object; raises ``MalformedReply``."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise MalformedReply("it is not a JSON object")
    return found


def _used(request: Request, reader: ReplyReader, *, complete: bool) -> Usage:
    """Return the usage that the reply reported, at the price of the requested model.

    If it reported none, that of a complete reply is unknown, and that of another empty.
    """
    counts = reader.tokens
    if not counts:
        return Usage(calls=1, cost_usd=None) if complete and (reader.blocks or reader.tool_uses) else Usage()
    tokens = {
        "input_tokens": counts.get("input_tokens", 0),
        "output_tokens": counts.get("output_tokens", 0),
        "cache_read_tokens": counts.get("cache_read_input_tokens", 0),
        "cache_write_tokens": counts.get("cache_creation_input_tokens", 0),
    }
    return Usage(**tokens, calls=1, cost_usd=cost(request.model, **tokens))
