"""Failures of complete replies: retries, messages to the user, and redaction of the key."""

from __future__ import annotations

import email.utils
import json
import math
import time
import traceback
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from wikigr.llm import http_api
from wikigr.llm.client import Claude
from wikigr.llm.failures import BadRequestError, LlmError, Server

from .conftest import KEY, Make
from .server import MessagesServer, cut_after, garbage, raw, reply, status

QUESTION = [{"role": "user", "content": "Where was Heisenberg born?"}]


def ask(client: Claude) -> str:
    return client.complete(system="", messages=QUESTION, max_tokens=64).text


@pytest.mark.parametrize("code", [429, 529])
def test_a_passing_failure_is_tried_again(messages_server: MessagesServer, claude: Make, code: int) -> None:
    messages_server.script(status(code), status(code), reply("Yes."))
    client = claude(retries=2)
    assert ask(client) == "Yes."
    assert len({request.raw for request in messages_server.requests}) == 1
    messages_server.always(status(code, "Not now."))
    with pytest.raises(LlmError, match=r"Not now\.") as failed:
        ask(client)
    assert failed.value.status == code
    assert len(messages_server.requests) == 6
    assert client.usage.calls == 1


def test_a_lasting_failure_is_not_tried_again(messages_server: MessagesServer, claude: Make) -> None:
    # The SDK itself would obey this header.
    messages_server.always(status(400, "Never.", retry_after_ms=None, x_should_retry="true", retry_after="600"))
    with pytest.raises(BadRequestError, match=r"Never\.") as failed:
        ask(claude(retries=2))
    assert (failed.value.status, failed.value.hint) == (400, None)
    assert len(messages_server.requests) == 1


def test_retry_after_is_honored_unless_it_takes_too_long(
    messages_server: MessagesServer, claude: Make, monkeypatch: pytest.MonkeyPatch, no_pauses: None
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    messages_server.script(status(429, retry_after_ms=None, retry_after="150"), reply("Yes."))
    assert ask(claude()) == "Yes."
    assert slept == [150]
    date = email.utils.formatdate(time.time() + 86400, usegmt=True)
    for after in ("600", "1e300", date):
        messages_server.script(status(429, retry_after_ms=None, retry_after=after))
        with pytest.raises(LlmError) as failed:
            ask(claude())
        assert failed.value.status == 429
        assert "asks to wait" in (failed.value.hint or "")
    for after in ("nan", "inf", "-5", "soon", "Mon, 99 Foo 2026"):
        messages_server.script(status(429, retry_after_ms=None, retry_after=after), reply("Yes."))
        assert ask(claude()) == "Yes."
    assert len(messages_server.requests) == 2 + 3 + 2 * 5
    assert max(slept[1:]) <= 0.01


@pytest.mark.parametrize(("timeout", "retries"), [(60.0, 2), (0.2, 2), (1.0, 10), (3600.0, 10), (5.0, 0)])
def test_attempts_and_the_waits_between_them_fit_into_the_time_of_a_call(
    timeout: float, retries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(http_api, "time", SimpleNamespace(monotonic=lambda: now))
    transport: Any = SimpleNamespace(deadline=math.inf)
    attempts = http_api._Attempts(transport, timeout, retries)
    for number in range(attempts.retries + 1):
        attempts.begin(httpx2.Request("POST", "http://127.0.0.1"))
        assert 0 < transport.seconds <= timeout
        # Each attempt takes all of its time, and the SDK waits between them.
        now += transport.seconds + (min(0.5 * 2**number, 8.0) if number < attempts.retries else 0.0)
    assert now <= transport.deadline + 1e-9
    assert transport.deadline == pytest.approx(100.0 + timeout * (retries + 1))


@pytest.mark.parametrize(
    ("code", "message", "hint"),
    [
        (401, "did not accept the API key", "ANTHROPIC_API_KEY"),
        (403, "did not accept the API key", "ANTHROPIC_API_KEY"),
        (404, "does not know the model claude-opus-4-6", "synthesis.model"),
        (413, "too large", "sections"),
        (429, "limits the rate", "later"),
        (503, "overloaded", "later"),
        (529, "overloaded", "later"),
    ],
)
def test_each_rejection_has_a_hint(
    messages_server: MessagesServer, claude: Make, code: int, message: str, hint: str
) -> None:
    messages_server.always(status(code))
    with pytest.raises(LlmError, match=message) as failed:
        ask(claude(retries=0))
    assert messages_server.url in failed.value.message
    assert hint in (failed.value.hint or "")


@pytest.mark.parametrize("count", [0, 30])
def test_a_reply_that_breaks_off_is_tried_again(messages_server: MessagesServer, claude: Make, count: int) -> None:
    messages_server.script(cut_after(count, reply("Yes.")), reply("Yes."))
    assert ask(claude(retries=1)) == "Yes."
    messages_server.always(cut_after(count, reply("Yes.")))
    with pytest.raises(LlmError, match="ended before the reply was complete"):
        ask(claude(retries=1))
    assert len(messages_server.requests) == 4


GOOD = {
    "type": "message",
    "model": "m",
    "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "Yes."}],
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


@pytest.mark.parametrize(
    "change",
    [
        {"type": "completion"},
        {"type": None},
        {"model": None},
        {"model": 4},
        {"content": None},
        {"content": "Yes."},
        {"content": ["Yes."]},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "text", "text": 4}]},
        {"content": [{"type": "text", "text": "Yes.", "citations": "none"}]},
        {"content": [{"type": "text", "text": "Yes.", "citations": [4]}]},
        {"stop_reason": 4},
        {"usage": None},
        {"usage": {"input_tokens": 1}},
        {"usage": {"input_tokens": 1, "output_tokens": "1"}},
        {"usage": {"input_tokens": 1, "output_tokens": True}},
        {"usage": {"input_tokens": -1, "output_tokens": 1}},
    ],
    ids=str,
)
def test_json_of_another_shape_is_an_error(
    messages_server: MessagesServer, claude: Make, change: dict[str, Any]
) -> None:
    messages_server.always(raw(json.dumps({**GOOD, **change}).encode()))
    with pytest.raises(LlmError, match="did not send a reply of the Messages API"):
        ask(claude())
    assert len(messages_server.requests) == 1


