"""Parse and validate a model's reply, complete or streamed, from the JSON of the Messages API.

The SDK's models accept whatever a server sends, without validating it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from wikigr.llm.redaction import Cleaner, Secrets
from wikigr.llm.usage import Usage

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A block of text with the citations that the API attached to it, in the API's format."""

    text: str
    citations: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of a tool that the request offered: the tool's name and the model's input."""

    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply. ``request_id`` identifies the call to the provider's support.

    ``usage`` is the usage of this call, which is empty for a ``cached`` reply.
    """

    blocks: tuple[TextBlock, ...]
    stop_reason: str | None
    model: str
    usage: Usage
    request_id: str | None
    tool_uses: tuple[ToolUse, ...] = ()
    cached: bool = False

    @property
    def text(self) -> str:
        """The text of all blocks."""
        return "".join(block.text for block in self.blocks)


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of streamed text."""

    text: str


@dataclass(frozen=True, slots=True)
class BlockEnd:
    """The end of a text block, with the complete block including its citations."""

    block: TextBlock


Event = TextDelta | BlockEnd


class MalformedReply(ValueError):  # noqa: N818 -- it becomes an LlmError, which names the server
    """JSON that does not follow the Messages API."""


@dataclass(slots=True)
class Tokens:
    """The token counts that a reply has reported so far, by their names in the API."""

    counts: dict[str, int] = field(default_factory=dict)

    def report(self, usage: object) -> None:
        """Record the counts in a ``usage`` object. They are cumulative, so later counts replace earlier ones."""
        for name, count in _mapping(usage, "usage").items():
            if isinstance(count, bool) or not isinstance(count, int):
                continue
            if count < 0:
                raise MalformedReply(f"usage.{name} is {count}")
            self.counts[name] = count

    def require(self) -> None:
        """Raise ``MalformedReply`` if input or output tokens are missing, because a budget must not count them as 0."""
        for name in ("input_tokens", "output_tokens"):
            if name not in self.counts:
                raise MalformedReply(f"usage.{name} is missing")


@dataclass(slots=True)
class Partial:
    """A reply that is still being read."""

    tokens: Tokens = field(default_factory=Tokens)
    blocks: list[TextBlock] = field(default_factory=list)
    tool_uses: list[ToolUse] = field(default_factory=list)
    model: str = ""
    stop_reason: str | None = None


def read_message(message: object, partial: Partial) -> None:
    """Read a whole reply into ``partial``; raises ``MalformedReply``."""
    fields = _mapping(message, "the reply")
    if fields.get("type") != "message":
        raise MalformedReply(f"its type is {fields.get('type')!r}")
    partial.tokens.report(fields.get("usage"))
    partial.tokens.require()
    partial.model = _string(fields.get("model"), "model")
    partial.stop_reason = _optional_string(fields.get("stop_reason"), "stop_reason")
    content = fields.get("content")
    if not isinstance(content, list):
        raise MalformedReply("content is not a list")
    for entry in content:
        block = _mapping(entry, "a block")
        if block.get("type") == "text":
            partial.blocks.append(TextBlock(_string(block.get("text"), "text"), _citations(block.get("citations"))))
        elif block.get("type") == "tool_use":
            partial.tool_uses.append(_tool_use(block))


@dataclass(slots=True)
class _OpenText:
    """A streamed text block that has not ended."""

    cleaner: Cleaner
    citations: list[dict[str, Any]]
    pieces: list[str] = field(default_factory=list)


def clean_message(message: Mapping[str, Any], secrets: Secrets) -> Mapping[str, Any]:
    """Return a complete reply in the API's format, without ``secrets``; raises ``MalformedReply``."""
    cleaner = Cleaner(secrets)
    content = message.get("content")
    if not isinstance(content, list):
        return _cleaned(message, secrets)
    blocks = []
    for block in content:
        cleaned = _cleaned(block, secrets)
        # Clean the original text: a credential may begin in one block and end in the next.
        if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str):
            cleaned = {**cleaned, "text": cleaner.feed(block["text"]) + cleaner.end_block()}
        blocks.append(cleaned)
    return {**_cleaned({**message, "content": None}, secrets), "content": blocks}


