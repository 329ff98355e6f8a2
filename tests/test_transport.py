"""Deadlines and limits of the transport, on real sockets."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from tests.distribution.file_server import Handler, make_certificates, serving
from tests.scripted_server import CHUNKED, ERROR, JSON, OK, Behavior, drips, floods, playing, reply, sends, stays
from tests.waiting import until

from wikigr import transport as module
from wikigr.transport import BodyTooLargeError, Exchange, Transport

SECONDS = 0.3
# For what must not run into the deadline, even on a busy machine.
PATIENT = 60.0


def get(url: str, seconds: float = SECONDS) -> httpx2.Request:
    return httpx2.Request("GET", url, extensions={"timeout": httpx2.Timeout(seconds).as_dict()})


def read(transport: Transport, url: str, seconds: float = SECONDS) -> bytes:
    with transport:
        response = transport.handle_request(get(url, seconds))
        try:
            return response.read()
        finally:
            response.close()


def deadline_threads() -> int:
    return sum(thread.name == "deadline" for thread in threading.enumerate())


@pytest.mark.parametrize(
    "behavior",
    [
        stays(),
        drips(OK, b"X: y\r\n"),
        drips(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        drips(OK + CHUNKED + b"\r\n1;", b"x"),
        drips(OK + b"\r\n", b"x"),
        # It ends the body as the shutdown does, which must not pass for a complete one.
        stays(OK + b"\r\nhalf a body"),
        drips(ERROR + b"\r\n", b"x"),
    ],
)
def test_a_response_ends_at_the_deadline(behavior: Behavior) -> None:
    with playing(behavior) as server:
        with pytest.raises(httpx2.ReadTimeout):
            read(Transport(), server.url)
        assert not server.closing.is_set()


def test_the_deadline_can_be_postponed_but_not_advanced(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    exchange = Exchange(SECONDS, None)
    exchange.extend(1)
    exchange.extend(0)
    now += 0.9
    # The timer looks at the clock after SECONDS.
    time.sleep(SECONDS * 2)
    assert exchange.remaining and not exchange.expired
    now += 0.2
    until(lambda: exchange.expired)


def test_no_timer_is_left() -> None:
    with playing(sends(reply(OK))) as server, playing(stays()) as silent:
        read(Transport(), server.url, PATIENT)
        with pytest.raises(httpx2.ReadTimeout):
            read(Transport(), silent.url)
        with pytest.raises(httpx2.ConnectError):
            read(Transport(resolve=lambda *_: []), server.url, PATIENT)
    until(lambda: deadline_threads() == 0)


@pytest.mark.parametrize("limit", [100, 1_000])
def test_a_body_is_limited(limit: int) -> None:
    with playing(sends(reply(OK, b"x" * 500))) as server:
        if limit < 500:
            with pytest.raises(BodyTooLargeError):
                read(Transport(max_body=limit), server.url, PATIENT)
        else:
            assert read(Transport(max_body=limit), server.url, PATIENT) == b"x" * 500


def test_the_body_of_an_error_is_cut_off() -> None:
    with playing(floods(ERROR + b"\r\n", b"x")) as server:
        assert read(Transport(), server.url, PATIENT) == b"x" * module._MAX_ERROR_BYTES


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "br", "zstd", "deflate", "gzip, gzip", "x"])
def test_a_compressed_body_is_not_read(coding: str) -> None:
    encoded = f"Content-Encoding: {coding}\r\n".encode()
    with playing(sends(reply(OK + encoded))) as server, pytest.raises(httpx2.DecodingError, match="compressed"):
        read(Transport(), server.url, PATIENT)
    with playing(sends(reply(ERROR + encoded))) as server:
        assert read(Transport(), server.url, PATIENT) == b""


def test_the_bytes_before_the_body_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\n\r\n"
    with playing(sends(hints * 100 + reply(OK))) as server:
        assert read(Transport(), server.url, PATIENT)
        monkeypatch.setattr(module, "_MAX_HEAD_BYTES", 1_000)
        with pytest.raises(httpx2.RemoteProtocolError, match="headers are too long"):
            read(Transport(), server.url, PATIENT)


def test_a_connection_serves_one_request() -> None:
    with playing(sends(reply(OK, b"1"), reply(OK, b"2"))) as server, Transport() as transport:
        for _ in range(3):
            response = transport.handle_request(get(server.url, PATIENT))
            assert response.read() == b"1"
            response.close()
        assert server.connections == 3


def test_the_addresses_of_the_resolver_are_tried_in_order() -> None:
    asked: list[tuple[str, int]] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return ["127.0.0.2", "127.0.0.1"]

    with playing(sends(reply(OK, b"x"))) as server:
        assert read(Transport(resolve=resolve), f"http://host.example:{server.port}", PATIENT) == b"x"
        assert asked == [("host.example", server.port)]
        assert f"host: host.example:{server.port}".encode() in server.requests[0].lower()


def test_an_unknown_host_is_a_connection_error() -> None:
    for host in ("nothing.invalid", "a" * 64 + ".example"):
        with pytest.raises(httpx2.ConnectError):
            read(Transport(), f"http://{host}/", 10)


def test_a_resolver_that_stalls_does_not_outlast_the_deadline() -> None:
    stalled = threading.Event()
    with pytest.raises(httpx2.ConnectTimeout, match="not resolved in time"):
        read(Transport(resolve=lambda *_: [str(stalled.wait())]), "http://host.example")
    stalled.set()


def test_an_address_needs_no_resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    with playing(sends(reply(OK, b"x"))) as server:
        monkeypatch.setattr(module, "_call_in_thread", lambda *_: pytest.fail("it was resolved"))
        assert read(Transport(), server.url, PATIENT) == b"x"


def test_tls_is_verified_against_the_host_and_ends_at_the_deadline(tmp_path: Path) -> None:
    authority, certificate = make_certificates(tmp_path, "host.example")
    trusted = ssl.create_default_context(cafile=str(authority))

    def transport() -> Transport:
        return Transport(resolve=lambda *_: ["127.0.0.1"], ssl_context=trusted)

    with serving(certificate=certificate) as server:
        server.files["/p"] = b"content"
        stall = threading.Event()

        def stalls(request: Handler) -> None:
            request.wfile.write(OK + JSON + b"\r\nhalf")
            stall.wait(PATIENT)

        server.behaviors["/slow"] = stalls
        url = f"https://host.example:{server.server_port}"
        assert read(transport(), f"{url}/p", PATIENT) == b"content"
        with pytest.raises(httpx2.ReadTimeout):
            read(transport(), f"{url}/slow", 1)
        stall.set()
        with pytest.raises(httpx2.ConnectError, match="certificate"):
            read(transport(), url.replace("host", "other"), PATIENT)
    with playing(mute=True) as mute, pytest.raises(httpx2.ReadTimeout):
        read(transport(), f"https://host.example:{mute.port}")


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_no_socket_is_left_open() -> None:
    opened = Path("/proc/self/fd")
    if not opened.exists():
        pytest.skip("needs /proc")
    with playing(mute=True) as mute, playing(sends(reply(OK))) as server:
        read(Transport(), server.url, PATIENT)
        before = sum(1 for _ in opened.iterdir())
        for _ in range(10):
            with pytest.raises(httpx2.TimeoutException):
                read(Transport(), f"https://127.0.0.1:{mute.port}", 0.1)
            read(Transport(), server.url, PATIENT)
        # The server holds its own ends of the ten connections that it never reads.
        assert sum(1 for _ in opened.iterdir()) <= before + 10 + 2


def test_a_refused_connection_is_a_connection_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(httpx2.ConnectError, match="refused"):
        read(Transport(), f"http://127.0.0.1:{port}", PATIENT)
