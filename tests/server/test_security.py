"""What the server refuses, and how it protects a browser and itself."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.llm.server import MessagesServer, never
from tests.server.conftest import Blocked, Build, Running, running

from wikigr.embeddings.embedder import Embedder
from wikigr.errors import UsageError
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.server.security import MAX_BODY_BYTES, check_allowed_hosts, check_binding
from wikigr.sources.detect import open_source

TOKEN = "0123456789abcdef-token"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:1", "localhost:8642", "LOCALHOST", "[::1]:8642"])
def test_the_names_of_this_machine_are_its_own(physics: Running, host: str) -> None:
    assert physics.client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1", "", "[", "localhost:port", "@"],
)
def test_another_name_is_refused(physics: Running, host: str) -> None:
    for path in ("/healthz", "/api/packs", "/mcp"):
        response = physics.client.get(path, headers={"Host": host})
        assert response.status_code == 400, path


def test_a_page_of_another_site_is_refused(physics: Running) -> None:
    own = f"http://127.0.0.1:{physics.port}"
    for headers, status in (
        ({"Origin": own}, 200),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": f"http://localhost:{physics.port}"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
        # A link to the API would still call a model.
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403),
    ):
        response = physics.client.get("/api/packs", headers=headers)
        assert response.status_code == status, headers
        assert "access-control-allow-origin" not in response.headers
    visit = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert physics.client.get("/healthz", headers=visit).status_code == 200


def test_every_response_protects_a_browser(physics: Running) -> None:
    for path, headers in (
        ("/api/packs", {}),
        ("/nothing", {}),
        ("/api/ask", {}),
        ("/mcp", {}),
        ("/healthz", {"Host": "x"}),
    ):
        found = physics.client.get(path, headers=headers).headers
        assert "default-src 'none'" in found["content-security-policy"], path
        assert "unsafe" not in found["content-security-policy"]
        assert found["x-content-type-options"] == "nosniff" and found["x-frame-options"] == "DENY"
        assert found["referrer-policy"] == "no-referrer"


def test_a_large_body_is_refused(physics: Running) -> None:
    large = b'{"question": "' + b"x" * MAX_BODY_BYTES + b'"}'

    def pieces() -> Iterator[bytes]:
        # Without a length, the body comes in chunks.
        for start in range(0, len(large), 4096):
            yield large[start : start + 4096]

    for path in ("/api/ask", "/mcp"):
        assert physics.client.post(path, content=large).status_code == 413
        assert physics.client.post(path, content=pieces()).status_code == 413
    assert physics.get("/healthz")["status"] == "ok"


def test_another_address_needs_a_token() -> None:
    for host in ("127.0.0.1", "localhost", "::1", "[::1]", "127.8.8.8"):
        check_binding(host, None)
    for host in ("0.0.0.0", "::", "192.168.1.5", "example.org", ""):
        with pytest.raises(UsageError, match="Without a token"):
            check_binding(host, None)
        check_binding(host, TOKEN)
    with pytest.raises(UsageError, match="too short"):
        check_binding("0.0.0.0", "secret")


def test_a_token_that_no_header_can_hold_is_refused() -> None:
    for token in (
        "pässwort-mit-umlauten",
        "sixteen and blanks",
        "0123456789abcdef\n",
        "0123456789abcdef\x7f",
        "🂡" * 16,
    ):
        with pytest.raises(UsageError, match="characters that a header cannot hold"):
            check_binding("127.0.0.1", token)
    check_binding("127.0.0.1", '!0123456789abcdef~;,"\\=')


def test_the_address_of_the_server_is_its_own(physics_pack: Path) -> None:
    with running(physics_pack, host="127.0.0.2") as server:
        assert server.client.get("/healthz", headers={"Host": "127.0.0.2:1"}).status_code == 200
        assert server.client.get("/healthz", headers={"Host": "127.0.0.3"}).status_code == 400


def test_a_proxy_with_another_name(physics_pack: Path) -> None:
    with running(physics_pack, allowed_hosts=["Wiki.example.com"], token=TOKEN) as server:
        for host, status in (("wiki.example.com", 200), ("wiki.example.com:443", 200), ("example.com", 400)):
            assert server.client.get("/healthz", headers={"Host": host}).status_code == status
        proxy = {"Host": "wiki.example.com", "Origin": "https://wiki.example.com"}
        assert server.client.get("/healthz", headers=proxy).status_code == 200
        for scheme, secure in (("https", True), ("http", False)):
            headers = {"X-Forwarded-Proto": scheme, "Authorization": f"Bearer {TOKEN}"}
            visit = server.client.post("/api/session", headers=headers)
            assert ("; secure" in visit.headers["set-cookie"].lower()) is secure
    check_allowed_hosts(["wiki.example.com", "WIKI", "10.0.0.1"])
    for name in ("", "https://wiki.example.com", "wiki:443", "wiki/", "a b/c", "[", "user@wiki"):
        with pytest.raises(UsageError, match="is not the name of a host"):
            check_allowed_hosts([name])


def test_clients_on_other_machines_learn_no_path(tmp_path: Path, encoder: Embedder) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "kettle.md").write_text("# Kettle\n\nThe kettle is made of copper.\n")
    pack = tmp_path / "kitchen"
    build_pack(open_source(notes), str(notes), pack, encoder, BuildOptions(name="kitchen"))
    paths = (
        *("/api/ask?question=What+is+the+kettle+made+of?&explain=1", "/api/search?question=kettle", "/api/packs"),
        *("/api/articles/Kettle", "/api/sections/Kettle%230", "/api/read/Kettle", "/api/titles", "/api/server", "/"),
    )
    with running(pack, originals=notes) as server:
        # On this machine, they are useful.
        assert server.get("/api/search", question="kettle")["results"][0]["url"].startswith("file://")
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with running(pack, host="0.0.0.0", token=TOKEN, originals=notes) as server:
        for path in paths:
            response = server.client.get(path, headers=headers)
            assert response.status_code == 200 and str(tmp_path) not in response.text, path


def test_a_token_is_needed_everywhere(physics_pack: Path) -> None:
    with running(physics_pack, token=TOKEN) as server:
        client = server.client
        for path in ("/api/packs", "/mcp", "/nothing", "/static", "/api/original/Spin%230"):
            refused = client.get(path)
            assert refused.status_code == 401 and refused.headers["www-authenticate"] == "Bearer"
            assert TOKEN not in refused.text
        for wrong in ("", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \xff"):
            headers = {"Authorization": wrong.encode("latin-1")}
            assert client.get("/api/packs", headers=headers).status_code == 401, wrong  # type: ignore[arg-type]
        assert client.get("/api/packs", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert client.get("/healthz").status_code == 200
        # The page itself holds nothing. It sends the token once, never in an address, and then has a cookie.
        for path in ("/", "/static/app.js"):
            assert client.get(path).status_code == 200
        for path in (f"/api/packs?token={TOKEN}", f"/static/../api/packs?token={TOKEN}", "//static/", "//api/packs"):
            assert b"HTTP/1.1 200" not in _get(server.port, path)
        assert client.post("/api/session").status_code == 401
        visit = client.post("/api/session", headers={"Authorization": f"Bearer {TOKEN}"})
        assert visit.status_code == 204
        cookie = visit.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie
        client.cookies.clear()
        sent = {"Cookie": f"wikigr_token={TOKEN}"}
        assert client.get("/api/packs", headers=sent).status_code == 200


class _Opened:
    """The files that this process opens or lists while a test watches. CPython does not audit ``os.stat``."""

    def __init__(self) -> None:
        self.watching = False
        self.paths: list[str] = []

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.watching and event in ("open", "os.listdir", "os.scandir"):
            self.paths.append(str(arguments[0]))


_OPENED = _Opened()
_PARTS = (
    *("..", "../", "..\\", "/", "//", "\\", "%2e%2e%2f", "%252e%252e%252f", "..%c0%af", "etc/passwd", "manifest.json"),
    *("\x00", "pack.db", "~", "~root", "file:///etc/passwd", "C:\\", "\\\\host\\share", "Spin", "#", "#1", "?", "&"),
    *("${HOME}", "$(id)", "`id`", "'", '"', ";", "MATCH (n) RETURN n", "\r\n", "\u202e", "🂡", "\ud800", "é", "e\u0301"),
    *("/proc/self/environ", "fuzzmark", ".", " ", "enhanced.yaml", "\uffff", "a" * 900),
)
# What every planted file contains: a response with it shows that a file was read.
_CANARY = "canary-7f3a"


def _plant(folder: Path, pack: Path) -> list[str]:
    """Plant a profile, a pack and a run that a lookup in the file system would find; return names for them."""
    folder.mkdir()
    profile, copy, run = folder / "fuzzmark.yaml", folder / "fuzzmark", folder / "fuzzmark-run"
    profile.write_text(f"extends: fast\ndescription: {_CANARY}\n")
    shutil.copytree(pack, copy)
    manifest = copy / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "description": _CANARY, "name": _CANARY}))
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"name": _CANARY}))
    (folder / "fuzzmark.txt").write_text(_CANARY)
    real = [str(path) for path in (profile, copy, copy / "pack.db", manifest, run, run / "run.json")]
    real.append(str(folder / "fuzzmark.txt"))
    real += [f"../{folder.name}/{Path(path).relative_to(folder)}" for path in real]
    real += [os.path.relpath(path) for path in real if path.startswith("/")]
    return real + [f"file://{path}" for path in real]


def _fuzz(pack: Path, count: int, folder: Path) -> None:
    """Send ``count`` requests with hostile names; no planted file is read for them, and none crashes the server."""
    real = _plant(folder / "planted", pack)
    if not _OPENED.watching:
        sys.addaudithook(_OPENED)
    seeded = random.Random(20)
    statuses: set[int] = set()
    with running(pack, originals=folder) as server:
        assert b"angular momentum" in _call_tool(server, 0, "Spin")
        _OPENED.paths.clear()
        _OPENED.watching = True
        try:
            for number in range(count):
                name = "fuzzmark" + "".join(seeded.choices(_PARTS, k=seeded.randint(1, 5)))[:1200]
                name = seeded.choice(real) if seeded.random() < 0.3 else name
                raw = quote(name.encode("utf-8", "surrogatepass"), safe=seeded.choice(("", "/", "/.\\%")))
                path = seeded.choice(
                    (
                        *(f"/api/articles/{raw}", f"/api/sections/{raw}", f"/api/articles/Spin?pack={raw}"),
                        *(f"/api/search?question=spin&profile={raw}", f"/api/neighbors?name={raw}"),
                        *(f"/api/neighbors?name=Spin&relation={raw}", f"/api/paths?from=Spin&to={raw}"),
                        *(f"/api/paths?from=Spin&metapath={raw}", f"/{raw}", f"/mcp/{raw}", f"/static/{raw}"),
                        *(f"/api/read/{raw}", f"/api/read/Spin?section={raw}", f"/api/titles?text={raw}"),
                        *(f"/api/original/{raw}", f"/api/original/Spin%230?pack={raw}", "mcp"),
                    )
                )
                answer = _call_tool(server, number, name) if path == "mcp" else _get(server.port, path)
                assert _CANARY.encode() not in answer, path
                statuses.add(int(answer.split(b" ", 2)[1]))
        finally:
            _OPENED.watching = False
        assert statuses <= {200, 307, 400, 404, 405}, statuses
        assert [path for path in _OPENED.paths if "fuzzmark" in path or "passwd" in path] == []
        assert server.get("/api/articles/Spin")["title"] == "Spin"


def _call_tool(server: Running, number: int, name: str) -> bytes:
    """Return the response to a call of a tool of the Model Context Protocol."""
    tool, arguments = (
        ("article", {"title": name}),
        ("article", {"title": "Spin", "pack": name}),
        ("read_section", {"section_id": f"{name}#1"}),
        ("search", {"question": "spin", "profile": name}),
    )[number % 4]
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    response = server.client.post(
        "/mcp",
        content=json.dumps(message),
        headers={"Accept": "application/json, text/event-stream", "Content-Type": "application/json"},
    )
    return f"HTTP/1.1 {response.status_code} \r\n".encode() + response.content


def _get(port: int, path: str) -> bytes:
    """Return the response to a request that is sent as it is; clients would normalize the path."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


