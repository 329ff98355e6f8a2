"""Translate between the Messages API and the chat-completions API of OpenAI: requests, replies and streams.

Servers differ in what they leave out. A reply without a reason for its end, its model or its usage is accepted; one
whose text or tool calls cannot be read is not.

https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wikigr.llm.failures import BadRequestError
from wikigr.llm.model_client import Request, decoded
from wikigr.llm.reply import MalformedReply

# The stop reasons of the Messages API, also for the spellings of other servers. Others are passed on.
_STOP_REASONS = {
    "stop": "end_turn",
    "eos": "end_turn",
    "eos_token": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
    "safety": "refusal",
}
_TEXT_BLOCK = 0
# What a client puts after the chunks of a stream that ended with the marker of the API.
END_OF_STREAM = {"type": "end_of_stream"}


def chat_body(request: Request) -> dict[str, Any]:
    """Return the body for a request; raises ``BadRequestError`` for content that this API cannot express."""
    fields = dict(request.fields)
    messages = [{"role": each["role"], "content": _text(each["content"])} for each in request.messages]
    if system := fields.pop("system", None):
        messages.insert(0, {"role": "system", "content": _text(system)})
    if "stop_sequences" in fields:
        fields["stop"] = fields.pop("stop_sequences")
    if "tools" in fields:
        fields["tools"] = [_tool(tool) for tool in fields["tools"]]
    if "tool_choice" in fields:
        fields["tool_choice"] = _tool_choice(fields["tool_choice"])
    return {"model": request.model, "messages": messages, "max_tokens": request.max_tokens, **fields}


def _text(content: str | Sequence[Mapping[str, Any]]) -> str:
    """Return the text of content; the template of many models takes nothing but a string."""
    if isinstance(content, str):
        return content
    for block in content:
        if block.get("type") != "text":
            raise BadRequestError(
                f"The chat-completions API has no blocks of the type {block.get('type')}.",
                hint="Set synthesis.citations: markers in the profile.",
                status=400,
            )
    return "\n\n".join(block["text"] for block in content)


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    named = {"name": tool["name"], "parameters": tool["input_schema"]}
    if "description" in tool:
        named["description"] = tool["description"]
    return {"type": "function", "function": named}


def _tool_choice(choice: Mapping[str, Any]) -> str | dict[str, Any]:
    if choice["type"] == "tool":
        return {"type": "function", "function": {"name": choice["name"]}}
    return "required" if choice["type"] == "any" else str(choice["type"])


def message_of(completion: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a complete reply as a message, or as an error; raises ``MalformedReply``."""
    if completion.get("error"):
        return _error(completion)
    choice = _first(completion.get("choices"), "choices")
    said = choice.get("message")
    if not isinstance(said, Mapping):
        raise MalformedReply("it has no message")
    blocks: list[dict[str, Any]] = []
    if text := _content(said.get("content")) or _string(said.get("refusal"), "refusal"):
        blocks.append({"type": "text", "text": text})
    for call in _objects(said.get("tool_calls"), "tool_calls"):
        name, arguments = _function(call)
        blocks.append({"type": "tool_use", "name": name, "input": decoded(arguments or "{}")})
    return {
        "type": "message",
        "model": _model(completion),
        "content": blocks,
        "stop_reason": _stop_reason(choice.get("finish_reason"), said),
        "usage": _usage(completion.get("usage")),
    }


