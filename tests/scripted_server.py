"""A server on raw sockets that breaks HTTP in every way that the tests of the clients need.

A behavior is a function that plays one response to a ``Peer``, whose request has been read. ``BEHAVIORS`` lists them by
name; those that end by themselves and those that never do are the same to a test, which sets the client's limits.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

PACE = 0.05
"""Seconds between the bytes or lines that a slow server sends."""
HANG_UP_SECONDS = 180.0
"""Far longer than a client needs, even on a busy machine: one that is still busy then would never have ended."""


class Peer:
    """The server's end of a connection. To a request for a stream, it sends ``STREAM`` in place of ``JSON``."""

    def __init__(self, server: ScriptedServer, connection: socket.socket, request: bytes = b"") -> None:
        self.server = server
        self.connection = connection
        self._streams = b'"stream":true' in request

    def send(self, *pieces: bytes) -> None:
        sent = b"".join(pieces)
        self.connection.sendall(sent.replace(JSON, STREAM) if self._streams else sent)

    def drip(self, piece: bytes) -> None:
        """Send ``piece`` again and again, slowly, until the client hangs up."""
        while not self.server.closing.wait(PACE):
            self.send(piece)

    def flood(self, piece: bytes) -> None:
        """Send ``piece`` again and again, as fast as the client reads, until it hangs up."""
        block = piece * max(1, 65_536 // len(piece))
        while not self.server.closing.is_set():
            self.send(block)

    def stay(self) -> None:
        """Keep the connection open and send nothing."""
        self.server.closing.wait()

    def reset(self) -> None:
        """Close the connection with RST."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


Behavior = Callable[[Peer], None]


class ScriptedServer:
    """Plays ``behavior`` to every request, several in a row on a connection that stays open.

    ``requests`` holds what came in, as bytes. With ``mute``, connections are accepted and never read.
    ``closing`` ends the behaviors that never end.
    """

    def __init__(self, behavior: Behavior | None = None, *, mute: bool = False) -> None:
        self.behavior = behavior
        self.requests: list[bytes] = []
        self.connections = 0
        self.closing = threading.Event()
        self._mute = mute
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self.closing.set()
        # Wakes the thread that accepts; closing alone would not.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while not self.closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            if self._mute:
                self.closing.wait()
                return
            while (request := _read_request(connection)) is not None:
                self.requests.append(request)
                if self.behavior is not None:
                    self.behavior(Peer(self, connection, request))


def _read_request(connection: socket.socket) -> bytes | None:
    """Return the next request with its body, or ``None`` at the end of the connection."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65_536)
        if not piece:
            return None
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    fields = (line.partition(b":") for line in head.lower().split(b"\r\n"))
    length = next((int(value) for name, _, value in fields if name == b"content-length"), 0)
    while len(body) < length:
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


@contextmanager
def playing(behavior: Behavior | None = None, *, mute: bool = False) -> Iterator[ScriptedServer]:
    """Run a server, which closes all connections after a while so that no client hangs forever."""
    server = ScriptedServer(behavior, mute=mute)
    timer = threading.Timer(HANG_UP_SECONDS, server.close)
    timer.start()
    try:
        yield server
    finally:
        timer.cancel()
        server.close()


# A good reply of the Messages API and of the chat-completions API at once.
MESSAGE: dict[str, Any] = {
    "id": "msg_01",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "Yes."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "output_tokens": 1, "prompt_tokens": 1, "completion_tokens": 1},
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}],
}
REPLY = json.dumps(MESSAGE).encode()
EVENTS = b"".join(
    b"data: %b\n\n" % json.dumps(event).encode()
    for event in (
        {"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Yes."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    )
)
OK = b"HTTP/1.1 200 OK\r\n"
JSON = b"Content-Type: application/json\r\n"
STREAM = b"Content-Type: text/event-stream\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CLOSE = b"Connection: close\r\n"
END = b"\r\n"


def reply(head: bytes, body: bytes = REPLY, kind: bytes = JSON) -> bytes:
    """A complete response, whose status line and further headers are ``head``."""
    return head + kind + b"Content-Length: %d\r\n\r\n" % len(body) + body


def sends(*pieces: bytes) -> Behavior:
    """Send the pieces and read the next request."""
    return lambda peer: peer.send(*pieces)


def ends(*pieces: bytes) -> Behavior:
    """Send the pieces and close the connection."""

    def play(peer: Peer) -> None:
        peer.send(*pieces)
        peer.connection.shutdown(socket.SHUT_RDWR)

    return play


def stays(*pieces: bytes) -> Behavior:
    """Send the pieces, then nothing more, and keep the connection open."""

    def play(peer: Peer) -> None:
        peer.send(*pieces)
        peer.stay()

    return play


def drips(start: bytes, piece: bytes) -> Behavior:
    def play(peer: Peer) -> None:
        peer.send(start)
        peer.drip(piece)

    return play


def floods(start: bytes, piece: bytes) -> Behavior:
    def play(peer: Peer) -> None:
        peer.send(start)
        peer.flood(piece)

    return play


def resets(*pieces: bytes) -> Behavior:
    def play(peer: Peer) -> None:
        peer.send(*pieces)
        # Without a pause, RST can overtake the pieces.
        peer.server.closing.wait(PACE)
        peer.reset()

    return play


def _half_closes(peer: Peer) -> None:
    peer.send(OK, b"Content-Le")
    peer.connection.shutdown(socket.SHUT_WR)
    peer.stay()


@cache
def bomb(megabytes: int, layers: int = 1) -> bytes:
    """Zeros, compressed with gzip ``layers`` times, without the checksum at the end."""
    packer = zlib.compressobj(9, wbits=31)
    start = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    # After a full flush, the same input gives the same bytes.
    data = start + (packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)) * megabytes
    return data if layers == 1 else zlib.compress(data, 9, wbits=31)