def test_hostile_names_reach_no_file(physics_pack: Path, tmp_path: Path) -> None:
    _fuzz(physics_pack, 40, tmp_path)


@pytest.mark.trust
def test_ten_thousand_hostile_names_reach_no_file(physics_pack: Path, tmp_path: Path) -> None:
    _fuzz(physics_pack, 10_000, tmp_path)


def test_slow_clients_do_not_block_others(physics: Running) -> None:
    stalled = []
    try:
        for number in range(120):
            connection = socket.create_connection(("127.0.0.1", physics.port))
            start = b"POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"
            connection.sendall(start[: 20 if number % 2 else None])
            stalled.append(connection)
        assert physics.get("/api/articles/Spin")["title"] == "Spin"
        assert physics.get("/api/ask", question="What is spin?")["answer"]
    finally:
        for connection in stalled:
            connection.close()


@pytest.mark.parametrize(("address", "pause", "then"), [("127.0.0.2", 3_600, b""), ("127.0.0.3", 0, b"HTTP/1.1 200")])
def test_a_client_that_reads_nothing_is_cut_off_and_waits(
    physics: Running, monkeypatch: pytest.MonkeyPatch, address: str, pause: float, then: bytes
) -> None:
    monkeypatch.setattr("wikigr.server.app._PAUSE", pause)
    request = b"GET /api/articles/Albert%20Einstein HTTP/1.1\r\nHost: localhost\r\n\r\n"
    connect = partial(socket.create_connection, ("127.0.0.1", physics.port), 60, (address, 0))
    # Far more than the buffers of the two sockets hold.
    with connect() as connection, pytest.raises(ConnectionError):
        for _ in range(1_000):
            connection.sendall(request * 1_000)
    received = b""
    with connect() as connection, suppress(ConnectionError):
        connection.sendall(request)
        received = connection.recv(12)
    assert received == then
    assert physics.get("/healthz")["status"] == "ok"