def events_of(chunks: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the events for the chunks of a stream up to its end marker; raises ``MalformedReply``.

    The last event follows only if the server said why the model stopped, or that the stream is complete.
    """
    stream = _Stream()
    for chunk in chunks:
        if chunk == END_OF_STREAM:
            stream.complete = True
        elif chunk.get("error"):
            yield _error(chunk)
            return
        elif not is_empty(chunk):
            yield from stream.take(chunk)
    yield from stream.finish()


def is_empty(chunk: Mapping[str, Any]) -> bool:
    """Return whether a chunk brings nothing: such chunks keep a connection open."""
    return not (chunk.get("choices") or chunk.get("usage") or chunk.get("error"))


@dataclass(slots=True)
class _Stream:
    """A stream under way: which blocks are open, and how it ended."""

    started: bool = False
    open: dict[int, None] = field(default_factory=dict)
    stop_reason: str | None = None
    complete: bool = False
    refused: bool = False
    usage: Mapping[str, int] = field(default_factory=dict)

    def take(self, chunk: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if not self.started:
            self.started = True
            yield {"type": "message_start", "message": {"model": _model(chunk)}}
        if chunk.get("usage"):
            self.usage = _usage(chunk["usage"])
        for choice in _objects(chunk.get("choices"), "choices"):
            delta = choice.get("delta") or {}
            if not isinstance(delta, Mapping):
                raise MalformedReply("delta is not an object")
            for name, text in (("content", _content(delta.get("content"))), ("refusal", delta.get("refusal"))):
                if text := _string(text, name):
                    self.refused |= name == "refusal"
                    yield from self._open(_TEXT_BLOCK, {"type": "text", "text": ""})
                    yield _delta(_TEXT_BLOCK, {"type": "text_delta", "text": text})
            for call in _objects(delta.get("tool_calls"), "tool_calls"):
                yield from self._take_call(call)
            if reason := choice.get("finish_reason"):
                self.stop_reason = _stop_reason(reason, {"refusal": self.refused})
                self.complete = True

    def finish(self) -> Iterator[dict[str, Any]]:
        yield from ({"type": "content_block_stop", "index": index} for index in self.open)
        if self.started and self.complete:
            yield {"type": "message_delta", "delta": {"stop_reason": self.stop_reason}, "usage": self.usage}
            yield {"type": "message_stop"}

    def _take_call(self, call: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        index = call.get("index")
        if isinstance(index, int) and index >= 0:
            block = index + 1
        else:
            # Some servers do not number the calls: a name begins the next one.
            last = max(self.open, default=_TEXT_BLOCK)
            block = last if last != _TEXT_BLOCK and not _has_name(call) else last + 1
        name, arguments = _function(call, opened=block in self.open)
        yield from self._open(block, {"type": "tool_use", "name": name, "input": {}})
        if arguments:
            yield _delta(block, {"type": "input_json_delta", "partial_json": arguments})

    def _open(self, index: int, block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if index not in self.open:
            self.open[index] = None
            yield {"type": "content_block_start", "index": index, "content_block": block}


def _delta(index: int, delta: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _error(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "error", "error": reply["error"]}


def _function(call: Mapping[str, Any], *, opened: bool = False) -> tuple[str, str]:
    """Return the name and the arguments, or a piece of them, of a tool call."""
    function = call.get("function")
    if not isinstance(function, Mapping):
        raise MalformedReply("a tool call has no function")
    name = _string(function.get("name"), "name")
    if not name and not opened:
        raise MalformedReply("a tool call has no name")
    arguments = function.get("arguments")
    return name, json.dumps(arguments) if isinstance(arguments, Mapping) else _string(arguments, "arguments")


def _has_name(call: Mapping[str, Any]) -> bool:
    function = call.get("function")
    return isinstance(function, Mapping) and bool(function.get("name"))


def _model(reply: Mapping[str, Any]) -> str:
    model = reply.get("model")
    return model if isinstance(model, str) else ""


def _content(content: object) -> str:
    """Return the text of a reply, which is a string, missing, or a list of parts."""
    if not isinstance(content, list):
        return _string(content, "content")
    return "".join(_string(part.get("text"), "text") for part in _objects(content, "content"))


def _stop_reason(reason: object, said: Mapping[str, Any]) -> str | None:
    if not isinstance(reason, str | None):
        raise MalformedReply("finish_reason is not a string")
    if said.get("refusal"):
        return "refusal"
    return None if reason is None else _STOP_REASONS.get(reason.lower(), reason)


def _usage(reported: object) -> dict[str, int]:
    """Return token counts by their names in the Messages API, where cached tokens are no part of the input.

    The result is empty if the counts are missing or cannot be read.
    """
    if not isinstance(reported, Mapping):
        return {}
    details = reported.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    prompt, completion = _count(reported.get("prompt_tokens")), _count(reported.get("completion_tokens"))
    cached = _count(cached or 0)
    if prompt is None or completion is None or cached is None or cached > prompt:
        return {}
    return {"input_tokens": prompt - cached, "output_tokens": completion, "cache_read_input_tokens": cached}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _first(values: object, name: str) -> Mapping[str, Any]:
    found = _objects(values, name)
    if not found:
        raise MalformedReply(f"{name} is empty")
    return found[0]


def _objects(values: object, name: str) -> Sequence[Mapping[str, Any]]:
    """Return a list of objects; a missing one is empty."""
    if values is None:
        return ()
    if not isinstance(values, list) or not all(isinstance(each, Mapping) for each in values):
        raise MalformedReply(f"{name} is not a list of objects")
    return values


def _string(value: object, name: str) -> str:
    if not isinstance(value, str | None):
        raise MalformedReply(f"{name} is not a string")
    return value or ""
