"""A model's server that breaks HTTP: every call ends in time with an ``LlmError``, and other servers get nothing."""

from __future__ import annotations

import re
import socket
from typing import Any

import pytest
from tests.scripted_server import (
    BEHAVIORS,
    CLOSE,
    END,
    EVENTS,
    OK,
    STREAM,
    Behavior,
    Peer,
    ScriptedServer,
    drips,
    play_all,
    playing,
    redirects,
    reply,
    sends,
    stays,
)

from wikigr.errors import UsageError
from wikigr.llm.chat_server import ChatServer
from wikigr.llm.client import Claude
from wikigr.llm.failures import LlmError

from .conftest import KEY

pytestmark = pytest.mark.usefixtures("no_model", "no_pauses")

TIMEOUT, RETRIES = 0.5, 1
# For behaviors that exceed another limit than the time. On a busy machine, reading that far can take longer than 0.5 s.
PATIENT = 180.0
# Each behavior with the error of a complete reply and that of a stream. "" is a good reply.
SLOW = r"did not answer within 0\.5 s"
FLOOD = "did not send a reply of the Messages API: (it is too long|.* exceeded the 1048576 byte limit)"
BROKEN = "ended before the reply was complete"
OTHER = "did not send a reply of the Messages API"
EXPECTED = {
    "no answer": (SLOW, SLOW),
    "a dripped status line": (SLOW, SLOW),
    "dripped headers": (SLOW, SLOW),
    "an endless header block": (BROKEN, BROKEN),
    "an endless header": (BROKEN, BROKEN),
    "dripped 103 responses": (SLOW, SLOW),
    "endless 103 responses": (BROKEN, BROKEN),
    "dripped 100 responses": (SLOW, SLOW),
    "101, switching protocols": (BROKEN, BROKEN),
    "a dripped body": (SLOW, SLOW),
    "a dripped body until close": (SLOW, SLOW),
    "a body that stops": (SLOW, SLOW),
    "an endless body": (FLOOD, FLOOD),
    "a dripped chunk size": (SLOW, SLOW),
    "a dripped chunk extension": (SLOW, SLOW),
    "an endless chunk extension": (BROKEN, BROKEN),
    "dripped trailers": (SLOW, SLOW),
    "endless trailers": (BROKEN, BROKEN),
    "an invalid chunk size": (BROKEN, BROKEN),
    "a negative chunk size": (BROKEN, BROKEN),
    "a huge chunk size": (BROKEN, BROKEN),
    "a dripped error": (SLOW, SLOW),
    "an endless error": (r"\(400\): xxx", r"\(400\): xxx"),
    "an endless busy error": (r"overloaded \(503\)", r"overloaded \(503\)"),
    "a gzip bomb": (r"compressed \('gzip'\)", r"compressed \('gzip'\)"),
    "a gzip bomb as an error": (r"\(400\)\.$", r"\(400\)\.$"),
    "a gzip bomb in gzip": ("compressed", "compressed"),
    "a charset that decompresses": (r"\(400\)", r"\(400\)"),
    "a redirect to itself": (r"redirects to another address \(307\)", r"redirects to another address \(307\)"),
    "a body longer than announced": (OTHER, BROKEN),
    "a body shorter than announced": (BROKEN, BROKEN),
    "a negative length": (BROKEN, BROKEN),
    "two lengths": (BROKEN, BROKEN),
    "a reset before the answer": (BROKEN, BROKEN),
    "a reset in the headers": (BROKEN, BROKEN),
    "a reset in the body": (BROKEN, BROKEN),
    "a half-close in the headers": (BROKEN, BROKEN),
    "a reply that never closes": (SLOW, SLOW),
    "two replies at once": ("", BROKEN),
    "HTTP/0.9": (BROKEN, BROKEN),
    "binary garbage": (BROKEN, BROKEN),
    "an empty body": (OTHER, BROKEN),
    "a year of Retry-After": (r"\(429\)", r"\(429\)"),
    "SSE comments": (SLOW, SLOW),
    "endless SSE comments": (FLOOD, FLOOD),
    "SSE pings": (SLOW, SLOW),
    "one endless SSE event": (FLOOD, FLOOD),
    "one SSE event of short lines": (FLOOD, FLOOD),
    "invalid UTF-8 in SSE": (OTHER, BROKEN),
}


def claude(url: str, **options: Any) -> Claude:
    return Claude(**{"model": "m", "api_key": KEY, "base_url": url, "timeout": TIMEOUT, "retries": RETRIES, **options})


def ask(client: Claude | ChatServer, stream: bool, question: str = "Where?") -> str:
    """Return the error of a call, or "" for a good reply."""
    call: dict[str, Any] = {"system": "", "messages": [{"role": "user", "content": question}], "max_tokens": 64}
    try:
        reply = client.stream(**call, on_event=lambda _: None) if stream else client.complete(**call)
    except LlmError as error:
        return error.message
    assert reply.text == "Yes."
    return ""