def test_a_few_requests_ahead_are_answered(physics: Running) -> None:
    with socket.create_connection(("127.0.0.1", physics.port), timeout=60) as connection:
        connection.sendall(b"GET /api/articles/Albert%20Einstein HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
        received = b""
        while received.count(b"HTTP/1.1 200 OK") < 20:
            received += (more := connection.recv(1 << 16))
            assert more, received[-200:]


def test_a_body_that_does_not_arrive_is_given_up(physics: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikigr.server.security.BODY_TIME_LIMIT", 0.1)
    with socket.create_connection(("127.0.0.1", physics.port), timeout=60) as connection:
        connection.sendall(b"POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
        assert b"408" in connection.recv(65536).split(b"\r\n")[0]


def test_a_client_that_disconnects_frees_its_thread(physics_pack: Path, blocked: Blocked) -> None:
    path = "/api/ask?question=What+is+spin"
    with running(physics_pack, threads=1, waiting=0) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert blocked.started.wait(60)
            assert server.client.get(path).status_code == 503
        assert blocked.ended.wait(30)
        while server.client.get("/api/search", params={"question": "spin"}).status_code == 503:
            time.sleep(0.01)


@pytest.mark.parametrize("path", ["/api/ask", "/api/search", "/mcp"])
def test_a_client_with_many_questions_does_not_block_others(
    physics_pack: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    begun, gate = threading.Semaphore(0), threading.Event()

    def held_up(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(pipeline: Pipeline, question: str, **options: Any) -> Any:
            if "long" in question:
                begun.release()
                gate.wait(60)
            return function(pipeline, question, **options)

        return run

    monkeypatch.setattr(Pipeline, "answer", held_up(Pipeline.answer))
    monkeypatch.setattr(Pipeline, "search", held_up(Pipeline.search))
    call = {"name": "ask", "arguments": {"question": "A long question?"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    body = json.dumps(message if path == "/mcp" else {"question": "A long question?"})
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    head += "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\r\n"
    with running(physics_pack, threads=3, waiting=5) as server, ExitStack() as stack:
        stack.callback(gate.set)
        for _ in range(20):
            asking = socket.create_connection(("127.0.0.1", server.port), source_address=("127.0.0.2", 0))
            stack.enter_context(asking).sendall((head + body).encode())
        assert all(begun.acquire(timeout=60) for _ in range(2))
        for _ in range(3):
            assert server.get("/api/ask", question="What is spin?")["answer"]


def test_a_model_that_hangs_does_not_block_reading(
    messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, build: Build
) -> None:
    kitchen = build(tmp_path / "kitchen", [("Kettle", "The kettle is made of copper."), ("Pan", "A pan. See Kettle.")])
    messages_server.always(never())
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    question = b"GET /api/ask?question=What+is+the+kettle+made+of HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with running(kitchen, offline=False) as server, ExitStack() as stack:
        for _ in range(6):
            asking = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            asking.sendall(question)
        while len(messages_server.requests) < 2:
            time.sleep(0.01)
        for path in ("/api/articles/Kettle", "/api/neighbors?name=Kettle", "/api/packs", "/", "/api/read/Kettle"):
            assert server.client.get(path).status_code == 200, path


@pytest.mark.parametrize(
    "head",
    [
        b'Cookie: x="' + b'\\"' * 60_000,
        b"Cookie: " + b'a="\\";' * 20_000,
        b"X-Long: " + b"x" * 120_000,
        b"X: y\r\n" * 10_000 + b"X: y",
    ],
)
def test_a_long_head_is_refused_before_it_is_parsed(physics: Running, head: bytes) -> None:
    assert b" 431 " in _send(physics.port, b"GET /api/packs HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n")[:20]


def test_a_long_address_is_refused(physics: Running) -> None:
    for target in (b"/" + b"a" * 40_000, b"/api/search?question=" + b"a" * 40_000):
        assert b" 431 " in _send(physics.port, b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")[:20]


def test_a_cookie_takes_linear_time(physics_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Its regular expression for what is quoted takes seconds for 20 KB.
    monkeypatch.delattr("starlette.requests.cookie_parser")
    token = '0123456789abcdef;"\\,='
    with running(physics_pack, token=token) as server:
        visit = server.client.post("/api/session", headers={"Authorization": f"Bearer {token}"})
        (cookie, *_) = visit.headers["set-cookie"].split(";")
        server.client.cookies.clear()
        for value in ('"' + '\\"' * 15_000, '"' + '\\"' * 15_000 + '"', "a=b;" * 7_000):
            assert server.client.get("/api/packs", headers={"Cookie": f"x={value}"}).status_code == 401
            assert server.client.get("/api/packs", headers={"Cookie": f"{cookie}; x={value}"}).status_code == 200


def test_a_host_that_is_none_is_refused(physics_pack: Path) -> None:
    with running(physics_pack, host="0.0.0.0", token=TOKEN) as server:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        assert server.client.get("/api/packs", headers={**headers, "Host": "any.example:80"}).status_code == 200
        for host in (
            *("evil.com@127.0.0.1", "127.0.0.1/evil", "127.0.0.1?x", "127.0.0.1#x", "localhost,evil"),
            *("localhost\\evil", "localhost:80:90", "localhost:", "local host", "[::1]x", "localhost:999999"),
            "%6cocalhost",
        ):
            assert server.client.get("/api/packs", headers={**headers, "Host": host}).status_code == 400, host


@pytest.mark.parametrize(
    "lengths",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: chunked\r\nContent-Length: 100",
        b"content-length: 0\r\nTRANSFER-ENCODING: chunked",
    ],
)
def test_an_ambiguous_body_closes_the_connection(physics: Running, lengths: bytes) -> None:
    second = b"GET /api/packs HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = _send(
        physics.port, b"POST /api/ask HTTP/1.1\r\nHost: localhost\r\n" + lengths + b"\r\n\r\n0\r\n\r\n" + second
    )
    assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1") == 1


def _send(port: int, request: bytes) -> bytes:
    """Return everything that the server answers until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer
