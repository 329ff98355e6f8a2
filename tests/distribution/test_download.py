"""Downloads: URLs, redirects, addresses, certificates, statuses, and what stays after a failure."""

from __future__ import annotations

import hashlib
import ipaddress
import multiprocessing
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.distribution.file_server import FileServer, Handler, fetch_file, make_certificates, serving

from wikigr.distribution import download as module
from wikigr.distribution.download import is_allowed, open_download, parse_url, redact_url, require_public, resolve
from wikigr.errors import UsageError, WikigrError

CONTENT = random.Random(1).randbytes(700_000)
MOST = 10_000_000


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving() as found:
        found.files["/p.wikigr"] = CONTENT
        yield found


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FIRST_PAUSE", 0.0)


def fetch(server: FileServer, folder: Path, path: str = "/p.wikigr") -> bytes:
    return fetch_file(server.url(path), folder, max_bytes=MOST, allow_private=True)


def test_a_file_is_fetched_whole_and_removed_after_use(server: FileServer, tmp_path: Path) -> None:
    # Fewer bytes than the buffer of a file holds.
    server.files["/small"] = CONTENT[:100]
    for path, content in (("/p.wikigr", CONTENT), ("/small", CONTENT[:100])):
        with open_download(server.url(path), tmp_path / "new", max_bytes=MOST, allow_private=True) as found:
            assert found.read_bytes() == content
            assert found.stat().st_mode & 0o077 == 0
        assert list((tmp_path / "new").iterdir()) == []


def test_a_file_that_was_moved_is_kept_and_so_is_what_another_process_begins(
    server: FileServer, tmp_path: Path
) -> None:
    with open_download(server.url("/p.wikigr"), tmp_path, max_bytes=MOST, allow_private=True) as found:
        found.rename(tmp_path / "kept")
        found.write_text("another")
    assert ((tmp_path / "kept").read_bytes(), found.read_text()) == (CONTENT, "another")


def test_an_interrupted_download_starts_again(server: FileServer, tmp_path: Path) -> None:
    cuts = iter([200_000, 100_000])
    server.behaviors["/p.wikigr"] = lambda request: request.serve(cut=next(cuts, None))
    assert fetch(server, tmp_path) == CONTENT
    assert len(server.requests) == 3
    server.behaviors["/p.wikigr"] = lambda request: request.serve(cut=50_000)
    with pytest.raises(WikigrError, match=r"4 times.*connection ended after 50,000 of 700,000"):
        fetch(server, tmp_path)
    assert list(tmp_path.iterdir()) == []


def _download_until_killed(url: str, folder: str) -> None:
    fetch_file(url, Path(folder), max_bytes=MOST, allow_private=True)


def test_what_a_killed_download_has_left_is_overwritten(server: FileServer, tmp_path: Path) -> None:
    killed = threading.Event()

    def begin_and_wait(request: Handler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(CONTENT)))
        request.end_headers()
        request.wfile.write(CONTENT[::-1][:300_000])
        killed.wait(120)

    server.behaviors["/p.wikigr"] = begin_and_wait
    arguments = (server.url("/p.wikigr"), str(tmp_path))
    child = multiprocessing.get_context("spawn").Process(target=_download_until_killed, args=arguments)
    child.start()
    partial_file = tmp_path / (hashlib.sha256(server.url("/p.wikigr").encode()).hexdigest()[:32] + ".download")
    while not partial_file.exists() or partial_file.stat().st_size < 200_000:
        assert child.is_alive(), "the download ended before it was killed"
        time.sleep(0.01)
    with pytest.raises(WikigrError, match="Another process"):
        fetch(server, tmp_path)
    os.kill(child.pid or 0, signal.SIGKILL)
    child.join()
    killed.set()
    server.behaviors["/p.wikigr"] = lambda request: request.reply(200, CONTENT[:1000])
    assert partial_file.stat().st_size >= 200_000
    assert fetch(server, tmp_path) == CONTENT[:1000]


def test_a_busy_server_is_retried(server: FileServer, tmp_path: Path) -> None:
    answers = iter([503, 429])

    def busy(request: Handler) -> None:
        status = next(answers, None)
        request.serve() if status is None else request.reply(status)

    server.behaviors["/p.wikigr"] = busy
    assert fetch(server, tmp_path) == CONTENT


def test_a_folder_that_cannot_be_written_is_an_error(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WikigrError, match="Cannot write the download"):
        fetch(server, tmp_path / "file" / "cache")


def test_a_refused_connection_names_the_ignored_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        url = server.url("/p.wikigr")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@127.0.0.1:1")
    with pytest.raises(WikigrError, match="refused") as caught:
        fetch_file(url, tmp_path, max_bytes=MOST, allow_private=True)
    assert "HTTPS_PROXY is ignored" in (caught.value.hint or "")
    assert "secret" not in (caught.value.hint or "")


# -- requests


