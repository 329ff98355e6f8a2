"""A real HTTP server on loopback that implements the Messages API, for all tests that call a model.

A test gives it behaviors: a list, one for each request to come, or one for all of them::

    def test_something(messages_server):
        messages_server.script(status(429, retry_after_ms=1), reply("Berlin."))
        messages_server.always(lambda request: reply(f"{len(request['messages'])} messages"))

A behavior is a ``Response``, or a function from the request's JSON to one. Whether a ``reply`` goes out whole or
as a stream is the request's choice, as in the real API. ``server.requests`` holds what came in.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Request:
    """A received request."""

    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def json(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.raw)
        return content


@dataclass(frozen=True)
class Response:
    """A response. ``pieces`` is the body, written and flushed piece by piece."""

    pieces: tuple[bytes, ...] = ()
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before anything is sent."""
    pause: float = 0.0
    """Seconds before every piece."""
    cut: int | None = None
    """Close the connection after this many pieces."""
    clean_cut: bool = False
    """End a truncated body as if it were complete, as a proxy may do."""
    gate: tuple[int, threading.Event] | None = None
    """Wait for the event before the piece with that number."""
    mute: bool = False
    """Accept the request and never answer."""


Behavior = Response | Callable[[dict[str, Any]], Response]


def text(words: str, *citations: Mapping[str, Any]) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words, "citations": list(citations) or None}


def first_cited(block: Mapping[str, Any]) -> dict[str, Any]:
    """A citation of the whole of the first search result, which is ``block``."""
    return {
        "type": "search_result_location",
        "cited_text": block["content"][0]["text"],
        "search_result_index": 0,
        "start_block_index": 0,
        "end_block_index": 1,
        "source": block["source"],
        "title": block["title"],
    }


def citation(quote: str, start: int, end: int, document: int = 0, title: str | None = None) -> dict[str, Any]:
    """A citation of a plain-text document: a range of characters."""
    return {
        "type": "char_location",
        "cited_text": quote,
        "document_index": document,
        "document_title": title,
        "start_char_index": start,
        "end_char_index": end,
    }


def usage(input_tokens: int = 10, output_tokens: int = 5, *, read: int = 0, written: int = 0) -> dict[str, Any]:
    """A usage object of the API; ``read`` and ``written`` are the cache's."""
    return {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
    }


def reply(
    *blocks: str | Mapping[str, Any],
    usage: Mapping[str, Any] = usage(),
    stop_reason: str = "end_turn",
    model: str | None = None,
) -> Callable[[dict[str, Any]], Response]:
    """A successful reply; a block is its text, or a block of the API's (see ``text``)."""
    content = [text(block) if isinstance(block, str) else dict(block) for block in blocks]

    def behave(request: dict[str, Any]) -> Response:
        message = {
            "id": "msg_01",
            "type": "message",
            "role": "assistant",
            "model": model or request["model"],
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": dict(usage),
        }
        if request.get("stream"):
            return events(*stream_of(message))
        return Response((json.dumps(message).encode(),))

    return behave


