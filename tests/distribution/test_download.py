from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.distribution.file_server import FileServer, Handler, download, make_certificates, serving

from wikigr.distribution import download as module
from wikigr.distribution.download import DownloadError, checked_url, discard, shown
from wikigr.errors import PackError, UsageError

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


def fetch(server: FileServer, folder: Path, path: str = "/p.wikigr", **options: object) -> Path:
    return download(server.url(path), folder, **{"max_bytes": MOST, "allow_private": True, **options})  # type: ignore[arg-type]


def ranges(server: FileServer) -> list[str | None]:
    return [headers.get("Range") for _, headers in server.requests]


def test_a_file_is_fetched_whole_and_checked(server: FileServer, tmp_path: Path) -> None:
    digest = hashlib.sha256(CONTENT).hexdigest()
    found = fetch(server, tmp_path / "new", sha256=digest.upper())
    assert found.read_bytes() == CONTENT
    assert found.stat().st_mode & 0o077 == 0
    headers = server.requests[0][1]
    assert (headers["Accept-Encoding"], "Cookie" in headers) == ("identity", False)
    discard(found)
    assert list((tmp_path / "new").iterdir()) == []


def test_a_file_of_another_sha256_is_not_kept(server: FileServer, tmp_path: Path) -> None:
    with pytest.raises(PackError, match=hashlib.sha256(CONTENT).hexdigest()):
        fetch(server, tmp_path, sha256="0" * 64)
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_is_cut_goes_on_where_it_stopped(server: FileServer, tmp_path: Path) -> None:
    cuts = iter([200_000, 100_000])
    server.behaviors["/p.wikigr"] = lambda request: request.serve(cut=next(cuts, None))
    assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert ranges(server) == [None, "bytes=200000-", "bytes=300000-"]


def test_a_later_call_goes_on_too(server: FileServer, tmp_path: Path) -> None:
    server.behaviors["/p.wikigr"] = lambda request: request.serve(cut=50_000)
    with pytest.raises(DownloadError, match=r"4 times.*connection ended after 200,000 of 700,000"):
        fetch(server, tmp_path)
    del server.behaviors["/p.wikigr"]
    assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert ranges(server)[-1] == "bytes=200000-"


def _download_until_killed(url: str, folder: str) -> None:
    download(url, Path(folder), max_bytes=MOST, allow_private=True)


def test_a_killed_download_goes_on_too(server: FileServer, tmp_path: Path) -> None:
    def begin_and_wait(request: Handler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(CONTENT)))
        request.send_header("ETag", f'"{hashlib.sha256(CONTENT).hexdigest()[:16]}"')
        request.end_headers()
        request.wfile.write(CONTENT[:300_000])
        time.sleep(2)

    server.behaviors["/p.wikigr"] = begin_and_wait
    arguments = (server.url("/p.wikigr"), str(tmp_path))
    child = multiprocessing.get_context("spawn").Process(target=_download_until_killed, args=arguments)
    child.start()
    partial = tmp_path / (hashlib.sha256(server.url("/p.wikigr").encode()).hexdigest()[:32] + ".download")
    while not partial.exists() or partial.stat().st_size < 200_000:
        assert child.is_alive(), "the download ended before it was killed"
        time.sleep(0.01)
    with pytest.raises(DownloadError, match="Another process"):
        fetch(server, tmp_path)
    os.kill(child.pid or 0, signal.SIGKILL)
    child.join()
    have = partial.stat().st_size
    del server.behaviors["/p.wikigr"]
    assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert ranges(server)[-1] == f"bytes={have}-"


def test_what_is_complete_already_is_not_fetched_again(server: FileServer, tmp_path: Path) -> None:
    fetch(server, tmp_path)
    assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert ranges(server) == [None, f"bytes={len(CONTENT)}-"]


@pytest.mark.parametrize("heed", [True, False], ids=["if-range", "range only"])
def test_a_file_that_changed_on_the_server_is_fetched_anew(server: FileServer, tmp_path: Path, heed: bool) -> None:
    changed = CONTENT[::-1]

    def cut_then_change(request: Handler) -> None:
        first = request.server.files["/p.wikigr"] is CONTENT
        request.serve(cut=300_000 if first else None, heed_if_range=heed)
        request.server.files["/p.wikigr"] = changed

    server.behaviors["/p.wikigr"] = cut_then_change
    assert fetch(server, tmp_path).read_bytes() == changed


