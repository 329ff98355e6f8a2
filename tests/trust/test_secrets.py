"""Keys and passwords in the user's environment reach only the server they are meant for."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Wikigr
from tests.llm.server import MessagesServer, Response, events, reply, status, text
from tests.trust.conftest import Tally
from tests.trust.hostile import QUESTION

KEY = "sk-ant-canary-KEY-0123456789"
TOKEN = "canary-TOKEN-0123456789"
USER, PASSWORD = "canaryUSER", "canaryPASSWORD"
BASIC = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
OTHER = "canaryAWSSECRET0123456789"
HEADER = "canaryHEADER-0123456789"
SECRETS = (KEY, TOKEN, PASSWORD, USER, BASIC, OTHER, HEADER)
# What the server was sent, in each form, as it may stand in a reply.
ECHO = f"{KEY} and {USER}:{PASSWORD} ({BASIC}; {USER} / {PASSWORD}) {HEADER}"
PROFILE = "synthesis: {timeout: 1.0, retries: 0}\n"


def echoing(request: dict) -> Response:  # type: ignore[type-arg]
    """An error response that repeats the key, as some servers send."""
    return status(401, f"the key {KEY} of {USER}:{PASSWORD} ({BASIC}) is wrong")


def header_in_body(request: dict) -> Response:  # type: ignore[type-arg]
    body = f"Traceback: headers={{'x-api-key': '{KEY}', 'authorization': 'Basic {BASIC}'}} {USER}:{PASSWORD}"
    return Response((body.encode(),), 500, content_type="text/plain")


def header_in_reply(request: dict) -> Response:  # type: ignore[type-arg]
    return Response((f"no JSON {KEY} {BASIC} {PASSWORD}".encode(),), 200)


def good_reply(request: dict) -> Response:  # type: ignore[type-arg]
    """A successful answer whose sentences, title and tool input contain the credentials."""
    cited = {"type": "search_result_location", "cited_text": ECHO, "search_result_index": 0, "source": ECHO}
    where = {**cited, "title": ECHO, "start_block_index": 0, "end_block_index": 1}
    used = [
        {"type": "tool_use", "id": "t", "name": tool["name"], "input": {"entities": [ECHO], ECHO: ECHO}}
        for tool in request.get("tools", ())
    ]
    answer = reply(f"It is {ECHO} [1].", text(f"So is {ECHO}", where), *used, model=f"m {KEY}")(request)
    if not request.get("stream"):
        return answer
    # In pieces of five characters, so that each secret is in several.
    pieces: list[bytes] = []
    for piece in answer.pieces:
        event = json.loads(piece.partition(b"data: ")[2])
        words = event["delta"].get("text", "") if event["type"] == "content_block_delta" else ""
        cut = [words[at : at + 5] for at in range(0, len(words), 5)]
        pieces += events(*({**event, "delta": {**event["delta"], "text": word}} for word in cut)).pieces or (piece,)
    return replace(answer, pieces=tuple(pieces))


BEHAVIORS: dict[str, Response | Callable[[dict[str, Any]], Response]] = {
    "a good reply with all": good_reply,
    "answers": reply("The pack does not cover this."),
    "verdict": reply('{"reason": "no", "verdict": "incorrect"}'),
    "401 with the key": echoing,
    "500 with the header": header_in_body,
    "garbage with the key": header_in_reply,
    "400 with the key": status(400, f"bad {KEY} {BASIC} {PASSWORD}"),
    "closed": Response(cut=0, pieces=(b"x",)),
}


@pytest.fixture
def canaries(monkeypatch: pytest.MonkeyPatch, messages_server: MessagesServer, wikigr: Wikigr) -> MessagesServer:
    host = messages_server.url.removeprefix("http://")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://{USER}:{PASSWORD}@{host}")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"x-gateway: {HEADER}")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", OTHER)
    monkeypatch.setenv("HF_TOKEN", OTHER)
    return messages_server


def commands(pack: Path) -> list[tuple[str, ...]]:
    there = ("--pack", str(pack))
    asked = ("ask", QUESTION, *there, "--profile", "p.yaml")
    run = ("eval", "run", *there, "--questions", "gold.jsonl", "--profile", "p.yaml")
    return [
        asked,
        (*asked, "--stream"),
        ("-v", *asked, "--explain"),
        (*asked, "--json"),
        (*asked, "--receipt", "receipt.json"),
        ("--debug", *asked),
        ("--debug", *asked, "--stream"),
        (*asked, "--show-prompt"),
        ("ask", QUESTION, *there, "--profile", "multi.yaml"),
        ("--debug", "search", QUESTION, *there, "--profile", "rephrase.yaml"),
        ("why", QUESTION, "Plain quay", *there, "--profile", "p.yaml"),
        (*run, "-o", "run", "--max-errors", "1"),
        (*run, "-o", "judged", "--judge", "claude", "--max-errors", "1"),
        ("eval", "report", "run", "--format", "json"),
        ("eval", "report", "run", "--format", "html", "-o", "run.html"),
        ("eval", "report", "run", "--format", "junit"),
        ("eval", "flips", "run"),
        ("graph", "cypher", "RETURN current_setting('home_directory')", *there),
        ("graph", "cypher", "MATCH (a:Article) RETURN a.title LIMIT 1", *there),
        ("doctor",),
        ("doctor", "--json"),
        ("config", "show"),
        ("config", "show", "--origin", "--json"),
        ("pack", "info", str(pack)),
    ]


@pytest.mark.parametrize(
    ("behavior", "authorised"),
    [*((name, "key") for name in BEHAVIORS), ("401 with the key", "token"), ("a good reply with all", "token")],
)
def test_no_secret_is_shown_or_written(
    wikigr: Wikigr,
    canaries: MessagesServer,
    hostile_pack: Path,
    own_caches: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    tally: Callable[[str], Tally],
    behavior: str,
    authorised: str,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY" if authorised == "key" else "ANTHROPIC_AUTH_TOKEN", KEY)
    if authorised == "key":
        monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", TOKEN)
    canaries.always(BEHAVIORS[behavior])
    (tmp_path / "p.yaml").write_text(PROFILE)
    (tmp_path / "multi.yaml").write_text(PROFILE + "multi_strategy: {enabled: true}\n")
    (tmp_path / "rephrase.yaml").write_text(PROFILE + "retrieval: {multi_query: true}\n")
    row = {"id": "q", "question": QUESTION, "answerable": True, "answers": ["Mara"], "gold": [{"title": "Plain quay"}]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(row) + "\n")
    count = tally("secrets: output, reports, caches")
    # What asks no model says the same whatever the server does.
    every = behavior in ("answers", "a good reply with all", "500 with the header")
    for arguments in commands(hostile_pack):
        if not (every or set(arguments) & {"p.yaml", "multi.yaml", "rephrase.yaml"}):
            continue
        result = wikigr(*arguments)
        assert "a bug" not in result.err, (arguments, result.err)
        for secret in SECRETS:
            assert secret not in result.out, (arguments, secret)
            assert secret not in result.err, (arguments, secret, result.err)
        if result.code:
            count.refused()
        else:
            count.harmless()
    assert canaries.requests
    written = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()]
    assert any(path.name == "samples.jsonl" for path in written)
    if behavior == "a good reply with all":
        # It was kept beside the answer, and nothing but the secrets was taken from it.
        for place in ("state/", "cache/", "receipt.json"):
            assert any(place in str(path) and b"It is [key] and [key]" in path.read_bytes() for path in written), place
    for path in written:
        content = path.read_bytes()
        for secret in SECRETS:
            assert secret.encode() not in content, (path, secret)
    # The key goes in its own header; nothing else of the environment goes anywhere.
    for request in canaries.requests:
        sent = json.dumps(dict(request.headers)).encode() + request.raw + request.path.encode()
        assert OTHER.encode() not in sent
        assert KEY.encode() not in request.raw
        assert TOKEN.encode() not in sent
        assert request.headers["x-gateway"] == HEADER
        assert {name for name, value in request.headers.items() if KEY in value} <= {"authorization", "x-api-key"}


def test_a_server_that_cannot_be_reached_is_named_without_its_password(
    wikigr: Wikigr, hostile_pack: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tally: Callable[[str], Tally]
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    (tmp_path / "p.yaml").write_text(PROFILE)
    for url in (
        f"http://{USER}:{PASSWORD}@127.0.0.1:9",
        f"http://{USER}:{PASSWORD}@127.0.0.1:99999",
        f"ftp://{USER}:{PASSWORD}@127.0.0.1",
        f"{USER}:{PASSWORD}@127.0.0.1",
        f"http://{USER}:{PASSWORD}@[::1",
    ):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        for options in ((), ("--stream",)):
            result = wikigr("--debug", "ask", QUESTION, "--pack", str(hostile_pack), "--profile", "p.yaml", *options)
            assert result.code in (2, 3), (url, result.err)
            assert not any(secret in result.out + result.err for secret in SECRETS), (url, result.err)
            tally("secrets: unreachable servers").refused()