def stream_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The API's events for a message: the text word by word, then the citations."""
    start = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    found: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(message["content"]):
        if block["type"] != "text":
            found.append({"type": "content_block_start", "index": index, "content_block": block})
            found.append({"type": "content_block_stop", "index": index})
            continue
        empty = {"type": "text", "text": ""}
        found.append({"type": "content_block_start", "index": index, "content_block": empty})
        words = block["text"].split(" ")
        deltas = [{"type": "text_delta", "text": word + " "} for word in words[:-1]]
        deltas.append({"type": "text_delta", "text": words[-1]})
        deltas.extend({"type": "citations_delta", "citation": cited} for cited in block["citations"] or ())
        found.extend({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        found.append({"type": "content_block_stop", "index": index})
    found.append(
        {
            "type": "message_delta",
            "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
            "usage": {"output_tokens": message["usage"]["output_tokens"]},
        }
    )
    found.append({"type": "message_stop"})
    return found


def events(*found: Mapping[str, Any]) -> Response:
    """A stream of exactly these events, one per piece."""
    pieces = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in found)
    return Response(tuple(pieces), content_type="text/event-stream; charset=utf-8")


def status(
    code: int, message: str = "", *, body: bytes | None = None, retry_after_ms: float | None = 1, **headers: str
) -> Response:
    """An error response with the API's error body, or ``body``. The default asks for an immediate retry."""
    error = {"type": "error", "error": {"type": "test_error", "message": message}}
    asked = {} if retry_after_ms is None else {"retry-after-ms": str(retry_after_ms)}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response((json.dumps(error).encode() if body is None else body,), code, headers={**asked, **named})


def raw(body: bytes, content_type: str = "application/json") -> Response:
    """Any body, with status 200."""
    return Response((body,), content_type=content_type)


def garbage() -> Response:
    """A web page, with status 200."""
    return raw(b"<html><body>Sign in to the network</body></html>", "text/html")


def never() -> Response:
    """Accept the request and send nothing until the server closes."""
    return Response(mute=True)


def slow(seconds: float, then: Behavior) -> Callable[[dict[str, Any]], Response]:
    """Wait before answering."""
    return lambda request: replace(respond(then, request), delay=seconds)


def dripping(seconds: float, then: Behavior) -> Callable[[dict[str, Any]], Response]:
    """Wait before each byte of the body."""

    def behave(request: dict[str, Any]) -> Response:
        whole = respond(then, request)
        return replace(whole, pieces=tuple(bytes([byte]) for byte in b"".join(whole.pieces)), pause=seconds)

    return behave


def cut_after(count: int, then: Behavior, *, clean: bool = False) -> Callable[[dict[str, Any]], Response]:
    """Stop after ``count`` events of a stream, or ``count`` bytes of a complete reply; ``clean`` hides it."""

    def behave(request: dict[str, Any]) -> Response:
        whole = respond(then, request)
        if request.get("stream"):
            return replace(whole, cut=count, clean_cut=clean)
        body = b"".join(whole.pieces)
        return replace(whole, pieces=(body[:count], body[count:]), cut=1, clean_cut=clean)

    return behave


def held_before(number: int, gate: threading.Event, then: Behavior) -> Callable[[dict[str, Any]], Response]:
    """Send the event with that number (from 0) only after ``gate`` is set."""
    return lambda request: replace(respond(then, request), gate=(number, gate))


def respond(behavior: Behavior, request: dict[str, Any]) -> Response:
    return behavior(request) if callable(behavior) else behavior


class MessagesServer:
    """The server; ``url`` is the base URL for a client."""

    path = "/v1/messages"

    def __init__(self) -> None:
        self.requests: list[Request] = []
        # What GET /v1/models lists; without a list, it fails.
        self.models: list[str] | None = None
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._script: list[Behavior] = []
        self._always: Behavior | None = None
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.005,), daemon=True)
        self._thread.start()

    def script(self, *behaviors: Behavior) -> None:
        """Add behaviors for the next requests, one each."""
        self._script.extend(behaviors)

    def always(self, behavior: Behavior) -> None:
        """Set the behavior for requests without a script."""
        self._always = behavior

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def take(self, request: Request) -> Response:
        with self._lock:
            self.requests.append(request)
            behavior = self._script.pop(0) if self._script else self._always
        if request.path != self.path:
            return status(404, f"there is no {request.path}")
        if behavior is None:
            return status(418, "the test gave no behavior for this request")
        return respond(behavior, request.json)


def _handler_of(server: MessagesServer) -> type[BaseHTTPRequestHandler]:
    numbers = itertools.count(1)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body are two writes; the second would wait for the client's delayed acknowledgement.
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            response = server.take(Request(self.path, headers, raw))
            try:
                self.answer(response)
            except (BrokenPipeError, ConnectionResetError):
                # A client that gave up, which is what some tests are about.
                self.close_connection = True

        def do_GET(self) -> None:
            found = server.models is not None and self.path == "/v1/models"
            listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in server.models or ()]}
            self.answer(Response((json.dumps(listed).encode(),)) if found else status(404, "there is no list"))

        def answer(self, response: Response) -> None:
            if response.mute:
                server.closing.wait()
                self.close_connection = True
                return
            server.closing.wait(response.delay)
            chunked = response.content_type.startswith("text/event-stream")
            self.send_response(response.status)
            self.send_header("Content-Type", response.content_type)
            self.send_header("request-id", f"req_{next(numbers):03d}")
            for name, value in response.headers.items():
                self.send_header(name, value)
            whole = response.pieces if not response.clean_cut else response.pieces[: response.cut]
            if chunked:
                self.send_header("Transfer-Encoding", "chunked")
            else:
                self.send_header("Content-Length", str(sum(map(len, whole))))
            self.end_headers()
            for number, piece in enumerate(response.pieces[: response.cut]):
                if response.gate is not None and response.gate[0] == number:
                    response.gate[1].wait(120)
                if response.pause:
                    server.closing.wait(response.pause)
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
                self.wfile.flush()
            if response.cut is not None and not response.clean_cut:
                self.close_connection = True
            elif chunked:
                self.wfile.write(b"0\r\n\r\n")

        def handle(self) -> None:
            try:
                super().handle()
            except ConnectionResetError:
                """Ignore clients that disconnect."""

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class names it so
            """Do not log to stderr."""

    return Handler