@pytest.mark.parametrize(
    "behavior",
    [
        garbage(),
        raw(b""),
        raw(b"null"),
        raw(b'["Yes."]'),
        raw(b"[" * 100_000),
        raw(b'{"n": ' + b"9" * 10_000 + b"}"),
        raw(b"\xff\xfe{}"),
        cut_after(40, reply("Yes."), clean=True),
    ],
    ids=["page", "empty", "null", "list", "deep", "huge number", "no UTF-8", "truncated"],
)
def test_anything_but_a_json_object_is_an_error(messages_server: MessagesServer, claude: Make, behavior: Any) -> None:
    messages_server.always(behavior)
    with pytest.raises(LlmError, match="it is not a JSON object") as failed:
        ask(claude())
    assert "ANTHROPIC_BASE_URL" in (failed.value.hint or "")
    assert len(messages_server.requests) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_far_beyond_the_tokens_that_were_asked_for_is_an_error(
    messages_server: MessagesServer, claude: Make, stream: bool
) -> None:
    messages_server.always(reply(*["x" * 500_000] * 4))
    call: dict[str, Any] = {"system": "", "messages": QUESTION}
    if stream:
        call["on_event"] = lambda _: None
    client = claude()
    answer = client.stream if stream else client.complete
    assert len(answer(**call, max_tokens=2_000).text) == 2_000_000
    with pytest.raises(LlmError, match="it is too long"):
        answer(**call, max_tokens=64)
    assert len(messages_server.requests) == 2


def test_an_error_body_with_status_200_is_an_error(messages_server: MessagesServer, claude: Make) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Full."}}
    messages_server.script(raw(json.dumps(error).encode()))
    with pytest.raises(LlmError, match=r"overloaded \(529\): Full\."):
        ask(claude())


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'{"error": {"message": "citations: not supported"}}', "citations: not supported"),
        (b'{"error": "model not loaded"}', "model not loaded"),
        (b"plain words", "plain words"),
        (b'{"error": {"message": "two\\nlines\\u0007 \\u001b[31mred\\u202e"}}', "(400): two lines [31mred"),
        (b"<html>a page</html>", "(400)."),
        (b'{"error": 4}', "(400)."),
        (b"[]", "(400)."),
        (b"", "(400)."),
    ],
)
def test_the_servers_words_are_shown(messages_server: MessagesServer, claude: Make, body: bytes, shown: str) -> None:
    messages_server.script(status(400, body=body))
    with pytest.raises(BadRequestError) as failed:
        ask(claude())
    assert failed.value.message.endswith(shown)
    assert failed.value.message.isprintable()


@pytest.mark.parametrize("code", [400, 401, 529])
def test_the_key_is_never_shown(messages_server: MessagesServer, claude: Make, code: int) -> None:
    hidden = KEY[:8] + "\x00" + KEY[8:]
    messages_server.always(status(code, f"bad key {KEY}; {hidden} " + "x" * (300 - 62) + KEY))
    with pytest.raises(LlmError) as failed:
        ask(claude(retries=1))
    told = "".join(traceback.format_exception(failed.value)) + (failed.value.hint or "")
    assert "bad key [key]; [key]" in told
    assert KEY[:12] not in told


def test_neither_a_key_nor_a_password_in_the_url_is_shown(messages_server: MessagesServer, claude: Make) -> None:
    server = Server(f"http://user:pass-word@gateway.example:81/{KEY}/v1?code=other-secret", KEY)
    assert server.name == "http://gateway.example:81/[key]/v1"
    assert server.clean("no access with other-secret") == "no access with [key]"
    messages_server.always(status(401, retry_after_ms=1))
    url = messages_server.url.replace("//", "//user:pass-word@") + f"/{KEY}"
    with pytest.raises(LlmError) as failed:
        ask(claude(base_url=url, retries=0))
    told = "".join(traceback.format_exception(failed.value))
    assert KEY not in told
    assert "pass-word" not in told
