"""A real HTTP server on loopback that implements the chat-completions API; see ``server`` for how a test scripts it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .server import MessagesServer, Response


class ChatApi(MessagesServer):
    """The server; ``base_url`` is the one for a client."""

    path = "/v1/chat/completions"

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"


def tool_call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def chat_reply(
    content: str | None = None,
    *,
    calls: Sequence[Mapping[str, Any]] = (),
    prompt: int = 10,
    cached: int = 0,
    completion: int = 5,
    finish_reason: str = "stop",
    **said: Any,
) -> Callable[[dict[str, Any]], Response]:
    """A successful reply, whole or as a stream, as the request asks; ``said`` holds further fields of the message."""
    usage: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }

    def behave(request: dict[str, Any]) -> Response:
        start: dict[str, Any] = {"id": "chat_1", "created": 1, "model": request["model"]}
        message = {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {}), **said}
        if not request["stream"]:
            choice = {"index": 0, "message": message, "finish_reason": finish_reason}
            whole = {**start, "object": "chat.completion", "choices": [choice], "usage": usage}
            return Response((json.dumps(whole).encode(),))
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
        deltas += [{"content": word} for word in re.findall(r"\S*\s*", content or "") if word]
        for index, call in enumerate(calls):
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            pieces = [{"name": name, "arguments": arguments[:5]}, {"arguments": arguments[5:]}]
            deltas += [{"tool_calls": [{"index": index, "function": piece}]} for piece in pieces]
        deltas += [{name: value} for name, value in said.items()]
        choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": finish_reason})
        start["object"] = "chat.completion.chunk"
        chunks = [{**start, "choices": [choice]} for choice in choices]
        if request.get("stream_options") == {"include_usage": True}:
            chunks.append({**start, "choices": [], "usage": usage})
        return stream_of(*chunks)

    return behave


def stream_of(*chunks: Mapping[str, Any], end: str = "[DONE]") -> Response:
    """A stream of exactly these chunks, one per piece, and its end marker."""
    pieces = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
    return Response((*pieces, f"data: {end}\n\n".encode()), content_type="text/event-stream")


def chat_error(code: int, message: str, **headers: str) -> Response:
    error = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}
    return Response((json.dumps(error).encode(),), code, headers={"retry-after-ms": "1", **headers})


def quoting(request: dict[str, Any]) -> Response:
    """Answer with the first sentence of the first section of the request, marked as a quotation of it."""
    sections = request["messages"][-1]["content"]
    body = re.search(r'<section number="1"[^>]*>\n(.*?)\n</section>', sections, re.S)
    assert body is not None
    return chat_reply(f"{body[1].partition('. ')[0]} [1].", prompt=700, completion=30)(request)
