"""The process that serves: its limit on connections, and how it stops."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import Blocked, Running, running
from tests.waiting import until

from wikigr.server.app import listen
from wikigr.server.workers import Workers

ASK = b"GET /api/ask?question=a HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"


def connect(server: Running, sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    connection.sendall(sent)
    return connection


def test_one_connection_too_many_is_refused(physics_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikigr.server.app.MAX_CONNECTIONS", 3)
    with running(physics_pack) as server:
        with connect(server), connect(server), connect(server):
            assert server.client.get("/healthz").status_code == 503
        until(lambda: server.client.get("/healthz").status_code == 200)


def test_connections_far_above_the_limit_are_dropped(physics_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikigr.server.app.MAX_CONNECTIONS", 4)
    with running(physics_pack) as server, ExitStack() as stack:
        opened = [stack.enter_context(connect(server)) for _ in range(12)]
        time.sleep(0.5)
        dropped = 0
        for connection in opened:
            connection.settimeout(0.2)
            try:
                dropped += connection.recv(1) == b""
            except ConnectionError:
                dropped += 1
            except TimeoutError:
                pass
        assert 4 <= dropped <= 8


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_every_address_includes_those_of_ipv4() -> None:
    with listen("::", 0) as listener, socket.create_connection(("127.0.0.1", listener.getsockname()[1]), timeout=10):
        pass


def test_a_server_that_stops_answers_what_is_under_way(physics_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(physics_pack) as server:
        found: list[int] = []
        arrived: list[object] = []
        run = Workers.run

        async def counted(workers: Workers, *arguments: Any) -> Any:
            arrived.append(arguments)
            return await run(workers, *arguments)

        monkeypatch.setattr(Workers, "run", counted)

        def ask() -> None:
            found.append(server.client.get("/api/ask", params={"question": "What is spin?"}).status_code)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        until(lambda: len(arrived) == 4)
        server.stop()
        for thread in threads:
            thread.join()
        assert found == [200] * 4


@pytest.mark.parametrize("request_", [ASK, ASK.replace(b"text/event-stream", b"*/*")])
def test_a_request_that_is_cut_off_ends_without_a_log(
    request_: bytes,
    physics_pack: Path,
    monkeypatch: pytest.MonkeyPatch,
    blocked: Blocked,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("wikigr.server.app.GRACE", 0.5)
    with running(physics_pack) as server, connect(server, request_) as connection:
        assert blocked.started.wait(60)
        begun = time.monotonic()
        server.stop()
        assert time.monotonic() - begun < 5
        received = b""
        while piece := connection.recv(65536):
            received += piece
        assert blocked.ended.wait(30)
    assert received.startswith(b"HTTP/1.1 200" if request_ == ASK else b"HTTP/1.1 500")
    assert not capfd.readouterr().err
