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
from wikigr.llm.model_client import Request
from wikigr.llm.reply import END_OF_STREAM, MalformedReply

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
_THINKING_BLOCK, _TEXT_BLOCK = -1, 0


def chat_body(request: Request) -> dict[str, Any]:
    """Return the body for a request; raises ``BadRequestError`` for content that this API cannot express."""
    fields = dict(request.fields)
    messages = [{"role": each["role"], "content": _text(each["content"])} for each in request.messages]
    if system := fields.pop("system", None):
        messages.insert(0, {"role": "system", "content": _text(system)})
    if "stop_sequences" in fields:
        fields["stop"] = fields.pop("stop_sequences")
    if "tools" in fields:
        known = {"name": "name", "parameters": "input_schema", "description": "description"}
        fields["tools"] = [
            {"type": "function", "function": {name: tool[key] for name, key in known.items() if key in tool}}
            for tool in fields["tools"]
        ]
    if choice := fields.get("tool_choice"):
        named = {"type": "function", "function": {"name": choice.get("name")}}
        fields["tool_choice"] = {"tool": named, "any": "required"}.get(choice["type"], choice["type"])
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


def as_chunk(completion: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a complete reply as the only chunk of a stream; raises ``MalformedReply``."""
    if completion.get("error"):
        return completion
    choices = _objects(completion.get("choices"), "choices")
    if not choices or not isinstance(choices[0].get("message"), Mapping):
        raise MalformedReply("it has no message")
    return {**completion, "choices": [{**choices[0], "delta": choices[0]["message"]}]}


def events_of(chunks: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the events for the chunks of a stream up to its end marker; raises ``MalformedReply``.

    The last event follows only if the server said why the model stopped, or that the stream is complete.
    """
    stream = _Stream()
    for chunk in chunks:
        if chunk == END_OF_STREAM:
            stream.complete = True
        elif chunk.get("error"):
            yield {"type": "error", "error": chunk["error"]}
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
            model = chunk.get("model")
            yield {"type": "message_start", "message": {"model": model if isinstance(model, str) else ""}}
        if chunk.get("usage"):
            self.usage = _usage(chunk["usage"])
        for choice in _objects(chunk.get("choices"), "choices"):
            delta = choice.get("delta") or {}
            if not isinstance(delta, Mapping):
                raise MalformedReply("delta is not an object")
            if delta.get("reasoning_content") or delta.get("reasoning"):
                yield from self._open(_THINKING_BLOCK, {"type": "thinking"})
            content = delta.get("content")
            if isinstance(content, list):
                content = "".join(_string(part.get("text"), "text") for part in _objects(content, "content"))
            refusal = _string(delta.get("refusal"), "refusal")
            self.refused |= bool(refusal)
            if text := _string(content, "content") + refusal:
                yield from self._open(_TEXT_BLOCK, {"type": "text", "text": ""})
                yield _delta(_TEXT_BLOCK, {"type": "text_delta", "text": text})
            for call in _objects(delta.get("tool_calls"), "tool_calls"):
                yield from self._take_call(call)
            if reason := _string(choice.get("finish_reason"), "finish_reason"):
                self.stop_reason = _STOP_REASONS.get(reason.lower(), reason)
                self.complete = True

    def finish(self) -> Iterator[dict[str, Any]]:
        yield from ({"type": "content_block_stop", "index": index} for index in self.open)
        if self.started and self.complete:
            reason = "refusal" if self.refused else self.stop_reason
            yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": self.usage}
            yield {"type": "message_stop"}

    def _take_call(self, call: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        function = call.get("function")
        if not isinstance(function, Mapping):
            raise MalformedReply("a tool call has no function")
        name = _string(function.get("name"), "name")
        index = call.get("index")
        if isinstance(index, int) and index >= 0:
            block = index + 1
        else:
            # Some servers do not number the calls: a name begins the next one.
            last = max(self.open, default=_TEXT_BLOCK)
            block = last if last != _TEXT_BLOCK and not name else last + 1
        if not name and block not in self.open:
            raise MalformedReply("a tool call has no name")
        yield from self._open(block, {"type": "tool_use", "name": name, "input": {}})
        arguments = function.get("arguments")
        # Some servers send an object in place of its JSON.
        written = json.dumps(arguments) if isinstance(arguments, Mapping) else _string(arguments, "arguments")
        if written:
            yield _delta(block, {"type": "input_json_delta", "partial_json": written})

    def _open(self, index: int, block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if index not in self.open:
            self.open[index] = None
            yield {"type": "content_block_start", "index": index, "content_block": block}


def _delta(index: int, delta: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _usage(reported: object) -> dict[str, int]:
    """Return token counts by their names in the Messages API, where cached tokens are no part of the input.

    The result is empty if the counts are missing or cannot be read.
    """
    if not isinstance(reported, Mapping):
        return {}
    details = reported.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    match [reported.get("prompt_tokens"), reported.get("completion_tokens"), cached or 0]:
        case [int(prompt), int(completion), int(cached)] if prompt >= cached >= 0 <= completion:
            pass
        case _:
            return {}
    return {"input_tokens": prompt - cached, "output_tokens": completion, "cache_read_input_tokens": cached}


def _objects(values: object, name: str) -> Sequence[Mapping[str, Any]]:
    """Return a list of objects; a missing one is empty."""
    if values is None:
        return ()
    if not isinstance(values, list) or not all(isinstance(each, Mapping) for each in values):
        raise MalformedReply(f"{name} is not a list of objects")
    return values


def _string(value: object, name: str) -> str:
    """Return a string; a missing one is empty."""
    if not isinstance(value, str | None):
        raise MalformedReply(f"{name} is not a string")
    return value or ""
