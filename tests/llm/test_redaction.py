"""Credentials that a server echoes in a successful reply are removed."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wikigr.llm.client import Claude
from wikigr.llm.redaction import Cleaner, Secrets, sent_credentials
from wikigr.llm.reply import BlockEnd, Event, MalformedReply, ReplyReader, TextDelta
from wikigr.llm.response_cache import ResponseCache

from .conftest import KEY, Make
from .server import MessagesServer, events, reply, text, usage

QUESTION = [{"role": "user", "content": "Where was Heisenberg born?"}]
USER, PASSWORD = "some-user", "p@ss-word"
BASIC = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
HEADER, BEARER, PROXY = "header-0123456789", "bearer-0123456789", "proxy-0123456789"
SENT = (KEY, USER, PASSWORD, BASIC, HEADER, BEARER, PROXY)
ECHO = " ".join(SENT)
CLEAN = " ".join(["[key]"] * len(SENT))


@pytest.fixture
def client(messages_server: MessagesServer, claude: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Claude:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"x-gateway: {HEADER}\nx-other: Bearer {BEARER}\nno header")
    # A proxy for what is not on this machine; nothing goes there.
    monkeypatch.setenv("HTTPS_PROXY", f"http://u:{PROXY}@127.0.0.1:9")
    url = messages_server.url.replace("//", f"//{USER}:{PASSWORD.replace('@', '%40')}@")
    return claude(base_url=url, cache=ResponseCache(tmp_path / "replies"))


def ask(client: Claude, seen: list[Event] | None = None, **extra: Any) -> Any:
    asked: dict[str, Any] = {"system": "", "messages": QUESTION, "max_tokens": 64, "extra": extra}
    return client.complete(**asked) if seen is None else client.stream(**asked, on_event=seen.append)


def told(seen: list[Event]) -> str:
    return "".join(event.text for event in seen if isinstance(event, TextDelta))


def test_the_server_does_get_them(messages_server: MessagesServer, client: Claude) -> None:
    messages_server.always(reply("Yes."))
    assert ask(client).text == "Yes."
    headers = messages_server.requests[0].headers
    assert headers["authorization"] == f"Basic {BASIC}"
    assert (headers["x-gateway"], headers["x-other"]) == (HEADER, f"Bearer {BEARER}")


def test_a_good_reply_is_without_them_and_so_is_the_cache(
    messages_server: MessagesServer, client: Claude, tmp_path: Path
) -> None:
    cited = {"type": "char_location", "cited_text": ECHO, "source": {ECHO: [ECHO, 1, None]}}
    used = {"type": "tool_use", "id": "t", "name": ECHO, "input": {ECHO: [{"query": ECHO}, 2]}}
    messages_server.always(reply(text(ECHO, cited), used, {"type": "thinking", "thinking": ECHO}, model=f"m {KEY}"))
    first = ask(client, tools=[])
    assert first.text == CLEAN
    assert first.model == "m [key]"
    assert first.blocks[0].citations == (
        {"type": "char_location", "cited_text": CLEAN, "source": {CLEAN: [CLEAN, 1, None]}},
    )
    assert (first.tool_uses[0].name, first.tool_uses[0].input) == (CLEAN, {CLEAN: [{"query": CLEAN}, 2]})
    (kept,) = [path.read_text() for path in (tmp_path / "replies").rglob("*.json")]
    assert "[key]" in kept
    assert not [secret for secret in SENT if secret in kept]
    again = ask(client, tools=[])
    assert again.cached
    assert again.blocks == first.blocks
    seen: list[Event] = []
    streamed = ask(client, seen, tools=[])
    assert (streamed.blocks, streamed.tool_uses, streamed.model) == (first.blocks, first.tool_uses, first.model)
    assert told(seen) == CLEAN


def opened(index: int = 0, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block or {"type": "text", "text": ""}}


def delta(piece: str, index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}}


def closed(index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


START = {"type": "message_start", "message": {"model": "m", "usage": usage()}}
END = (
    {"type": "message_delta", "delta": {"stop_reason": f"end {KEY}"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
)


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_nor_does_a_stream_give_them_in_pieces(messages_server: MessagesServer, client: Claude, size: int) -> None:
    said = f"It is {ECHO}, he said; sk-ant- is none. s"
    pieces = [delta(said[at : at + size]) for at in range(0, len(said), size)]
    messages_server.script(events(START, opened(), *pieces, closed(), *END))
    seen: list[Event] = []
    answer = ask(client, seen)
    assert answer.text == told(seen) == f"It is {CLEAN}, he said; sk-ant- is none. s"
    assert seen[-1] == BlockEnd(answer.blocks[0])
    assert answer.stop_reason == "end [key]"


@pytest.mark.parametrize("at", [1, 7, 8, 12, len(KEY) - 1])
def test_nor_is_one_left_that_two_blocks_share(messages_server: MessagesServer, client: Claude, at: int) -> None:
    whole = ("It is " + KEY[:at], KEY[at:] + ", he said.")
    messages_server.script(reply(*whole))
    plain = ask(client)
    messages_server.script(
        events(START, opened(), delta(whole[0]), closed(), opened(1), delta(whole[1], 1), closed(1), *END)
    )
    seen: list[Event] = []
    streamed = ask(client, seen)
    assert plain.text == streamed.text == told(seen)
    assert KEY not in plain.text
    assert KEY[:8] not in plain.text
    assert plain.text.startswith("It is ")
    assert plain.text.endswith(", he said.")


def test_blocks_that_are_open_at_once_do_not_mix(messages_server: MessagesServer, client: Claude) -> None:
    first = [opened(0), delta("0", 0), closed(0)]
    mixed = [delta("A" + KEY[:5], 1), delta("B" + KEY[:9], 2), delta(KEY[5:] + "a", 1), delta(KEY[9:] + "b", 2)]
    messages_server.script(events(START, *first, opened(1), opened(2), *mixed, closed(1), closed(2), *END))
    assert [block.text for block in ask(client, []).blocks] == ["0", "A[key]a", "B[key]b"]


def test_nor_is_one_in_the_input_of_a_tool_that_comes_in_pieces(
    messages_server: MessagesServer, client: Claude
) -> None:
    raw = json.dumps({"query": ECHO})
    pieces = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}}
        for piece in (raw[:20], raw[20:50], raw[50:])
    ]
    tool = opened(type="tool_use", id="t", name="search", input={})
    messages_server.script(events(START, tool, *pieces, closed(), *END))
    assert ask(client, [], tools=[]).tool_uses[0].input == {"query": CLEAN}


def test_a_deeply_nested_reply_is_an_error() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    block = {"type": "text", "text": "Yes.", "citations": [{"cited_text": deep}]}
    with pytest.raises(MalformedReply, match="nested too deeply"):
        ReplyReader(secrets=Secrets([KEY])).read(
            {"type": "message", "model": "m", "usage": usage(), "content": [block]}
        )


def test_a_client_without_credentials_leaves_replies_alone(messages_server: MessagesServer) -> None:
    messages_server.always(reply("none [key] none"))
    client = Claude(model="m", base_url=messages_server.url)
    assert ask(client).text == ask(client, []).text == "none [key] none"
    client.close()


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("x-a: short", set()),
        ("authorization: Basic " + b64encode(b"other-user:other-pass").decode(), {"other-user", "other-pass"}),
        ("x-a: one-long-value", {"one-long-value"}),
    ],
)
def test_the_values_of_custom_headers_are_credentials(
    no_model: None, monkeypatch: pytest.MonkeyPatch, header: str, found: set[str]
) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", header)
    secrets = Secrets(sent_credentials("http://127.0.0.1", None))
    value = header.partition(": ")[2]
    assert secrets.clean(value) == (value if not found else "[key]")
    assert {secrets.clean(text) for text in found} <= {"[key]"}


LETTERS = st.text("ab", max_size=30)


@given(st.lists(st.text("ab", min_size=8, max_size=12), max_size=3), st.lists(LETTERS, max_size=6))
@example(["aaaaaaaa", "aaaaaaaab"], ["aaaaaaaa", "b"])
def test_however_a_text_is_cut_the_same_is_taken_out(known: list[str], pieces: list[str]) -> None:
    secrets = Secrets(known)
    cleaner = Cleaner(secrets)
    # What is no letter of theirs ends every beginning.
    given_out = "".join(map(cleaner.feed, [*pieces, "."]))
    assert given_out == secrets.clean("".join(pieces) + ".")
    assert cleaner.end_block() == ""


@given(st.lists(st.text("ab", min_size=8, max_size=12), max_size=3), st.lists(LETTERS, max_size=6))
def test_no_credential_survives_however_blocks_divide_it(known: list[str], blocks: list[str]) -> None:
    cleaner = Cleaner(Secrets(known))
    shown = "".join(cleaner.feed(block) + cleaner.end_block() for block in blocks)
    assert not [secret for secret in known if secret in shown]