@dataclass(slots=True)
class StreamReader:
    """Assembles a reply from the events of a stream and passes on text and blocks as they arrive.

    ``secrets`` are removed from everything that is passed on or assembled.
    """

    on_event: Callable[[Event], None]
    secrets: Secrets = field(default_factory=Secrets)
    partial: Partial = field(default_factory=Partial)
    finished: bool = False
    _started: bool = False
    # Open text blocks by index; None for an open block of another type.
    _open: dict[int, _OpenText | None] = field(default_factory=dict)
    # The cleaner of the previous text block: a credential may begin there and end in the next block.
    _last: Cleaner | None = None
    # Open tool uses by index: the opening block, and the pieces of the input.
    _tools: dict[int, tuple[Mapping[str, Any], list[str]]] = field(default_factory=dict)

    def take(self, event: Mapping[str, Any]) -> None:
        """Process an event; unknown types are ignored, as the API requires. Raises ``MalformedReply``."""
        kind = event.get("type")
        if kind == "message_start":
            message = _mapping(event.get("message"), "message")
            self.partial.tokens.report(message.get("usage") or {})
            self.partial.model = self.secrets.clean(_string(message.get("model"), "model"))
            self._started = True
        elif kind == "content_block_start":
            self._start_block(_index(event), _mapping(event.get("content_block"), "content_block"))
        elif kind == "content_block_delta":
            self._extend_block(_index(event), _mapping(event.get("delta"), "delta"))
        elif kind == "content_block_stop":
            self._end_block(_index(event))
        elif kind == "message_delta":
            delta = _mapping(event.get("delta"), "delta")
            reason = _optional_string(delta.get("stop_reason"), "stop_reason")
            self.partial.stop_reason = None if reason is None else self.secrets.clean(reason)
            self.partial.tokens.report(event.get("usage") or {})
        elif kind == "message_stop":
            if not self._started or self._open:
                raise MalformedReply("message_stop came too early")
            self.partial.tokens.require()
            self.finished = True

    def _start_block(self, index: int, block: Mapping[str, Any]) -> None:
        if block.get("type") != "text":
            self._open[index] = None
            if block.get("type") == "tool_use":
                self._tools[index] = (block, [])
            return
        alone = not any(self._open.values())
        cleaner = self._last if alone and self._last is not None else Cleaner(self.secrets)
        self._open[index] = _OpenText(cleaner, _cleaned(list(_citations(block.get("citations"))), self.secrets))
        self._add_text(index, _string(block.get("text", ""), "text"))

    def _extend_block(self, index: int, delta: Mapping[str, Any]) -> None:
        if index not in self._open:
            raise MalformedReply(f"a delta of block {index}, which is not open")
        block = self._open[index]
        if block is None:
            if index in self._tools and delta.get("type") == "input_json_delta":
                self._tools[index][1].append(_string(delta.get("partial_json"), "partial_json"))
            return
        if delta.get("type") == "text_delta":
            self._add_text(index, _string(delta.get("text"), "text"))
        elif delta.get("type") == "citations_delta":
            citation = dict(_mapping(delta.get("citation"), "citation"))
            block.citations.append(_cleaned(citation, self.secrets))

    def _add_text(self, index: int, text: str) -> None:
        block = self._open[index]
        if block is not None:
            self._pass_on(block, block.cleaner.feed(text))

    def _pass_on(self, block: _OpenText, text: str) -> None:
        if text:
            block.pieces.append(text)
            self.on_event(TextDelta(text))

    def _end_block(self, index: int) -> None:
        if index not in self._open:
            raise MalformedReply(f"the end of block {index}, which is not open")
        block = self._open.pop(index)
        if index in self._tools:
            opened, pieces = self._tools.pop(index)
            used = _tool_use(opened, "".join(pieces))
            self.partial.tool_uses.append(
                ToolUse(self.secrets.clean(used.name), _cleaned(dict(used.input), self.secrets))
            )
        if block is not None:
            self._pass_on(block, block.cleaner.end_block())
            self._last = block.cleaner
            done = TextBlock("".join(block.pieces), tuple(block.citations))
            self.partial.blocks.append(done)
            self.on_event(BlockEnd(done))


def _cleaned(value: _T, secrets: Secrets) -> _T:
    try:
        return secrets.clean_json(value)
    except RecursionError:
        raise MalformedReply("it is nested too deeply") from None


def _mapping(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise MalformedReply(f"{name} is not an object")
    return value


def _string(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise MalformedReply(f"{name} is not a string")
    return value


def _optional_string(value: object, name: str) -> str | None:
    return None if value is None else _string(value, name)


def _tool_use(block: Mapping[str, Any], streamed: str = "") -> ToolUse:
    """Return the tool use in ``block``, with the input ``streamed`` if it arrived in pieces."""
    given = block.get("input")
    if streamed:
        try:
            given = json.loads(streamed)
        except (ValueError, RecursionError):
            raise MalformedReply("the input of a tool is not JSON") from None
    return ToolUse(_string(block.get("name"), "a tool's name"), dict(_mapping(given, "the input of a tool")))


def _citations(value: object) -> tuple[dict[str, Any], ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise MalformedReply("citations is not a list")
    return tuple(dict(_mapping(citation, "a citation")) for citation in value)


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    if not isinstance(index, int):
        raise MalformedReply("a block has no index")
    return index
