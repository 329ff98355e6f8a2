"""The client of the chat-completions API: what it sends, how it reads replies and streams, and what it refuses."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import wikigr_cli.app
from wikigr.errors import UsageError
from wikigr.llm import api_of, available, open_client
from wikigr.llm.budget import Budget, BudgetError
from wikigr.llm.chat_server import ChatServer
from wikigr.llm.client import Claude
from wikigr.llm.failures import BadRequestError, LlmError
from wikigr.llm.reply import BlockEnd, TextBlock, TextDelta, ToolUse
from wikigr.llm.usage import Usage
from wikigr_cli.environment import Environment

from .chat_api import ChatApi, chat_error, chat_reply, quoting, stream_of, tool_call
from .conftest import KEY
from .server import MessagesServer, Response, cut_after, garbage

QUESTION = {"role": "user", "content": [{"type": "text", "text": "Where was"}, {"type": "text", "text": "he born?"}]}
SYSTEM = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
PICK = {"name": "pick", "description": "Pick one.", "input_schema": {"type": "object"}}
Make = Callable[..., ChatServer]


@pytest.fixture
def chat_api(messages_server: MessagesServer) -> Iterator[ChatApi]:
    server = ChatApi()
    yield server
    server.close()


@pytest.fixture
def make(chat_api: ChatApi) -> Iterator[Make]:
    made: list[ChatServer] = []

    def create(**options: Any) -> ChatServer:
        made.append(ChatServer(**{"model": "qwen", "base_url": chat_api.base_url, **options}))
        return made[-1]

    yield create
    for client in made:
        client.close()


def ask(client: ChatServer, stream: bool = False, **fields: Any) -> Any:
    call: dict[str, Any] = {"system": SYSTEM, "messages": [QUESTION], "max_tokens": 64, **fields}
    return client.stream(**call, on_event=lambda _: None) if stream else client.complete(**call)


def test_the_request_has_plain_texts_and_the_tools_of_this_api(chat_api: ChatApi, make: Make) -> None:
    chat_api.always(chat_reply("Yes."))
    extra = {
        "tools": [PICK],
        "tool_choice": {"type": "tool", "name": "pick"},
        "temperature": 0,
        "stop_sequences": ["x"],
    }
    ask(make(), extra=extra)
    ask(make(), stream=True, model="other")
    first, second = (request.json for request in chat_api.requests)
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Where was\n\nhe born?"},
    ]
    function = {"name": "pick", "parameters": {"type": "object"}, "description": "Pick one."}
    assert first == {
        "model": "qwen",
        "messages": messages,
        "max_tokens": 64,
        "stream": False,
        "temperature": 0,
        "stop": ["x"],
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": "pick"}},
    }
    assert second == {
        "model": "other",
        "messages": messages,
        "max_tokens": 64,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_is_read_with_its_usage(chat_api: ChatApi, make: Make, stream: bool) -> None:
    chat_api.script(chat_reply("He was born in Würzburg.", prompt=120, cached=100, completion=7))
    client = make()
    reply = ask(client, stream)
    assert reply.blocks == (TextBlock("He was born in Würzburg."),)
    assert (reply.stop_reason, reply.model) == ("end_turn", "qwen")
    assert reply.usage == client.usage == Usage(20, 7, 100, 0, calls=1, cost_usd=None)


def pieces_of(client: ChatServer) -> list[str]:
    events: list[Any] = []
    client.stream(system="", messages=[QUESTION], max_tokens=9, on_event=events.append)
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert events == [*map(TextDelta, pieces), BlockEnd(TextBlock("".join(pieces)))]
    return pieces


def test_a_stream_passes_on_its_words_once_it_is_known_to_bring_no_thoughts(chat_api: ChatApi, make: Make) -> None:
    chat_api.always(chat_reply("In Würzburg."))
    client = make()
    assert [pieces_of(client), pieces_of(client)] == [["In Würzburg."], ["In ", "Würzburg."]]


THOUGHTS = {
    "in tags": "<think>He may be from Munich. [1]</think>\n\nIn Würzburg.",
    "in other tags, twice": "<thinking>Munich?</thinking> <reasoning>No.</reasoning>In Würzburg.",
    "without an opening tag": "He may be from Munich. [1]\n</think>\n\nIn Würzburg.",
    "in capitals": "<Think>\u0130s it?</THINK>In Würzburg.",
    "empty": "<think>\n\n</think>\n\nIn Würzburg.",
    "apart": "In Würzburg.",
}


@pytest.mark.parametrize("stream", [False, True])
def test_thoughts_are_never_the_answer(chat_api: ChatApi, make: Make, stream: bool) -> None:
    for name, content in THOUGHTS.items():
        said: dict[str, Any] = {"reasoning_content": "Munich?"} if name == "apart" else {}
        chat_api.script(chat_reply(content, **said), chat_reply(content, **said))
        client = make()
        for _ in range(2):
            assert ask(client, stream).text == "In Würzburg.", name
    endless: tuple[str | None, ...] = ("<think>Is it Munich", None)
    for unfinished in endless:
        chat_api.script(chat_reply(unfinished, reasoning_content="Is it Munich", finish_reason="length"))
        with pytest.raises(LlmError, match=r"no text but its thoughts \(stop reason: max_tokens\)") as failed:
            ask(make(), stream)
        assert "synthesis.max_tokens" in (failed.value.hint or "")


@pytest.mark.parametrize("stream", [False, True])
def test_tags_within_an_answer_are_no_thoughts(chat_api: ChatApi, make: Make, stream: bool) -> None:
    for content in ("The tag <think> opens them, </think> ends them.", "<table> begins a table.", "<thin", "  < 5 V"):
        chat_api.script(chat_reply(content))
        assert ask(make(), stream).text == content


REFUSALS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "max_tokens": (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        {},
    ),
    "temperature": ("Unsupported value: 'temperature' does not support 0 with this model.", {"temperature": 0}),
    "stream_options": ("Extra inputs are not permitted: stream_options", {}),
    "tool_choice": ("tool_choice is not supported", {"tools": [PICK], "tool_choice": {"type": "tool", "name": "pick"}}),
    "tools": ("qwen does not support tools", {"tools": [PICK], "tool_choice": {"type": "tool", "name": "pick"}}),
    "response_format": ("unknown field response_format", {"response_format": {"type": "json_object"}}),
}


@pytest.mark.parametrize("stream", [False, True])
def test_what_a_server_refuses_is_left_out_and_remembered(chat_api: ChatApi, make: Make, stream: bool) -> None:
    for name, (message, extra) in REFUSALS.items():
        if name == "stream_options" and not stream:
            continue
        model = f"model-{name}"

        def answers(request: dict[str, Any], name: str = name, message: str = message) -> Response:
            return chat_error(400, message) if name in request else chat_reply("Yes.")(request)

        chat_api.always(answers)
        for client in (make(model=model), make(model=model)):
            assert ask(client, stream, extra=extra).text == "Yes.", name
        sent = [request.json for request in chat_api.requests if request.json["model"] == model]
        assert [name in body for body in sent] == [True, False, False], name
        limits = [body.get("max_tokens") or body.get("max_completion_tokens") for body in sent]
        assert limits == [64, 64, 64], name


def test_instructions_go_to_the_user_where_a_template_has_no_role_for_them(chat_api: ChatApi, make: Make) -> None:
    chat_api.script(chat_error(400, "System role not supported"), chat_reply("Yes."))
    assert ask(make(model="gemma")).text == "Yes."
    assert chat_api.requests[-1].json["messages"] == [{"role": "user", "content": "Be brief.\n\nWhere was\n\nhe born?"}]


def test_a_limit_that_is_too_large_is_not_left_out(chat_api: ChatApi, make: Make) -> None:
    chat_api.always(chat_error(400, "max_tokens or max_completion_tokens is too large: 64"))
    with pytest.raises(BadRequestError, match="too large"):
        ask(make(model="small"))
    assert [sorted({"max_tokens", "max_completion_tokens"} & r.json.keys()) for r in chat_api.requests] == [
        ["max_tokens"],
        ["max_completion_tokens"],
    ]


@pytest.mark.parametrize("stream", [False, True])
def test_calls_of_tools_are_read(chat_api: ChatApi, make: Make, stream: bool) -> None:
    chat_api.script(chat_reply(calls=[tool_call("pick", n=3), tool_call("pick", n=4)], finish_reason="tool_calls"))
    reply = ask(make(), stream, extra={"tools": [PICK]})
    assert reply.tool_uses == (ToolUse("pick", {"n": 3}), ToolUse("pick", {"n": 4}))
    assert reply.stop_reason == "tool_use"


@pytest.mark.parametrize("stream", [False, True])
def test_the_reason_of_the_end_is_that_of_the_messages_api(chat_api: ChatApi, make: Make, stream: bool) -> None:
    chat_api.script(chat_reply("He was", finish_reason="length"), chat_reply(refusal="No."))
    assert ask(make(), stream).stop_reason == "max_tokens"
    refused = ask(make(), stream)
    assert (refused.text, refused.stop_reason) == ("No.", "refusal")


SAID = {"message": {"content": "Yes."}, "finish_reason": "stop"}
COUNTS = {"prompt_tokens": 3, "completion_tokens": 1}
LIBERAL: Mapping[str, Any] = {
    "no usage": {"model": "m", "choices": [SAID]},
    "usage of texts": {"model": "m", "choices": [SAID], "usage": {"prompt_tokens": "1", "completion_tokens": 1}},
    "negative usage": {"model": "m", "choices": [SAID], "usage": {"prompt_tokens": -1, "completion_tokens": 1}},
    "no model": {"choices": [SAID], "usage": COUNTS},
    "content in parts": {
        "model": "m",
        "choices": [
            {
                "message": {"content": [{"type": "text", "text": "Ye"}, {"type": "text", "text": "s."}]},
                "finish_reason": "stop",
            }
        ],
        "usage": COUNTS,
    },
    "a reason in capitals": {"model": "m", "choices": [{**SAID, "finish_reason": "STOP"}], "usage": COUNTS},
    "no reason": {"model": "m", "choices": [{"message": {"content": "Yes."}}], "usage": COUNTS},
}


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_that_lacks_what_servers_leave_out_is_read(chat_api: ChatApi, make: Make, stream: bool) -> None:
    for name, document in LIBERAL.items():
        whole = json.loads(json.dumps(document).replace('"message"', '"delta"')) if stream else document
        role = {"choices": [{"delta": {"role": "assistant", "content": None}, "finish_reason": None}]}
        chat_api.script(
            stream_of(role, {"choices": None}, whole) if stream else Response((json.dumps(whole).encode(),))
        )
        reply = ask(make(), stream)
        assert reply.text == "Yes.", name
        assert reply.model == ("qwen" if stream or name == "no model" else "m"), name
        assert reply.stop_reason == (None if name == "no reason" else "end_turn"), name
        assert reply.usage.is_unknown == ("usage" in name), name


@pytest.mark.parametrize("stream", [False, True])
def test_the_budget_counts_the_maximum_of_a_reply_without_usage(chat_api: ChatApi, make: Make, stream: bool) -> None:
    document = {"model": "m", "choices": [SAID]}
    whole = json.loads(json.dumps(document).replace('"message"', '"delta"')) if stream else document
    chat_api.always(stream_of(whole) if stream else Response((json.dumps(whole).encode(),)))
    client = make(budget=Budget(max_tokens=1000))
    ask(client, stream)
    with pytest.raises(BudgetError, match="in use"):
        ask(client, stream)
    assert client.usage == Usage(calls=1, cost_usd=None)


def test_calls_of_tools_without_a_number_or_with_an_object_are_read(chat_api: ChatApi, make: Make) -> None:
    calls = [{"function": {"name": "pick", "arguments": {"n": n}}} for n in (3, 4)]
    deltas = [{"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": None}]} for call in calls]
    end = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
    whole = {"choices": [{"message": {"content": None, "tool_calls": calls}, "finish_reason": "tool_calls"}]}
    chat_api.script(stream_of(*deltas, end), Response((json.dumps(whole).encode(),)))
    for stream in (True, False):
        reply = ask(make(), stream, extra={"tools": [PICK]})
        assert reply.tool_uses == (ToolUse("pick", {"n": 3}), ToolUse("pick", {"n": 4}))


def test_in_place_of_claude_the_only_model_of_the_server_answers(chat_api: ChatApi, make: Make) -> None:
    chat_api.always(chat_reply("Yes."))
    for models, reason in ((None, "does not say which it has"), (["a", "b"], "has 2"), ([], "does not say which")):
        chat_api.models = models
        with pytest.raises(UsageError, match=reason) as refused:
            ask(make(model="claude-opus-4-6"))
        assert "--model" in (refused.value.hint or "")
    assert chat_api.requests == []
    chat_api.models = ["a", "claude-opus-4-6"]
    assert ask(make(model="claude-opus-4-6")).model == "claude-opus-4-6"
    chat_api.models = ["qwen2.5-7b"]
    client = make(model="claude-opus-4-6")
    assert (client.answering(), ask(client).model) == ("qwen2.5-7b", "qwen2.5-7b")
    # The model that rephrases the question by default is one of Claude too.
    assert ask(make(model="mine"), model="claude-haiku-4-5").model == "mine"
    with pytest.raises(UsageError, match=r"answers with the model qwen2\.5-7b") as refused:
        client.check_model("--judge-model")
    assert refused.value.hint == "Name it: --judge-model qwen2.5-7b"


BROKEN: Mapping[str, Any] = {
    "no choices": {"model": "m", "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}},
    "choices of numbers": {"model": "m", "choices": [1], "usage": {"prompt_tokens": 1, "completion_tokens": 1}},
    "content of numbers": {
        "model": "m",
        "choices": [{"message": {"content": 5}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    },
    "arguments that are not JSON": {
        "model": "m",
        "choices": [{"message": {"tool_calls": [{"function": {"name": "pick", "arguments": "{"}}]}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    },
}


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_of_another_shape_is_refused(chat_api: ChatApi, make: Make, stream: bool) -> None:
    accepted = []
    for name, document in BROKEN.items():
        whole = json.loads(json.dumps(document).replace('"message"', '"delta"')) if stream else document
        chat_api.script(stream_of(whole) if stream else Response((json.dumps(whole).encode(),)))
        try:
            ask(make(), stream, extra={"tools": [PICK]})
            accepted.append(name)
        except LlmError as error:
            if "did not send a reply of the chat-completions API" not in error.message and name != "no choices":
                accepted.append(f"{name}: {error.message}")
    assert accepted == []
    chat_api.script(garbage())
    with pytest.raises(LlmError, match="chat-completions API") as failed:
        ask(make(), stream)
    assert "WIKIGR_OPENAI_BASE_URL" in (failed.value.hint or "")


def test_a_stream_must_have_its_end(chat_api: ChatApi, make: Make) -> None:
    for pieces in (2, 4):
        chat_api.script(cut_after(pieces, chat_reply("Yes, it is."), clean=True))
        with pytest.raises(LlmError, match="without its last event"):
            ask(make(), stream=True)


def test_an_error_within_a_stream_has_its_status(chat_api: ChatApi, make: Make) -> None:
    error = {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
    chat_api.script(stream_of(error))
    with pytest.raises(LlmError, match=r"overloaded \(503\): Loading model"):
        ask(make(), stream=True)


def test_the_server_gets_its_own_key_and_nothing_of_openai(
    chat_api: ChatApi, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {
        "OPENAI_API_KEY": "sk-of-openai",
        "OPENAI_ORG_ID": "org-of-openai",
        "OPENAI_PROJECT_ID": "project-of-openai",
        "OPENAI_CUSTOM_HEADERS": "X-Extra: extra-of-openai\nAuthorization: Bearer custom-of-openai",
        "ANTHROPIC_API_KEY": "sk-of-anthropic",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    chat_api.always(chat_reply("Yes."))
    ask(make())
    monkeypatch.setenv("WIKIGR_OPENAI_API_KEY", KEY)
    ask(make(), stream=True)
    without, with_key = (request.headers for request in chat_api.requests)
    assert "authorization" not in without
    assert with_key["authorization"] == f"Bearer {KEY}"
    sent = json.dumps([dict(without), dict(with_key)])
    assert not [name for name in ("of-openai", "of-anthropic", "x-stainless-os") if name in sent]


@pytest.mark.parametrize("stream", [False, True])
def test_an_echoed_key_is_removed(chat_api: ChatApi, make: Make, stream: bool) -> None:
    chat_api.always(chat_reply(f"Your key is {KEY}."))
    assert ask(make(api_key=KEY), stream).text == "Your key is [key]."


def test_the_variable_chooses_this_api(chat_api: ChatApi, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (api_of("claude-opus-4-6"), available()) == ("messages", False)
    monkeypatch.setenv("WIKIGR_OPENAI_BASE_URL", chat_api.base_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert (api_of("claude-opus-4-6"), available()) == ("chat", True)
    assert isinstance(open_client("qwen"), ChatServer)
    assert isinstance(open_client("claude-opus-4-6", api_key=KEY), Claude)
    monkeypatch.setenv("WIKIGR_OPENAI_BASE_URL", "127.0.0.1:8080")
    with pytest.raises(UsageError) as refused:
        open_client("qwen")
    assert "WIKIGR_OPENAI_BASE_URL" in (refused.value.hint or "")


def test_an_answer_with_checked_citations_a_receipt_and_its_replay(
    chat_api: ChatApi, physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIKIGR_OPENAI_BASE_URL", chat_api.base_url)
    chat_api.always(quoting)
    chat_api.models = ["qwen"]
    receipt = tmp_path / "r.json"
    # The default model is Claude, which cites by itself; not on this server.
    arguments = ("ask", "Who found the trail of a positive electron in a cloud chamber?", "--pack", str(physics_pack))
    code, text = call(*arguments, "--json", "--receipt", str(receipt))
    answer = json.loads(text)
    assert (code, answer["query_type"], answer["unverified_claims"]) == (0, "synthesis", [])
    assert answer["citations"][0]["quote"]
    assert (answer["usage"]["input_tokens"], answer["model"]) == (700, "qwen")
    assert json.loads(receipt.read_text())["receipt"]["model_server"] == chat_api.base_url
    code, _ = call("replay", str(receipt), "--pack", str(physics_pack))
    assert (code, len(chat_api.requests)) == (0, 1)
    code, text = call(*arguments, "--stream", "--model", "qwen")
    assert (code, chat_api.requests[-1].json["model"]) == (0, "qwen")
    assert answer["citations"][0]["quote"][:40] in text
    assert "<section number" in call(*arguments, "--show-prompt")[1]
    assert json.loads(call(*arguments, "--offline", "--json")[1])["query_type"] != "synthesis"
    assert len(chat_api.requests) == 2


def call(*arguments: str) -> tuple[int, str]:
    environment = Environment(io.StringIO(), io.StringIO(), io.StringIO())
    code = wikigr_cli.app.run(arguments, environment)
    assert isinstance(environment.stdout, io.StringIO)
    return code, environment.stdout.getvalue()
