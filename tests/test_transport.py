"""Deadlines and limits of the transport, on real sockets."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.distribution.file_server import Handler, make_certificates, serving
from tests.scripted_server import CHUNKED, ERROR, JSON, OK, Behavior, drips, floods, playing, reply, sends, stays

from wikigr import transport as module
from wikigr.transport import Transport

SECONDS = 0.3
# For what must not run into the deadline, even on a busy machine.
PATIENT = 60.0


def read(url: str, seconds: float = PATIENT, **options: Any) -> bytes:
    with Transport(seconds, **options) as transport:
        response = transport.handle_request(httpx2.Request("GET", url))
        try:
            body = response.read()
        finally:
            response.close()
    if transport.refused:
        raise ValueError(transport.refused)
    return body


@pytest.mark.parametrize(
    "behavior",
    [
        stays(),
        drips(OK, b"X: y\r\n"),
        drips(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        drips(OK + CHUNKED + b"\r\n1;", b"x"),
        drips(OK + b"\r\n", b"x"),
        stays(OK + b"\r\nhalf a body"),
        drips(ERROR + b"\r\n", b"x"),
    ],
)
def test_a_response_ends_at_the_deadline(behavior: Behavior) -> None:
    for options in ({"seconds": SECONDS}, {"deadline": time.monotonic() + 2 * SECONDS}):
        with playing(behavior) as server:
            with pytest.raises(httpx2.ReadTimeout):
                read(server.url, **options)
            assert not server.closing.is_set()


def test_the_end_can_be_postponed_but_not_advanced_nor_beyond_the_deadline() -> None:
    with playing(drips(OK + b"\r\n", b"x")) as server:
        started = time.monotonic()
        with Transport(1.0, deadline=started + 2.0) as transport:
            response = transport.handle_request(httpx2.Request("GET", server.url))
            assert response.extensions["transport"] is transport
            transport.extend(PATIENT)
            transport.extend(0)
            with pytest.raises(httpx2.ReadTimeout):
                response.read()
            assert time.monotonic() - started > 1.9
            response.close()
            with pytest.raises(httpx2.ReadTimeout):
                transport.handle_request(httpx2.Request("GET", server.url))


def test_a_body_is_limited() -> None:
    with playing(sends(reply(OK, b"x" * 500))) as server:
        with pytest.raises(ValueError, match="too long"):
            read(server.url, max_body=100)
        assert read(server.url, max_body=500) == b"x" * 500


def test_the_body_of_an_error_is_cut_off() -> None:
    with playing(floods(ERROR + b"\r\n", b"x")) as server:
        assert read(server.url) == b"x" * module._MAX_ERROR_BYTES


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "zstd", "gzip, gzip", "x"])
def test_a_compressed_body_is_not_read(coding: str) -> None:
    encoded = f"Content-Encoding: {coding}\r\n".encode()
    with playing(sends(reply(OK + encoded))) as server, pytest.raises(ValueError, match="compressed"):
        read(server.url)
    with playing(sends(reply(ERROR + encoded))) as server:
        assert read(server.url) == b""


def test_the_bytes_before_the_body_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\n\r\n"
    with playing(sends(hints * 100 + reply(OK))) as server:
        assert read(server.url)
        monkeypatch.setattr(module, "_MAX_HEAD_BYTES", 1_000)
        with pytest.raises(httpx2.RemoteProtocolError, match="headers are too long"):
            read(server.url)


def test_a_connection_serves_one_request() -> None:
    with playing(sends(reply(OK, b"1"), reply(OK, b"2"))) as server, Transport(PATIENT) as transport:
        for _ in range(3):
            response = transport.handle_request(httpx2.Request("GET", server.url))
            assert response.read() == b"1"
            response.close()
        assert server.connections == 3


def test_the_addresses_of_the_resolver_are_tried_in_order() -> None:
    asked: list[tuple[str, int]] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return ["127.0.0.2", "127.0.0.1"]

    with playing(sends(reply(OK, b"x"))) as server:
        assert read(f"http://host.example:{server.port}", resolve=resolve) == b"x"
        assert asked == [("host.example", server.port)]
        assert f"host: host.example:{server.port}".encode() in server.requests[0].lower()


def test_a_host_that_cannot_be_reached_is_a_connection_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for host in ("nothing.invalid", "a" * 64 + ".example", f"127.0.0.1:{port}"):
        with pytest.raises(httpx2.ConnectError):
            read(f"http://{host}/", 10)


def test_a_resolver_that_stalls_does_not_outlast_the_deadline() -> None:
    stalled = threading.Event()
    with pytest.raises(httpx2.ConnectTimeout, match="not resolved in time"):
        read("http://host.example", SECONDS, resolve=lambda *_: [str(stalled.wait())])
    stalled.set()


def test_an_address_needs_no_resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    with playing(sends(reply(OK, b"x"))) as server:
        monkeypatch.setattr(module, "_call_in_thread", lambda *_: pytest.fail("it was resolved"))
        assert read(server.url) == b"x"


def test_tls_is_verified_against_the_host_and_ends_at_the_deadline(tmp_path: Path) -> None:
    authority, certificate = make_certificates(tmp_path, "host.example")
    options: dict[str, Any] = {
        "resolve": lambda *_: ["127.0.0.1"],
        "ssl_context": ssl.create_default_context(cafile=str(authority)),
    }
    with serving(certificate=certificate) as server:
        server.files["/p"] = b"content"
        stall = threading.Event()

        def stalls(request: Handler) -> None:
            request.wfile.write(OK + JSON + b"\r\nhalf")
            stall.wait(PATIENT)

        server.behaviors["/slow"] = stalls
        url = f"https://host.example:{server.server_port}"
        assert read(f"{url}/p", **options) == b"content"
        with pytest.raises(httpx2.ReadTimeout):
            read(f"{url}/slow", 1, **options)
        stall.set()
        for other, changed in (
            (url.replace("host", "other"), options),
            (url, {**options, "ssl_context": None}),
        ):
            with pytest.raises(httpx2.ConnectError, match="certificate"):
                read(other, **changed)
    with playing(mute=True) as mute, pytest.raises(httpx2.TimeoutException):
        read(f"https://host.example:{mute.port}", SECONDS, **options)


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_no_socket_is_left_open() -> None:
    opened = Path("/proc/self/fd")
    if not opened.exists():
        pytest.skip("needs /proc")
    with playing(mute=True) as mute, playing(sends(reply(OK))) as server:
        read(server.url)
        before = sum(1 for _ in opened.iterdir())
        for _ in range(10):
            with pytest.raises(httpx2.TimeoutException):
                read(f"https://127.0.0.1:{mute.port}", 0.1)
            read(server.url)
        # The server holds its own ends of the ten connections that it never reads.
        assert sum(1 for _ in opened.iterdir()) <= before + 10 + 2
