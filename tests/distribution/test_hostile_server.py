"""A download host that breaks HTTP: every download ends in time with a ``WikigrError`` or with the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.distribution.file_server import fetch_file
from tests.scripted_server import BEHAVIORS, REPLY, ScriptedServer, play_all

from wikigr.distribution import download
from wikigr.errors import WikigrError

MAX_BYTES = 1_000_000
# For behaviors that exceed another limit than the time. On a busy machine, reading that far can take longer than 0.5 s.
PATIENT = 180.0
SLOW = "failed 2 times, most recently because the server takes too long to answer"
# A server that sends a few bytes of the file in time gets no other attempt.
STALLED = r"sent only [\d,]+ bytes in \d+ s"
BROKEN = "failed 2 times"
COMPRESSED = "an encoding that was not requested"
TOO_LARGE = "larger than 1,000,000 bytes"
# "" is a file, which is then refused as an archive.
EXPECTED = {
    "no answer": SLOW,
    "a dripped status line": SLOW,
    "dripped headers": SLOW,
    "an endless header block": BROKEN,
    "an endless header": BROKEN,
    "dripped 103 responses": SLOW,
    "endless 103 responses": BROKEN,
    "dripped 100 responses": SLOW,
    "101, switching protocols": BROKEN,
    "a dripped body": STALLED,
    "a dripped body until close": STALLED,
    "a body that stops": STALLED,
    "an endless body": TOO_LARGE,
    "a dripped chunk size": SLOW,
    "a dripped chunk extension": SLOW,
    "an endless chunk extension": BROKEN,
    "dripped trailers": STALLED,
    "endless trailers": BROKEN,
    "an invalid chunk size": BROKEN,
    "a negative chunk size": BROKEN,
    "a huge chunk size": BROKEN,
    "a dripped error": "status 400 instead of a file",
    "an endless error": "status 400 instead of a file",
    "an endless busy error": "the server answered with status 503",
    "a gzip bomb": COMPRESSED,
    "a gzip bomb as an error": "status 400 instead of a file",
    "a gzip bomb in gzip": COMPRESSED,
    "a charset that decompresses": "status 400 instead of a file",
    "a redirect to itself": "redirects more than 5 times",
    "a body longer than announced": "",
    "a body shorter than announced": f"ended after {len(REPLY)} of 1,000 bytes",
    "a negative length": BROKEN,
    "two lengths": BROKEN,
    "a reset before the answer": BROKEN,
    "a reset in the headers": BROKEN,
    "a reset in the body": BROKEN,
    "a half-close in the headers": BROKEN,
    "a reply that never closes": STALLED,
    "two replies at once": "",
    "HTTP/0.9": BROKEN,
    "binary garbage": BROKEN,
    "an empty body": "the server sent nothing",
    "a year of Retry-After": "the server answered with status 429",
    "SSE comments": STALLED,
    "endless SSE comments": TOO_LARGE,
    "SSE pings": STALLED,
    "one endless SSE event": TOO_LARGE,
    "one SSE event of short lines": TOO_LARGE,
    "invalid UTF-8 in SSE": "",
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_FIRST_PAUSE", 0.0)
    monkeypatch.setattr(download, "_MAX_ATTEMPTS", 2)
    set_limits(monkeypatch, 0.5)


def set_limits(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(download, "_HEADER_SECONDS", seconds)
    monkeypatch.setattr(download, "_STALL_SECONDS", seconds)


def fetch(url: str, folder: Path) -> str:
    """Return the error of a download, or "" for a file."""
    try:
        fetch_file(f"{url}/p", folder, max_bytes=MAX_BYTES, allow_private=True)
    except WikigrError as error:
        assert error.hint
        return error.message
    return ""


@pytest.mark.trust
def test_every_behavior_ends_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def call(server: ScriptedServer, name: str) -> str:
        return fetch(server.url, tmp_path / name.replace("/", " "))

    assert EXPECTED.keys() == BEHAVIORS.keys()
    found = play_all(call, [name for name in EXPECTED if EXPECTED[name] == SLOW])
    # The deadline of the headers also holds for the body. On a busy machine, the headers may miss a short one.
    stalling = [name for name in EXPECTED if EXPECTED[name] == STALLED]
    for seconds in (1.0, 4.0, 16.0):
        set_limits(monkeypatch, seconds)
        found |= play_all(call, stalling)
        stalling = [name for name in stalling if re.search(SLOW, found[name])]
    set_limits(monkeypatch, PATIENT)
    found |= play_all(call, [name for name in EXPECTED if EXPECTED[name] not in (SLOW, STALLED)])
    offenders = {
        name: text
        for name, text in found.items()
        if not (re.search(EXPECTED[name], text) if EXPECTED[name] else text == "")
    }
    assert offenders == {}
    assert list(tmp_path.rglob("*.download")) == []