@pytest.mark.parametrize(
    ("kind", "stream"),
    [
        (Claude, True),
        pytest.param(Claude, False, marks=pytest.mark.trust),
        pytest.param(ChatServer, True, marks=pytest.mark.trust),
    ],
)
def test_every_behavior_ends_in_time_with_an_error(stream: bool, kind: type[Claude | ChatServer]) -> None:

    def call(server: ScriptedServer, name: str) -> str:
        timeout = TIMEOUT if expected[name] == SLOW else PATIENT
        client = kind(model="m", api_key=KEY, base_url=server.url, timeout=timeout, retries=RETRIES)
        error = ask(client, stream)
        client.close()
        return error

    assert EXPECTED.keys() == BEHAVIORS.keys()
    names = {Claude: "Messages API", ChatServer: "chat-completions API"}
    expected = {name: pattern[stream].replace(names[Claude], names[kind]) for name, pattern in EXPECTED.items()}
    found = play_all(call)
    offenders = {name: text for name, text in found.items() if not matches(expected[name], text)}
    assert offenders == {}


def matches(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None if pattern else text == ""


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_takes_nothing_to_another_server(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Secret: hidden-value")
    with playing(sends(reply(OK))) as other, playing(redirects(status, f"{other.url}/v1/messages")) as server:
        for stream in (False, True):
            assert f"redirects to another address ({status})" in ask(claude(server.url), stream)
        assert len(server.requests) == 2
        assert other.connections == 0


def test_a_good_stream_may_take_longer_than_the_timeout_but_not_than_the_whole_limit() -> None:
    """An event postpones the deadline of the next one, unlike a ping, and the limit of the call stays."""

    def slowly(event: bytes) -> Behavior:
        def play(peer: Peer) -> None:
            start, rest = EVENTS.split(b"\n\n", 1)
            peer.send(OK, STREAM, CLOSE, END, start, b"\n\n")
            for _ in range(25):
                peer.server.closing.wait(0.1)
                peer.send(event, b"\n\n")
            peer.send(rest)
            peer.connection.shutdown(socket.SHUT_RDWR)

        return play

    with playing(slowly(b'data: {"type": "of the future"}')) as server:
        assert ask(claude(server.url, timeout=2.0, retries=29), stream=True) == ""
        assert "within 0.5 s" in ask(claude(server.url, timeout=0.5, retries=0), stream=True)
    with playing(slowly(b'data: {"type": "ping"}')) as server:
        assert "within 0.5 s" in ask(claude(server.url, timeout=0.5, retries=8), stream=True)


def test_a_server_that_reads_nothing_ends_in_time() -> None:
    with playing(mute=True) as server:
        assert "did not answer" in ask(claude(server.url), stream=False, question="x" * 30_000_000)
        assert not server.closing.is_set()


def test_a_compressed_reply_is_asked_for_once() -> None:
    """Another attempt would be compressed as well, and billed as well."""
    with playing(BEHAVIORS["a gzip bomb"]) as server:
        ask(claude(server.url), stream=False)
        assert len(server.requests) == 1
        assert b"accept-encoding: identity" in server.requests[0].lower()


def test_a_reply_that_was_not_asked_for_does_not_answer_the_next_question() -> None:
    with playing(BEHAVIORS["two replies at once"]) as server:
        client = claude(server.url, timeout=5.0)
        assert [ask(client, stream=False) for _ in range(3)] == [""] * 3
        client.close()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("SSL_CERT_FILE", "/none/such.pem", "Cannot read the trusted certificates"),
        ("HTTPS_PROXY", "ftp://user:pass-word@proxy.example", "not a valid URL"),
        ("HTTPS_PROXY", "http://user:pass-word@[::1", "not a valid URL"),
    ],
)
def test_an_environment_that_cannot_be_used_is_a_usage_error(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=message) as refused:
        ask(claude("https://model.example"), stream=False)
    assert "pass-word" not in str(refused.value)


def test_a_proxy_that_never_answers_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with playing(stays()) as proxy, playing(drips(b"HTTP/1.1 200 ", b"O")) as dripping:
        for server, scheme in ((dripping, "http"), (proxy, "http"), (proxy, "https")):
            monkeypatch.setenv("HTTP_PROXY", server.url)
            monkeypatch.setenv("HTTPS_PROXY", server.url)
            assert "did not answer" in ask(claude(f"{scheme}://model.example"), stream=False)
        assert b"CONNECT model.example:443" in proxy.requests[-1]


def test_a_proxy_is_used_unless_the_environment_exempts_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    with playing(sends(reply(OK))) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.replace("//", "//user:pass-word@"))
        assert ask(claude("http://model.example"), stream=False) == ""
        assert proxy.requests[0].startswith(b"POST http://model.example/v1/messages")
        assert b"proxy-authorization: basic" in proxy.requests[0].lower()
        monkeypatch.setenv("NO_PROXY", "model.example")
        real = socket.getaddrinfo

        def resolve(host: str, *rest: Any, **named: Any) -> Any:
            return [] if host == "model.example" else real(host, *rest, **named)

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        assert "Cannot connect" in ask(claude("http://model.example", retries=0), stream=False)
        assert len(proxy.requests) == 1
