"""Parse and validate a model's reply, complete or streamed, from the JSON of the Messages API.

The SDK's event types are not used: the SDK fills them with whatever a server sends, without validating it, and pydantic
would refuse replies of local servers over fields that nothing here reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from wikigr.llm.redaction import Cleaner, Secrets
from wikigr.llm.thoughts import Thoughts
from wikigr.llm.usage import Usage


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

    ``usage`` is the usage of this call, which is empty for a ``cached`` reply. Of one that arrived in pieces,
    ``first_token`` is the time until the first one and ``writing`` that from then on, in seconds.
    """

    blocks: tuple[TextBlock, ...]
    stop_reason: str | None
    model: str
    usage: Usage
    request_id: str | None
    tool_uses: tuple[ToolUse, ...] = ()
    cached: bool = False
    first_token: float | None = None
    writing: float = 0.0

    @property
    def text(self) -> str:
        """The text of all blocks."""
        return "".join(block.text for block in self.blocks)

    def input_of(self, tool: str) -> object:
        """Return the input of the only call of ``tool``, or the JSON that the text is, maybe in a fence; else ``None``.

        Servers without tools, and models that do not know them, write the input as text.
        """
        if self.tool_uses:
            return self.tool_uses[0].input if [use.name for use in self.tool_uses] == [tool] else None
        try:
            return json.loads(_FENCE.sub("", self.text.strip()))
        except (ValueError, RecursionError):
            return None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of streamed text."""

    text: str


@dataclass(frozen=True, slots=True)
class BlockEnd:
    """The end of a text block, with the complete block including its citations."""

    block: TextBlock


Event = TextDelta | BlockEnd

# The lines before and after code in Markdown.
_FENCE = re.compile(r"\A```\w*\s+|(?<!\s)\s*+```\Z")


# What a client puts after the events of a stream that ended with the marker of the API.
END_OF_STREAM: Mapping[str, Any] = {"type": "end_of_stream"}


class MalformedReply(ValueError):  # noqa: N818 -- it becomes an LlmError, which names the server
    """JSON that does not follow the Messages API."""


@dataclass(slots=True)
class _OpenBlock:
    """A block that has not ended: a text with its citations, or a use of a tool, whose pieces are JSON."""

    opening: Mapping[Any, Any]
    cleaner: Cleaner | None = None  # of a text
    pieces: list[str] = field(default_factory=list)
    citations: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class ReplyReader:
    """Assembles a reply from a complete message or from the events of a stream, whose text it passes on as it arrives.

    ``secrets`` are removed from everything that is passed on or assembled. ``tokens`` are the counts reported so far,
    by their names in the API. Without ``requires_usage``, a reply may lack them. ``thoughts`` are no text of the reply.
    """

    on_event: Callable[[Event], None] = lambda _: None
    secrets: Secrets = field(default_factory=Secrets)
    requires_usage: bool = True
    thoughts: Thoughts = field(default_factory=Thoughts)
    blocks: list[TextBlock] = field(default_factory=list)
    tool_uses: list[ToolUse] = field(default_factory=list)
    model: str = ""
    stop_reason: str | None = None
    tokens: dict[str, int] = field(default_factory=dict)
    finished: bool = False
    _started: bool = False
    # Open blocks by index; None for one of another type.
    _open: dict[int, _OpenBlock | None] = field(default_factory=dict)
    # The cleaner of the previous text block: a credential may begin there and end in the next block.
    _last: Cleaner | None = None

    def read(self, message: object) -> None:
        """Read a complete reply; raises ``MalformedReply``."""
        for event in events_of_message(message):
            self.take(event)

    def take(self, event: Mapping[str, Any]) -> None:
        """Process an event; unknown types are ignored, as the API requires. Raises ``MalformedReply``."""
        match event:
            case {"type": "message_start", "message": {**message}}:
                self._report(message.get("usage"))
                if not isinstance(model := message.get("model"), str):
                    raise MalformedReply("model is not a string")
                self.model = self.secrets.clean(model)
                self._started = True
            case {"type": "content_block_start", "index": int(index), "content_block": {**block}}:
                self._start_block(index, block)
            case {"type": "content_block_delta", "index": int(index), "delta": {**delta}} if index in self._open:
                self._extend_block(self._open[index], delta)
            case {"type": "content_block_stop", "index": int(index)} if index in self._open:
                self._end_block(self._open.pop(index))
            case {"type": "message_delta", "delta": {**delta}}:
                reason = delta.get("stop_reason")
                if not isinstance(reason, str | None):
                    raise MalformedReply("stop_reason is not a string")
                self.stop_reason = None if reason is None else self.secrets.clean(reason)
                self._report(event.get("usage"))
            case {"type": "message_stop"} if self._started and not self._open:
                # A budget must not count missing tokens as none.
                if self.requires_usage and not {"input_tokens", "output_tokens"} <= self.tokens.keys():
                    raise MalformedReply("usage lacks input_tokens or output_tokens")
                self.finished = True
            case {"type": "message_start" | "message_delta" | "message_stop"}:
                raise MalformedReply("the message is malformed, or ended too early")
            case {"type": "content_block_start" | "content_block_delta" | "content_block_stop"}:
                raise MalformedReply("a block is malformed, or is not open")

    def to_message(self) -> dict[str, Any]:
        """Return the assembled reply as a message in the API's format, which ``read`` accepts."""
        texts = [{"type": "text", "text": block.text, "citations": list(block.citations)} for block in self.blocks]
        used = [{"type": "tool_use", "name": each.name, "input": each.input} for each in self.tool_uses]
        fields = {"model": self.model, "content": texts + used, "stop_reason": self.stop_reason, "usage": self.tokens}
        return {"type": "message", **fields}

    def _report(self, usage: object) -> None:
        """Record reported token counts. They are cumulative, so later counts replace earlier ones."""
        if not isinstance(usage, Mapping | None):
            raise MalformedReply("usage is not an object")
        self.tokens |= {name: count for name, count in (usage or {}).items() if type(count) is int}
        if any(count < 0 for count in self.tokens.values()):
            raise MalformedReply("a count in usage is negative")

    def _start_block(self, index: int, block: Mapping[Any, Any]) -> None:
        self._open[index] = None
        if block.get("type") == "thinking":
            self.thoughts.apart()
        if block.get("type") == "tool_use":
            self._open[index] = _OpenBlock(block)
        elif block.get("type") == "text":
            alone = not any(each is not None and each.cleaner for each in self._open.values())
            opened = _OpenBlock(block, self._last if alone and self._last is not None else Cleaner(self.secrets))
            self._open[index] = opened
            citations = block.get("citations") or []
            if not isinstance(citations, list):
                raise MalformedReply("citations is not a list of objects")
            for citation in citations:
                self._extend_block(opened, {"type": "citations_delta", "citation": citation})
            self._extend_block(opened, {"type": "text_delta", "text": block.get("text", "")})

    def _extend_block(self, opened: _OpenBlock | None, delta: Mapping[Any, Any]) -> None:
        if opened is None:
            return
        match delta:
            case {"type": "text_delta", "text": str(piece)} if opened.cleaner is not None:
                self._pass_on(opened, opened.cleaner.feed(self.thoughts.feed(piece)))
            case {"type": "citations_delta", "citation": {**citation}} if opened.cleaner is not None:
                opened.citations.append(self._cleaned(citation))
            case {"type": "input_json_delta", "partial_json": str(piece)} if opened.cleaner is None:
                opened.pieces.append(piece)
            case {"type": "text_delta" | "citations_delta" | "input_json_delta"}:
                raise MalformedReply("a piece of a block is malformed")

    def _end_block(self, opened: _OpenBlock | None) -> None:
        if opened is None:
            return
        if opened.cleaner is not None:
            self._pass_on(opened, opened.cleaner.feed(self.thoughts.finish()))
            self._pass_on(opened, opened.cleaner.end_block())
            self._last = opened.cleaner
            self.blocks.append(TextBlock("".join(opened.pieces), tuple(opened.citations)))
            self.on_event(BlockEnd(self.blocks[-1]))
            return
        name, given = opened.opening.get("name"), opened.opening.get("input")
        if streamed := "".join(opened.pieces):
            try:
                given = json.loads(streamed)
            except (ValueError, RecursionError):
                given = None
        if not isinstance(name, str) or not isinstance(given, Mapping):
            raise MalformedReply("the name or the input of a tool is malformed")
        self.tool_uses.append(ToolUse(self.secrets.clean(name), self._cleaned(dict(given))))

    def _pass_on(self, opened: _OpenBlock, text: str) -> None:
        if text:
            opened.pieces.append(text)
            self.on_event(TextDelta(text))

    def _cleaned(self, value: dict[Any, Any]) -> dict[Any, Any]:
        try:
            return dict(self.secrets.clean_json(value))
        except RecursionError:
            raise MalformedReply("it is nested too deeply") from None


def events_of_message(message: object) -> Iterator[Mapping[str, Any]]:
    """Yield the events of a stream for a complete message of the API, or for an error; raises ``MalformedReply``."""
    if not isinstance(message, Mapping) or message.get("type") not in ("message", "error"):
        raise MalformedReply("it is not a message")
    if message["type"] == "error":
        yield message
        return
    blocks = message.get("content")
    if not isinstance(blocks, list):
        raise MalformedReply("content is not a list")
    yield {"type": "message_start", "message": message}
    for index, block in enumerate(blocks):
        if isinstance(block, Mapping) and block.get("type") == "text" and "text" not in block:
            raise MalformedReply("a text block has no text")
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": message}
    yield {"type": "message_stop"}