def test_a_request_carries_only_its_own_headers(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    headers = {"Location": "/p.wikigr", "Set-Cookie": "token=secret; Path=/"}
    server.behaviors["/a"] = lambda request: request.reply(302, headers=headers)
    assert fetch(server, tmp_path / "d", "/a") == CONTENT
    for _, sent in server.requests:
        assert set(sent) == {"Host", "User-Agent", "Accept-Encoding", "Connection"}


def test_the_path_and_the_query_are_sent_as_written(server: FileServer, tmp_path: Path) -> None:
    path = "/p%20q;v=1?a=b%2Fc&d='e'&f=%2520"
    server.files[path] = CONTENT
    assert fetch(server, tmp_path, f"{path}#part") == CONTENT
    assert server.requests[0][0] == path


def test_redirects_are_followed(server: FileServer, tmp_path: Path) -> None:
    server.behaviors["/a"] = lambda request: request.reply(302, headers={"Location": "b?x=1"})
    server.behaviors["/b?x=1"] = lambda request: request.reply(307, headers={"Location": server.url("/p.wikigr")})
    assert fetch(server, tmp_path, "/a") == CONTENT
    assert [path for path, _ in server.requests] == ["/a", "/b?x=1", "/p.wikigr"]


def _redirect(target: str, request: Handler) -> None:
    request.reply(302, headers={"Location": target})


def test_the_users_url_may_be_private_and_a_redirect_may_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority, certificate = make_certificates(tmp_path, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    with serving(certificate=certificate) as server:
        server.files["/p.wikigr"] = CONTENT
        assert fetch_file(server.url("/p.wikigr", "localhost"), tmp_path, max_bytes=MOST) == CONTENT
        for target in ("/p.wikigr", server.url("/p.wikigr"), server.url("/p.wikigr", "localhost")):
            server.requests.clear()
            server.behaviors["/a"] = partial(_redirect, target)
            with pytest.raises(WikigrError, match="not an address of the public internet") as caught:
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
    with pytest.raises(WikigrError, match=message) as caught:
        fetch(server, tmp_path)
    assert hint in (caught.value.hint or "")


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


# -- addresses

PUBLIC = [
    "93.184.216.34", "8.8.8.8", "192.0.0.9", "192.0.0.10", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808",
]  # fmt: skip
PRIVATE = [
    "127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
    "::1", "fc00::1", "fd12::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::",
    "::127.0.0.1",
]  # fmt: skip
NEVER = [
    "0.0.0.0", "169.254.169.254", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "192.0.2.1",
    "198.51.100.1", "203.0.113.1", "198.18.0.1", "0.1.2.3", "::", "fe80::1", "fe80::1%1", "ff02::1", "fec0::1",
    "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:a9fe:a9fe::", "2001:db8::1", "100::1",
    "2001:0:0:0:0:0:5601:5601", "192.0.0.1", "192.0.0.8", "192.0.0.11", "192.0.0.255", "::ffff:192.0.0.8", "3fff::1",
    "3fff:fff:ffff::1",
]  # fmt: skip


def test_addresses() -> None:
    """Private addresses are allowed only on request; reserved addresses and those of cloud metadata never are."""
    assert [address for address in PUBLIC if not is_allowed(address, allow_private=False)] == []
    assert [address for address in PRIVATE + NEVER if is_allowed(address, allow_private=False)] == []
    assert [address for address in PRIVATE if not is_allowed(address, allow_private=True)] == []
    assert [address for address in NEVER if is_allowed(address, allow_private=True)] == []


@given(st.ip_addresses(v=4))
def test_an_address_in_another_form_is_judged_as_itself(address: ipaddress.IPv4Address) -> None:
    allowed = is_allowed(str(address), allow_private=False)
    number = int(address)
    assert not (allowed and not address.is_global)
    assert is_allowed(f"::ffff:{address}", allow_private=False) == allowed
    assert is_allowed(str(ipaddress.IPv6Address((0x64FF9B << 96) | number)), allow_private=False) == allowed
    assert is_allowed(str(ipaddress.IPv6Address((0x2002 << 112) | (number << 80))), allow_private=False) == allowed


def loopback_hosts() -> list[str]:
    return ["localhost", "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1"]


def test_a_host_is_judged_by_its_addresses(subtests: pytest.Subtests) -> None:
    for host in loopback_hosts():
        with subtests.test(host=host):
            with pytest.raises(WikigrError, match=r"not an address of the public internet|Cannot resolve") as caught:
                require_public(host, resolve(host, 443), allow_private=False)
            assert "--allow-private" in (caught.value.hint or "") or "Cannot resolve" in caught.value.message


def test_one_private_address_among_public_ones_is_one_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    def answers(host: str, port: int, **_: object) -> list[object]:
        found = ["93.184.216.34", "10.0.0.1"]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", answers)
    with pytest.raises(WikigrError, match=r"10\.0\.0\.1"):
        require_public("mixed.example", resolve("mixed.example", 443), allow_private=False)


@pytest.mark.parametrize("host", ["nothing.invalid", "a" * 64 + ".example", "."])
def test_an_unknown_host_is_an_error(host: str) -> None:
    with pytest.raises(WikigrError, match="Cannot resolve"):
        resolve(host, 443)
