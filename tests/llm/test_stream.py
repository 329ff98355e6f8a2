"""Streamed replies."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from wikigr.llm.budget import Budget, BudgetError
from wikigr.llm.client import Claude
from wikigr.llm.failures import LlmError
from wikigr.llm.reply import BlockEnd, Event, TextBlock, TextDelta
from wikigr.llm.usage import Usage

from .conftest import Make
from .server import MessagesServer, citation, cut_after, events, garbage, held_before, raw, reply, text, usage

QUESTION = [{"role": "user", "content": "Where was Heisenberg born?"}]


def ask(client: Claude, seen: list[Event] | None = None) -> Any:
    into = seen if seen is not None else []
    return client.stream(system="", messages=QUESTION, max_tokens=64, on_event=into.append)


def test_text_and_blocks_come_in_order(messages_server: MessagesServer, claude: Make) -> None:
    cited = citation("born in Würzburg", 4, 20)
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    messages_server.script(reply(thinking, text("In Würzburg", cited), ".", usage=usage(1200, 34, read=50, written=7)))
    seen: list[Event] = []
    answer = ask(claude(), seen)
    first, second = TextBlock("In Würzburg", (cited,)), TextBlock(".")
    assert seen == [TextDelta("In "), TextDelta("Würzburg"), BlockEnd(first), TextDelta("."), BlockEnd(second)]
    assert answer.blocks == (first, second)
    assert (answer.text, answer.stop_reason, answer.model) == ("In Würzburg.", "end_turn", "claude-opus-4-6")
    assert answer.request_id == "req_001"
    cost = (1200 * 5 + 34 * 25 + 50 * 0.5 + 7 * 6.25) / 1e6
    assert answer.usage == Usage(1200, 34, 50, 7, 1, pytest.approx(cost))  # type: ignore[arg-type]
    assert messages_server.requests[0].json["stream"] is True


def test_a_stream_reads_as_the_whole_reply_does(messages_server: MessagesServer, claude: Make) -> None:
    messages_server.always(reply(text("In Würzburg", citation("x", 0, 1)), " – it is said.", "🙂"))
    client = claude()
    whole = client.complete(system="", messages=QUESTION, max_tokens=64)
    streamed = ask(client)
    assert (whole.blocks, whole.usage, whole.stop_reason) == (streamed.blocks, streamed.usage, streamed.stop_reason)
    assert client.usage == whole.usage + streamed.usage


def test_text_is_passed_on_before_the_rest_has_come(messages_server: MessagesServer, claude: Make) -> None:
    gate = threading.Event()
    # message_start, ping, content_block_start and one delta; the rest only after the delta was seen here.
    messages_server.script(held_before(4, gate, reply("In Würzburg it was.")))
    seen: list[Event] = []

    def look(event: Event) -> None:
        if not seen:
            assert not gate.is_set()
            gate.set()
        seen.append(event)

    answer = claude().stream(system="", messages=QUESTION, max_tokens=64, on_event=look)
    assert answer.text == "In Würzburg it was."


def test_unknown_events_are_left_alone(messages_server: MessagesServer, claude: Make) -> None:
    start = {"type": "message_start", "message": {"model": "m", "usage": usage()}}
    messages_server.script(
        events(
            start,
            {"type": "of_the_future", "index": 7},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "A"}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "of_the_future"}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "B"}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
            {"type": "message_stop"},
        )
    )
    answer = ask(claude())
    assert (answer.text, answer.usage.output_tokens) == ("AB", 9)


@pytest.mark.parametrize("clean", [False, True])
@pytest.mark.parametrize("count", [0, 1, 5, 6, 7])
def test_a_stream_without_its_end_is_an_error(
    messages_server: MessagesServer, claude: Make, count: int, clean: bool
) -> None:
    whole = reply("In Würzburg.", usage=usage(300, 40, read=20))
    messages_server.script(cut_after(count, whole, clean=clean))
    client = claude()
    with pytest.raises(LlmError, match="ended before the reply was complete"):
        ask(client)
    # Billed is what was reported: nothing, what message_start says, or what message_delta says.
    output = 0 if count == 0 else 1 if count < 7 else 40
    assert (client.usage.input_tokens, client.usage.output_tokens) == (300 if count else 0, output)
    assert client.usage.calls == (1 if count else 0)
    assert len(messages_server.requests) == 1


@pytest.mark.parametrize(
    ("kind", "code"),
    [("overloaded_error", 529), ("rate_limit_error", 429), ("authentication_error", 401), ("odd", 500)],
)
def test_an_error_event_is_an_error(messages_server: MessagesServer, claude: Make, kind: str, code: int) -> None:
    start = {"type": "message_start", "message": {"model": "m", "usage": usage(50, 1)}}
    messages_server.script(events(start, {"type": "error", "error": {"type": kind, "message": "Too much."}}))
    client = claude()
    with pytest.raises(LlmError, match=r"Too much\.") as failed:
        ask(client)
    assert failed.value.status == code
    assert client.usage.input_tokens == 50


BLOCK = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "A"}}
START = {"type": "message_start", "message": {"model": "m", "usage": usage()}}
STOP = {"type": "message_stop"}


@pytest.mark.parametrize(
    "behavior",
    [
        garbage(),
        reply("Yes.")({"model": "m"}),
        raw(b"data: {\n\n", "text/event-stream"),
        raw(b"data: [1]\n\n", "text/event-stream"),
        raw(b"data: \xff\n\n", "text/event-stream"),
        events(STOP),
        events(START, BLOCK, STOP),
        events({"type": "message_start", "message": {"model": "m"}}, STOP),
        events({"type": "message_start"}),
        events(START, {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "A"}}),
        events(START, BLOCK, {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}}),
        events(START, {"type": "content_block_stop", "index": 3}),
        events(START, {"type": "content_block_start", "content_block": {"type": "text"}}),
        events({"type": "message_start", "message": {"model": "m", "usage": usage(-5, 1)}}),
    ],
)
def test_another_kind_of_stream_is_an_error(messages_server: MessagesServer, claude: Make, behavior: Any) -> None:
    messages_server.script(behavior)
    with pytest.raises(LlmError, match="did not send a reply of the Messages API"):
        ask(claude())
    assert len(messages_server.requests) == 1


@pytest.mark.parametrize("blocks", [(), ("",), (" \n",), ({"type": "thinking", "thinking": "Hm."},)])
def test_a_reply_without_text_is_an_error_but_is_billed(
    messages_server: MessagesServer, claude: Make, blocks: tuple[Any, ...]
) -> None:
    messages_server.always(reply(*blocks, stop_reason="max_tokens"))
    client = claude()
    for call in (lambda: ask(client), lambda: client.complete(system="", messages=QUESTION, max_tokens=64)):
        with pytest.raises(LlmError, match="max_tokens") as failed:
            call()
        assert "synthesis.max_tokens" in (failed.value.hint or "")
    assert client.usage.calls == 2


def test_a_cut_stream_counts_in_the_budget(messages_server: MessagesServer, claude: Make) -> None:
    messages_server.always(cut_after(5, reply("In Würzburg.", usage=usage(5000, 40))))
    client = claude(budget=Budget(max_tokens=5100))
    with pytest.raises(LlmError, match="ended before the reply was complete"):
        ask(client)
    with pytest.raises(BudgetError, match=r"5,\d\d\d are spent"):
        ask(client)
    assert len(messages_server.requests) == 1


def test_an_error_of_the_listener_is_passed_on_and_the_call_is_billed(
    messages_server: MessagesServer, claude: Make
) -> None:
    messages_server.script(reply("In Würzburg."))
    client = claude()

    def fail(event: Event) -> None:
        raise KeyError("listener")

    with pytest.raises(KeyError, match="listener"):
        client.stream(system="", messages=QUESTION, max_tokens=64, on_event=fail)
    assert client.usage.input_tokens == 10