def bombs(status: bytes, codings: bytes, megabytes: int, layers: int = 1) -> Behavior:
    head = b"HTTP/1.1 %b\r\nContent-Encoding: %b\r\n" % (status, codings)
    return lambda peer: peer.send(reply(head, bomb(megabytes, layers)))


def redirects(status: int, location: str) -> Behavior:
    head = b"HTTP/1.1 %d Elsewhere\r\nLocation: %b\r\n" % (status, location.encode())
    return sends(reply(head, b""))


ERROR = b"HTTP/1.1 400 Bad\r\n"
BUSY = b"HTTP/1.1 503 Busy\r\n"

BEHAVIORS: dict[str, Behavior] = {
    "no answer": stays(),
    "a dripped status line": drips(b"HTTP/1.1 200 ", b"O"),
    "dripped headers": drips(OK, b"X: y\r\n"),
    "an endless header block": floods(OK, b"X: y\r\n"),
    "an endless header": floods(OK + b"X: ", b"y"),
    "dripped 103 responses": drips(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "endless 103 responses": floods(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "dripped 100 responses": drips(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "101, switching protocols": stays(b"HTTP/1.1 101 Switch\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    "a dripped body": drips(OK + JSON + b"Content-Length: 1000000\r\n\r\n", b" "),
    "a dripped body until close": drips(OK + JSON + END, b" "),
    "a body that stops": stays(OK + JSON + b"Content-Length: 1000000\r\n\r\n" + REPLY),
    "an endless body": floods(OK + JSON + CHUNKED + END, b"400\r\n" + b" " * 1024 + b"\r\n"),
    "a dripped chunk size": drips(OK + JSON + CHUNKED + END, b"0"),
    "a dripped chunk extension": drips(OK + JSON + CHUNKED + END + b"4;", b"x"),
    "an endless chunk extension": floods(OK + JSON + CHUNKED + END + b"4;", b"x"),
    "dripped trailers": drips(OK + JSON + CHUNKED + END + b"4\r\n    \r\n0\r\n", b"X: y\r\n"),
    "endless trailers": floods(OK + JSON + CHUNKED + END + b"4\r\n    \r\n0\r\n", b"X: y\r\n"),
    "an invalid chunk size": ends(OK + JSON + CHUNKED + END + b"zz\r\n{}\r\n0\r\n\r\n"),
    "a negative chunk size": ends(OK + JSON + CHUNKED + END + b"-5\r\n{}\r\n0\r\n\r\n"),
    "a huge chunk size": ends(OK + JSON + CHUNKED + END + b"F" * 30 + b"\r\n{}"),
    "a dripped error": drips(ERROR + JSON + CHUNKED + END, b"1\r\nx\r\n"),
    "an endless error": floods(ERROR + JSON + END, b"x"),
    "an endless busy error": floods(BUSY + JSON + END, b"x"),
    "a gzip bomb": bombs(b"200 OK", b"gzip", 2_600),
    "a gzip bomb as an error": bombs(b"400 Bad", b"gzip", 2_600),
    "a gzip bomb in gzip": bombs(b"200 OK", b"gzip, gzip", 8_000, 2),
    "a charset that decompresses": sends(
        reply(ERROR, zlib.compress(bytes(60 << 20), 9), b"Content-Type: text/plain; charset=zlib_codec\r\n")
    ),
    "a redirect to itself": redirects(307, "/p"),
    "a body longer than announced": ends(OK + JSON + b"Content-Length: 3\r\n\r\n" + REPLY),
    "a body shorter than announced": ends(OK + JSON + b"Content-Length: 1000\r\n\r\n" + REPLY),
    "a negative length": ends(OK + JSON + b"Content-Length: -5\r\n\r\n" + REPLY),
    "two lengths": ends(OK + JSON + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + REPLY),
    "a reset before the answer": resets(),
    "a reset in the headers": resets(OK + b"Content-Ty"),
    "a reset in the body": resets(OK + JSON + b"Content-Length: 1000\r\n\r\n" + REPLY),
    "a half-close in the headers": _half_closes,
    "a reply that never closes": stays(OK + JSON + END + REPLY),
    "two replies at once": sends(reply(OK), reply(OK, b"[1]")),
    "HTTP/0.9": ends(REPLY),
    "binary garbage": ends(b"\x16\x03\x01\x02\x00" * 100),
    "an empty body": sends(reply(OK, b"")),
    "a year of Retry-After": sends(reply(b"HTTP/1.1 429 Slow\r\nRetry-After: 31536000\r\n", b"{}")),
    "SSE comments": drips(OK + STREAM + END, b": wait\n\n"),
    "endless SSE comments": floods(OK + STREAM + END, b": wait\n\n"),
    "SSE pings": drips(OK + STREAM + END, b'event: ping\ndata: {"type": "ping"}\n\n'),
    "one endless SSE event": floods(OK + STREAM + END + b"data: ", b"x"),
    "one SSE event of short lines": floods(OK + STREAM + END, b"x\n"),
    "invalid UTF-8 in SSE": ends(OK + STREAM + CLOSE + END + b'data: {"type": "\xff"}\n\n'),
}


def play_all(call: Callable[[ScriptedServer, str], str], names: Iterable[str] = BEHAVIORS) -> dict[str, str]:
    """Return what ``call`` returns for a server of each behavior, or "hangs" if only the end of the server ended it."""

    def one(name: str) -> str:
        with playing(BEHAVIORS[name]) as server:
            outcome = call(server, name)
            return "hangs" if server.closing.is_set() else outcome

    with ThreadPoolExecutor(12) as pool:
        return dict(zip(names, pool.map(one, names), strict=True))
