"""The response cache: what distinguishes requests, what is never cached, and unusable files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wikigr.llm.budget import Budget
from wikigr.llm.failures import LlmError
from wikigr.llm.reply import ToolUse
from wikigr.llm.response_cache import ResponseCache
from wikigr.llm.usage import Usage

from .conftest import KEY, Make
from .server import Behavior, MessagesServer, citation, events, garbage, reply, status, stream_of, text

ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": "Where?"}], "max_tokens": 100, "system": "Be brief."}
TOOL = {"tools": [{"name": "record", "input_schema": {"type": "object"}}]}


def tool_use(**given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_1", "name": "record", "input": given}


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def cache(tmp_path: Path, warnings: list[str]) -> ResponseCache:
    return ResponseCache(tmp_path / "responses", warn=warnings.append)


def files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "responses").glob("*/*.json"))


def test_a_repeated_request_is_not_sent_and_uses_nothing(
    claude: Make, messages_server: MessagesServer, cache: ResponseCache
) -> None:
    messages_server.script(reply(text("In Bonn", citation("Bonn", 0, 4)), text(".")))
    first = claude(cache=cache).complete(**ASKED)
    again = claude(cache=cache, budget=Budget(max_tokens=0))
    second = again.complete(**ASKED)
    assert len(messages_server.requests) == 1
    assert (second.blocks, second.stop_reason, second.model) == (first.blocks, first.stop_reason, first.model)
    assert (first.cached, second.cached, second.usage, again.usage) == (False, True, Usage(), Usage())
    assert (again.asked, again.hits) == (0, 1)


def test_a_tool_use_is_kept(claude: Make, messages_server: MessagesServer, cache: ResponseCache) -> None:
    messages_server.script(reply(tool_use(grade="ä", n=1.5), stop_reason="tool_use"))
    given = [claude(cache=cache).complete(**ASKED, extra=TOOL) for _ in range(2)]
    assert [reply.tool_uses for reply in given] == [(ToolUse("record", {"grade": "ä", "n": 1.5}),)] * 2


def test_the_key_is_nowhere_on_disk(
    claude: Make, messages_server: MessagesServer, cache: ResponseCache, tmp_path: Path
) -> None:
    messages_server.script(reply("Bonn"))
    claude(cache=cache).complete(**ASKED)
    (file,) = files(tmp_path)
    assert KEY not in file.read_text() + str(file)
    assert file.parent.name == file.stem[:2]
    # Another key, and a password in the URL, is the same request.
    url = messages_server.url.replace("http://", "http://me:secret@") + "/"
    assert claude(cache=cache, api_key="sk-ant-other-0123456789", base_url=url).complete(**ASKED).cached


def test_the_client_sends_each_part_into_the_key(
    claude: Make, messages_server: MessagesServer, cache: ResponseCache
) -> None:
    messages_server.always(reply("Bonn"))
    client = claude(cache=cache)
    client.complete(**ASKED)
    client.complete(**{**ASKED, "system": "Be long."})
    client.complete(**ASKED, model="claude-haiku-4-5")
    client.complete(**ASKED, extra={"temperature": 0})
    client.complete(**ASKED, extra={"temperature": 0, **TOOL})
    client.complete(**{**ASKED, "max_tokens": 101})
    client.complete(**{**ASKED, "messages": [{"role": "user", "content": "When?"}]})
    client.complete(**{**ASKED, "messages": [{"role": "assistant", "content": "Where?"}]})
    client.repeat = 1
    client.complete(**ASKED)
    assert (client.asked, client.hits, len(messages_server.requests)) == (9, 0, 9)
    other = claude(cache=cache, base_url=messages_server.url.replace("127.0.0.1", "localhost"))
    assert not other.complete(**ASKED).cached
    # The order of fields is none.
    client.repeat = 0
    extra = {"stop_sequences": ["x"], "temperature": 0}
    assert not client.complete(**ASKED, extra=extra).cached
    assert client.complete(**ASKED, extra=dict(reversed(extra.items()))).cached


@pytest.mark.parametrize(
    "behavior",
    [
        status(400, "no"),
        status(529, "busy", retry_after_ms=None),
        garbage(),
        reply(" "),
        reply(tool_use(), stop_reason="tool_use"),
        reply("Bo", stop_reason="max_tokens"),
        reply("I would rather not.", stop_reason="refusal"),
        reply("Bo", stop_reason="pause_turn"),
        reply("Bo", stop_reason=None),  # type: ignore[arg-type]
    ],
)
def test_failed_and_truncated_replies_are_not_cached(
    claude: Make, messages_server: MessagesServer, cache: ResponseCache, tmp_path: Path, behavior: Behavior
) -> None:
    messages_server.script(behavior)
    client = claude(cache=cache, retries=0)
    try:
        client.complete(**ASKED)
    except LlmError:
        """Some of these are errors, and some are replies."""
    assert files(tmp_path) == []
    messages_server.script(reply("Bonn"))
    assert client.complete(**ASKED).text == "Bonn"


def test_a_stream_is_not_kept(
    claude: Make, messages_server: MessagesServer, cache: ResponseCache, tmp_path: Path
) -> None:
    messages_server.always(reply("Bonn"))
    client = claude(cache=cache)
    assert client.stream(**ASKED, on_event=lambda _: None).cached is False
    assert (files(tmp_path), client.complete(**ASKED).cached) == ([], False)


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[: len(whole) // 2],
        lambda whole: b"",
        lambda whole: b"\xff\xfe",
        lambda whole: b"[" * 100_000,
        lambda whole: b"[]",
        lambda whole: whole.replace(b'"schema_version": 1', b'"schema_version": 7'),
        lambda whole: whole.replace(b'"key": "', b'"key": "0'),
        lambda whole: whole.replace(b'"type": "message"', b'"type": "error"'),
        lambda whole: whole.replace(b'"text": "Bonn"', b'"text": 5'),
        lambda whole: whole.replace(b'"end_turn"', b'"max_tokens"'),
    ],
)
def test_a_file_that_cannot_be_used_is_reported_and_written_anew(
    claude: Make,
    messages_server: MessagesServer,
    cache: ResponseCache,
    tmp_path: Path,
    warnings: list[str],
    damage: Any,
) -> None:
    messages_server.always(reply("Bonn"))
    client = claude(cache=cache)
    client.complete(**ASKED)
    (file,) = files(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert file.read_bytes() != whole
    assert client.complete(**ASKED).cached is False
    assert len(warnings) == 1 and str(file) in warnings[0]
    assert (file.read_bytes(), client.complete(**ASKED).cached) == (whole, True)


def test_a_folder_that_cannot_be_written_is_reported_and_the_reply_given(
    claude: Make, messages_server: MessagesServer, cache: ResponseCache, tmp_path: Path, warnings: list[str]
) -> None:
    messages_server.always(reply("Bonn"))
    (tmp_path / "responses").write_text("no folder")
    assert claude(cache=cache).complete(**ASKED).text == "Bonn"
    assert len(warnings) == 2


def test_fresh_asks_again_once_and_keeps_the_new_reply(
    claude: Make, messages_server: MessagesServer, tmp_path: Path
) -> None:
    messages_server.script(reply("Bonn"), reply("Berlin"))
    old = ResponseCache(tmp_path / "responses")
    claude(cache=old).complete(**ASKED)
    fresh = ResponseCache(tmp_path / "responses", fresh=True)
    assert [claude(cache=fresh).complete(**ASKED).text for _ in range(2)] == ["Berlin"] * 2
    assert claude(cache=old).complete(**ASKED).text == "Berlin"


def test_a_reply_that_is_not_usable_is_neither_kept_nor_given(
    claude: Make, messages_server: MessagesServer, cache: ResponseCache, tmp_path: Path
) -> None:
    messages_server.script(reply("Bonn"), reply("Berlin"), reply("Berlin"))
    client = claude(cache=cache)
    for _ in range(2):
        client.complete(**ASKED, usable=lambda given: given.text != "Bonn")
    assert len(files(tmp_path)) == 1
    client.complete(**ASKED, usable=lambda given: given.text != "Berlin")
    assert (client.asked, client.hits) == (3, 0)


class TestToolUse:
    def test_whole_and_streamed_read_the_same(self, claude: Make, messages_server: MessagesServer) -> None:
        used = tool_use(verdict="correct", reason="ä")
        messages_server.always(reply("So:", used, stop_reason="tool_use"))
        whole = claude().complete(**ASKED, extra=TOOL)
        streamed = claude().stream(**ASKED, extra=TOOL, on_event=lambda _: None)
        assert whole.tool_uses == streamed.tool_uses == (ToolUse("record", used["input"]),)
        assert whole.text == streamed.text == "So:"

    def test_a_streamed_input_comes_in_pieces(self, claude: Make, messages_server: MessagesServer) -> None:
        messages_server.always(lambda request: events(*pieces(request, '{"a": [1, ', '2], "b": "', 'ä"}')))
        events_seen: list[object] = []
        given = claude().stream(**ASKED, extra=TOOL, on_event=events_seen.append)
        assert (given.tool_uses, given.text, events_seen) == ((ToolUse("record", {"a": [1, 2], "b": "ä"}),), "", [])

    @pytest.mark.parametrize("streamed", ['{"a": ', "[1]", "3"])
    def test_an_input_that_is_no_object_is_no_reply(
        self, claude: Make, messages_server: MessagesServer, streamed: str
    ) -> None:
        messages_server.always(lambda request: events(*pieces(request, streamed)))
        with pytest.raises(LlmError, match="input of a tool"):
            claude().stream(**ASKED, extra=TOOL, on_event=lambda _: None)
        messages_server.always(reply({**tool_use(), "input": "{}"}, stop_reason="tool_use"))
        with pytest.raises(LlmError, match="input of a tool"):
            claude().complete(**ASKED, extra=TOOL)

    def test_a_tool_that_was_not_offered_is_no_answer(self, claude: Make, messages_server: MessagesServer) -> None:
        messages_server.always(reply(tool_use(), stop_reason="tool_use"))
        assert claude().complete(**ASKED, extra=TOOL).text == ""
        with pytest.raises(LlmError, match="no text"):
            claude().complete(**ASKED)


def pieces(request: dict[str, Any], *parts: str) -> list[dict[str, Any]]:
    """A stream of one tool use, whose input arrives in these parts."""
    message = json.loads(reply(tool_use(), stop_reason="tool_use")({**request, "stream": False}).pieces[0])
    found = stream_of(message)
    deltas = [{"type": "input_json_delta", "partial_json": part} for part in ("", *parts)]
    at = next(place for place, event in enumerate(found) if event["type"] == "content_block_stop")
    found[at:at] = [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    return found
