"""One request to a server: URLs, redirects, addresses, certificates and statuses."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.distribution.file_server import FileServer, Handler, fetch_file, make_certificates, serving

from wikigr.distribution import download
from wikigr.distribution.addresses import AddressError
from wikigr.distribution.http_request import DownloadError, parse_url, redact_url
from wikigr.errors import UsageError

CONTENT = random.Random(1).randbytes(70_000)
MOST = 10_000_000


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving() as found:
        found.files["/p.wikigr"] = CONTENT
        yield found


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_FIRST_PAUSE", 0.0)


def fetch(server: FileServer, folder: Path, path: str = "/p.wikigr") -> Path:
    return fetch_file(server.url(path), folder, max_bytes=MOST, allow_private=True)


def test_a_request_carries_only_its_own_headers(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    headers = {"Location": "/p.wikigr", "Set-Cookie": "token=secret; Path=/"}
    server.behaviors["/a"] = lambda request: request.reply(302, headers=headers)
    assert fetch(server, tmp_path / "d", "/a").read_bytes() == CONTENT
    for _, sent in server.requests:
        assert set(sent) == {"Host", "User-Agent", "Accept-Encoding", "Connection"}


def test_the_path_and_the_query_are_sent_as_written(server: FileServer, tmp_path: Path) -> None:
    path = "/p%20q;v=1?a=b%2Fc&d='e'&f=%2520"
    server.files[path] = CONTENT
    assert fetch(server, tmp_path, f"{path}#part").read_bytes() == CONTENT
    assert server.requests[0][0] == path


def test_the_next_address_of_a_host_is_tried(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def two_addresses(host: str, port: int, *rest: Any, real: Any = socket.getaddrinfo, **named: Any) -> Any:
        return [entry for name in ("127.0.0.2", host) for entry in real(name, port, *rest, **named)]

    monkeypatch.setattr(socket, "getaddrinfo", two_addresses)
    assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert len(server.requests) == 1


def test_redirects_are_followed_with_the_request_headers(server: FileServer, tmp_path: Path) -> None:
    server.behaviors["/a"] = lambda request: request.reply(302, headers={"Location": "b?x=1"})
    server.behaviors["/b?x=1"] = lambda request: request.reply(307, headers={"Location": server.url("/p.wikigr")})
    assert fetch(server, tmp_path, "/a").read_bytes() == CONTENT
    assert [path for path, _ in server.requests] == ["/a", "/b?x=1", "/p.wikigr"]


def _redirect(target: str, request: Handler) -> None:
    request.reply(302, headers={"Location": target})


def test_the_users_url_may_be_private_and_a_redirect_may_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority, certificate = make_certificates(tmp_path, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    with serving(certificate=certificate) as server:
        server.files["/p.wikigr"] = CONTENT
        assert fetch_file(server.url("/p.wikigr", "localhost"), tmp_path, max_bytes=MOST).read_bytes() == CONTENT
        for target in ("/p.wikigr", server.url("/p.wikigr"), server.url("/p.wikigr", "localhost")):
            server.requests.clear()
            server.behaviors["/a"] = partial(_redirect, target)
            with pytest.raises(AddressError, match="not an address of the public internet") as caught:
                fetch_file(server.url("/a", "localhost"), tmp_path, max_bytes=MOST)
            assert "--allow-private" in (caught.value.hint or "")
            assert [path for path, _ in server.requests] == ["/a"]


@pytest.mark.parametrize(
    ("status", "headers", "message", "hint"),
    [
        (404, {}, "does not exist", "Check the URL"),
        (401, {}, "requires permission", "instead of the URL"),
        (418, {}, "status 418", "instead of the URL"),
        (200, {"Content-Type": "text/html; charset=utf-8"}, "web page", "raw"),
        (200, {"Content-Encoding": "gzip"}, "encoding that was not requested", "instead of the URL"),
        (500, {}, "status 500", "again later"),
        (302, {}, "redirects without a target", "instead of the URL"),
    ],
)
def test_a_response_that_is_not_a_file_is_an_error_with_a_hint(
    server: FileServer, tmp_path: Path, status: int, headers: dict[str, str], message: str, hint: str
) -> None:
    server.behaviors["/p.wikigr"] = lambda request: request.reply(status, b"x", headers)
    with pytest.raises(DownloadError, match=message) as caught:
        fetch(server, tmp_path)
    assert hint in (caught.value.hint or "")


def test_tls_is_verified_against_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority, certificate = make_certificates(tmp_path, "localhost")
    with serving(certificate=certificate) as server:
        server.files["/p.wikigr"] = CONTENT
        named, addressed = server.url("/p.wikigr", "localhost"), server.url("/p.wikigr")
        with pytest.raises(DownloadError, match="no certificate that can be trusted"):
            fetch_file(named, tmp_path, max_bytes=MOST, allow_private=True)
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        assert fetch_file(named, tmp_path, max_bytes=MOST, allow_private=True).read_bytes() == CONTENT
        assert server.requests[-1][1]["Host"] == f"localhost:{server.server_port}"
        with pytest.raises(DownloadError, match="no certificate that can be trusted"):
            fetch_file(addressed, tmp_path, max_bytes=MOST, allow_private=True)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
        with pytest.raises(DownloadError, match="Cannot read the trusted certificates"):
            fetch_file(named, tmp_path, max_bytes=MOST, allow_private=True)


def test_a_url_of_another_kind_is_a_usage_error(subtests: pytest.Subtests) -> None:
    for url in [
        "ftp://h/p",
        "file:///etc/passwd",
        "https://",
        "https:///p",
        "https://u:p@h/p",
        "https://u@h/p",
        "https://h/a b",
        "https://h/\r\nHost: x",
        "https://h:99999/p",
        "https://[::1/p",
        "https://h\\@e/p",
        "https://é.example/",
    ]:
        with subtests.test(url=url):
            with pytest.raises(UsageError) as caught:
                parse_url(url)
            assert "u:p" not in caught.value.message


def test_a_redacted_url_has_no_secret() -> None:
    assert redact_url("https://u:p@h.example:8443/a/b?token=1#x") == "https://h.example:8443/a/b"
