"""Downloading into a file: resuming, verification, and what stays after a failure."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.distribution.file_server import FileServer, Handler, fetch_file, serving

from wikigr.distribution import download as module
from wikigr.distribution.download import discard, open_download
from wikigr.distribution.http_request import DownloadError

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
    return fetch_file(server.url(path), folder, **{"max_bytes": MOST, "allow_private": True, **options})  # type: ignore[arg-type]


def ranges(server: FileServer) -> list[str | None]:
    return [headers.get("Range") for _, headers in server.requests]


def test_a_file_is_fetched_whole(server: FileServer, tmp_path: Path) -> None:
    found = fetch(server, tmp_path / "new")
    assert found.read_bytes() == CONTENT
    assert found.stat().st_mode & 0o077 == 0
    headers = server.requests[0][1]
    assert (headers["Accept-Encoding"], "Cookie" in headers) == ("identity", False)
    discard(found)
    assert list((tmp_path / "new").iterdir()) == []


def test_the_last_bytes_are_on_disk_before_the_file_is_used(server: FileServer, tmp_path: Path) -> None:
    # Fewer bytes than the buffer of a file holds.
    content = server.files["/small"] = CONTENT[:100]
    with open_download(server.url("/small"), tmp_path, max_bytes=MOST, allow_private=True) as found:
        assert found.read_bytes() == content


def test_an_interrupted_download_resumes(server: FileServer, tmp_path: Path) -> None:
    cuts = iter([200_000, 100_000])
    server.behaviors["/p.wikigr"] = lambda request: request.serve(cut=next(cuts, None))
    assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert ranges(server) == [None, "bytes=200000-", "bytes=300000-"]


def test_a_later_call_resumes(server: FileServer, tmp_path: Path) -> None:
    server.behaviors["/p.wikigr"] = lambda request: request.serve(cut=50_000)
    with pytest.raises(DownloadError, match=r"4 times.*connection ended after 200,000 of 700,000"):
        fetch(server, tmp_path)
    del server.behaviors["/p.wikigr"]
    assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert ranges(server)[-1] == "bytes=200000-"


def _download_until_killed(url: str, folder: str) -> None:
    fetch_file(url, Path(folder), max_bytes=MOST, allow_private=True)


def test_a_killed_download_resumes(server: FileServer, tmp_path: Path) -> None:
    killed = threading.Event()

    def begin_and_wait(request: Handler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(CONTENT)))
        request.send_header("ETag", f'"{hashlib.sha256(CONTENT).hexdigest()[:16]}"')
        request.end_headers()
        request.wfile.write(CONTENT[:300_000])
        killed.wait(120)

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
    killed.set()
    have = partial.stat().st_size
    del server.behaviors["/p.wikigr"]
    assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert ranges(server)[-1] == f"bytes={have}-"


def test_a_complete_file_is_not_fetched_again(server: FileServer, tmp_path: Path) -> None:
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


def test_a_server_without_ranges_sends_the_whole_file_again(server: FileServer, tmp_path: Path) -> None:
    cuts = iter([300_000])
    server.behaviors["/p.wikigr"] = lambda request: request.serve(ranges=False, cut=next(cuts, None))
    assert fetch(server, tmp_path).read_bytes() == CONTENT


def test_nothing_is_resumed_without_a_validator(server: FileServer, tmp_path: Path) -> None:
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


def test_a_folder_that_cannot_be_written_is_an_error(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DownloadError, match="Cannot write the download"):
        fetch(server, tmp_path / "file" / "cache")


def test_a_refused_connection_names_the_ignored_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        url = server.url("/p.wikigr")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@127.0.0.1:1")
    with pytest.raises(DownloadError, match="refused") as caught:
        fetch_file(url, tmp_path, max_bytes=MOST, allow_private=True)
    assert "HTTPS_PROXY is ignored" in (caught.value.hint or "")
    assert "secret" not in (caught.value.hint or "")
