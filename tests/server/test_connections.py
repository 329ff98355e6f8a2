"""Limits on connections: silent and slow ones cost the server nothing that others need."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import h11
import pytest
from starlette.responses import JSONResponse
from tests.server.conftest import Blocked, Running, running

from wikigr.server.server import AppServer

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect(server: Running, sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    connection.sendall(sent)
    return connection


@pytest.mark.parametrize("sent", [b"", REQUEST[:10], REQUEST + REQUEST[:10], REQUEST])
def test_a_connection_without_a_complete_request_is_closed(
    physics: Running, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A complete request must arrive in time.
    monkeypatch.setattr("wikigr.server.connections.HEAD_TIME_LIMIT", 2.0 if REQUEST in sent else 0.2)
    with connect(physics, sent) as connection:
        received = b""
        while piece := connection.recv(65536):
            received += piece
    assert received.count(b"HTTP/1.1 200") == sent.count(REQUEST)


def test_one_connection_too_many_closes_the_one_that_waits_longest(
    physics_pack: Path, monkeypatch: pytest.MonkeyPatch, blocked: Blocked
) -> None:
    monkeypatch.setattr("wikigr.server.server.MAX_CONNECTIONS", 3)
    with running(physics_pack) as server, ExitStack() as stack:
        asking = stack.enter_context(connect(server, b"GET /api/ask?question=a HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        assert blocked.started.wait(60)
        first, second, third = (stack.enter_context(connect(server)) for _ in range(3))
        # The first one is closed for the third one, and the request under way goes on.
        assert first.recv(1) == b""
        for connection in (second, third):
            connection.sendall(REQUEST)
            assert b"200 OK" in connection.recv(65536)
        assert not blocked.ended.is_set()
        blocked.ended.set()
        assert asking.recv(65536)


def test_a_request_that_is_cut_off_when_the_server_stops_gets_an_error(
    physics_pack: Path, monkeypatch: pytest.MonkeyPatch, blocked: Blocked, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("wikigr.server.server.GRACE", 1)
    with running(physics_pack) as server:
        responses: list[tuple[int, str]] = []

        def ask() -> None:
            response = server.client.get("/api/ask", params={"question": "What is spin?"})
            responses.append((response.status_code, response.json()["error"]))

        thread = threading.Thread(target=ask)
        thread.start()
        assert blocked.started.wait(60)
        server.stop()
        thread.join()
    assert responses == [(503, "The server is shutting down.")]
    assert not capfd.readouterr().err


def test_a_stream_that_is_cut_off_when_the_server_stops_ends_without_a_log(
    physics_pack: Path, monkeypatch: pytest.MonkeyPatch, blocked: Blocked, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("wikigr.server.server.GRACE", 0.5)
    with (
        running(physics_pack) as server,
        connect(
            server,
            b"GET /api/ask?question=a HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n",
        ) as connection,
    ):
        assert blocked.started.wait(60)
        received = connection.recv(65536)
        server.stop()
        while piece := connection.recv(65536):
            received += piece
    assert received.startswith(b"HTTP/1.1 200") and b"event: stage" in received
    assert not capfd.readouterr().err


class StopsWhileClientsConnect(AppServer):
    """Stops in the moment in which connections have been accepted, but are not known to the server yet."""

    connected: tuple[socket.socket, ...] = ()

    async def on_tick(self, counter: int) -> bool:
        if not await super().on_tick(counter):
            return False
        port = self.servers[0].sockets[0].getsockname()[1]
        self.connected = tuple(socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(3))
        for _ in ("accept", "make the transport", "tell the protocol"):
            await asyncio.sleep(0)
        return True


def test_a_connection_that_is_accepted_while_the_server_stops_is_dropped(
    physics_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = []

    def make(*arguments: Any) -> AppServer:
        servers.append(StopsWhileClientsConnect(*arguments))
        return servers[-1]

    monkeypatch.setattr("tests.server.conftest.AppServer", make)
    with running(physics_pack) as server:
        begun = time.monotonic()
        server.stop()
        assert time.monotonic() - begun < 3
    assert servers[0].connected
    for connection in servers[0].connected:
        with connection, suppress(ConnectionResetError):
            assert connection.recv(1) == b""


def test_a_client_that_does_not_read_the_error_of_its_request_does_not_delay_the_end(
    physics_pack: Path, monkeypatch: pytest.MonkeyPatch, blocked: Blocked
) -> None:
    monkeypatch.setattr("wikigr.server.server.GRACE", 0.5)
    # As if the buffers were full of earlier responses.
    long = JSONResponse({"error": "x" * 10_000_000}, 503)
    monkeypatch.setattr("wikigr.server.server.error_response", lambda error: long)
    ask = b"GET /api/ask?question=a HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with running(physics_pack) as server, connect(server, ask):
        assert blocked.started.wait(60)
        begun = time.monotonic()
        server.stop()
        assert time.monotonic() - begun < 3


ARTICLE = b"GET /api/articles/Albert%20Einstein HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect_with_unread_responses(server: Running) -> socket.socket:
    """Connect, and ask for 2.5 MB of responses without reading them."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(ARTICLE * 500)
    return connection


def test_a_client_that_reads_nothing_is_dropped(physics_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikigr.server.connections.STALL_TIME_LIMIT", 0.5)
    with running(physics_pack) as server, connect_with_unread_responses(server) as connection:
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            for _ in range(200):
                time.sleep(0.05)
                connection.sendall(ARTICLE)
        assert server.client.get("/healthz").status_code == 200


def test_a_client_that_reads_slowly_is_served(physics_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikigr.server.connections.STALL_TIME_LIMIT", 0.5)
    with running(physics_pack) as server, connect_with_unread_responses(server) as connection:
        for _ in range(8):  # together much longer than the limit
            time.sleep(0.2)
            received = 0
            while received < 65536:
                piece = connection.recv(65536)
                assert piece
                received += len(piece)


def test_one_connection_too_many_closes_one_whose_client_does_not_read(
    physics_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wikigr.server.server.MAX_CONNECTIONS", 2)
    monkeypatch.setattr("wikigr.server.connections.STALL_TIME_LIMIT", 60)
    with running(physics_pack) as server, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(connect_with_unread_responses(server))
        # Their first responses still fit in the buffers.
        time.sleep(2)
        served = 0
        until = time.monotonic() + 20
        while served < 4 and time.monotonic() < until:
            time.sleep(0.05)
            connection = stack.enter_context(connect(server))
            with suppress(ConnectionResetError, BrokenPipeError):
                connection.sendall(REQUEST)
                served += b"200 OK" in connection.recv(65536)
        assert served == 4


def test_a_pipeline_is_read_no_further_than_its_first_unanswered_request(
    physics_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wikigr.server.connections.STALL_TIME_LIMIT", 60)
    received = []
    receive = h11.Connection.receive_data

    def note(connection: h11.Connection, data: bytes) -> None:
        received.append(len(data))
        receive(connection, data)

    monkeypatch.setattr(h11.Connection, "receive_data", note)
    with running(physics_pack) as server, connect_with_unread_responses(server) as connection:
        connection.settimeout(1)
        with pytest.raises(TimeoutError):
            while True:
                connection.sendall(ARTICLE * 1000)
        # Less than a hundred responses fit in the buffers; asyncio reads 256 KB at a time.
        assert sum(received) < 2 << 20