def test_a_server_without_ranges_is_asked_for_all_again(server: FileServer, tmp_path: Path) -> None:
    cuts = iter([300_000])
    server.behaviors["/p.wikigr"] = lambda request: request.serve(ranges=False, cut=next(cuts, None))
    assert fetch(server, tmp_path).read_bytes() == CONTENT


def test_without_a_validator_nothing_is_continued(server: FileServer, tmp_path: Path) -> None:
    cuts = iter([300_000])
    server.behaviors["/p.wikigr"] = lambda request: request.reply(200, CONTENT, {"ETag": 'W/"1"'}, next(cuts, None))
    assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert ranges(server) == [None, None]


def test_a_busy_server_is_retried(server: FileServer, tmp_path: Path) -> None:
    answers = iter([503, 429])

    def busy(request: Handler) -> None:
        status = next(answers, None)
        request.serve() if status is None else request.reply(status)

    server.behaviors["/p.wikigr"] = busy
    assert fetch(server, tmp_path).read_bytes() == CONTENT


def test_redirects_are_followed_with_the_request_headers(server: FileServer, tmp_path: Path) -> None:
    server.behaviors["/a"] = lambda request: request.reply(302, headers={"Location": "b?x=1"})
    server.behaviors["/b?x=1"] = lambda request: request.reply(307, headers={"Location": server.url("/p.wikigr")})
    assert fetch(server, tmp_path, "/a").read_bytes() == CONTENT
    assert [path for path, _ in server.requests] == ["/a", "/b?x=1", "/p.wikigr"]


@pytest.mark.parametrize(
    ("status", "headers", "message", "hint"),
    [
        (404, {}, "There is nothing at", "Check the URL"),
        (401, {}, "not for everybody", "install the file"),
        (418, {}, "status 418", "install the file"),
        (200, {"Content-Type": "text/html; charset=utf-8"}, "web page", "raw"),
        (200, {"Content-Encoding": "gzip"}, "encoded", "install the file"),
        (500, {}, "status 500", "again later"),
        (302, {}, "redirects to nowhere", "install the file"),
    ],
)
def test_what_is_no_file_is_said_with_its_mend(
    server: FileServer, tmp_path: Path, status: int, headers: dict[str, str], message: str, hint: str
) -> None:
    server.behaviors["/p.wikigr"] = lambda request: request.reply(status, b"x", headers)
    with pytest.raises(DownloadError, match=message) as caught:
        fetch(server, tmp_path)
    assert hint in (caught.value.hint or "")


def test_nobody_listening_is_said_with_the_proxy_that_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as server:
        url = server.url("/p.wikigr")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@127.0.0.1:1")
    with pytest.raises(DownloadError, match="refused") as caught:
        download(url, tmp_path, max_bytes=MOST, allow_private=True)
    assert "HTTPS_PROXY is not used" in (caught.value.hint or "")
    assert "secret" not in (caught.value.hint or "")


def test_tls_is_verified_against_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority, certificate = make_certificates(tmp_path, "localhost")
    with serving(certificate=certificate) as server:
        server.files["/p.wikigr"] = CONTENT
        named, addressed = server.url("/p.wikigr", "localhost"), server.url("/p.wikigr")
        with pytest.raises(DownloadError, match="no certificate that can be trusted"):
            download(named, tmp_path, max_bytes=MOST, allow_private=True)
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        assert download(named, tmp_path, max_bytes=MOST, allow_private=True).read_bytes() == CONTENT
        assert server.requests[-1][1]["Host"] == f"localhost:{server.server_port}"
        with pytest.raises(DownloadError, match="no certificate that can be trusted"):
            download(addressed, tmp_path, max_bytes=MOST, allow_private=True)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
        with pytest.raises(DownloadError, match="certificates of the trusted"):
            download(named, tmp_path, max_bytes=MOST, allow_private=True)


@pytest.mark.parametrize(
    "url",
    ["ftp://h/p", "file:///etc/passwd", "https://", "https:///p", "https://u:p@h/p", "https://u@h/p", "https://h/a b",
     "https://h/\r\nHost: x", "https://h:99999/p", "https://[::1/p", "https://h\\@e/p", "https://é.example/"],
)  # fmt: skip
def test_a_url_of_another_kind_is_wrong_usage(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        checked_url(url)
    assert "u:p" not in caught.value.message


def test_a_shown_url_holds_no_secret() -> None:
    assert shown("https://u:p@h.example:8443/a/b?token=1#x") == "https://h.example:8443/a/b"


def test_a_folder_that_cannot_be_written_is_an_error(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DownloadError, match="cannot be written"):
        fetch(server, tmp_path / "file" / "cache")
