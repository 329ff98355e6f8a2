"""Complete replies: the request, the parsed reply and its usage, and where keys and servers come from."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from wikigr.errors import UsageError
from wikigr.llm import available
from wikigr.llm.budget import Budget, BudgetError
from wikigr.llm.client import Claude
from wikigr.llm.failures import LlmError
from wikigr.llm.usage import Usage

from .conftest import Make
from .server import MessagesServer, reply, status, usage

QUESTION = [{"role": "user", "content": "Where was Heisenberg born?"}]


def test_the_request_is_the_one_that_was_asked_for(messages_server: MessagesServer, claude: Make) -> None:
    messages_server.always(reply("Yes."))
    system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    claude().complete(system=system, messages=QUESTION, max_tokens=64, extra={"stop_sequences": ["\n\n"]})
    claude().complete(system="", messages=QUESTION, max_tokens=64, model="claude-haiku-4-5")
    first, second = (request.json for request in messages_server.requests)
    assert first.pop("stream") is False
    assert first == {
        "model": "claude-opus-4-6",
        "max_tokens": 64,
        "messages": QUESTION,
        "system": system,
        "stop_sequences": ["\n\n"],
    }
    assert second["model"] == "claude-haiku-4-5"
    assert "system" not in second


@pytest.mark.parametrize("name", ["model", "max_tokens", "messages", "system", "stream"])
def test_extra_cannot_get_round_the_budget(claude: Make, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        claude().complete(system="", messages=QUESTION, max_tokens=64, extra={name: 1})


def test_text_that_is_not_unicode_is_refused(messages_server: MessagesServer, claude: Make) -> None:
    with pytest.raises(UsageError):
        claude().complete(system="", messages=[{"role": "user", "content": "\udcff"}], max_tokens=64)
    assert messages_server.requests == []


def test_usage_adds_up_over_calls_and_threads(messages_server: MessagesServer, claude: Make) -> None:
    messages_server.always(reply("Yes.", usage=usage(100, 10, read=1000, written=50)))
    client = claude()
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(client.complete, system="", messages=QUESTION, max_tokens=9) for _ in range(8)]
        one = asked[0].result().usage
    cost = pytest.approx(8 * (one.cost_usd or 0))
    assert client.usage == Usage(800, 80, 8000, 400, 8, cost)  # type: ignore[arg-type]


def test_the_budget_counts_the_bytes_of_the_whole_request(messages_server: MessagesServer, claude: Make) -> None:
    messages_server.always(reply("Yes."))
    client = claude(budget=Budget(max_tokens=2000))
    with pytest.raises(BudgetError):
        client.complete(system="ü" * 1500, messages=QUESTION, max_tokens=10)
    client.complete(system="u" * 1500, messages=QUESTION, max_tokens=10)
    assert len(messages_server.requests) == 1


def test_a_failed_call_costs_nothing_and_frees_the_budget(messages_server: MessagesServer, claude: Make) -> None:
    messages_server.script(status(400, "no"), reply("Yes."))
    client = claude(budget=Budget(max_tokens=700))
    with pytest.raises(LlmError):
        client.complete(system="", messages=QUESTION, max_tokens=64)
    assert client.usage == Usage()
    client.complete(system="", messages=QUESTION, max_tokens=64)


def test_key_and_server_come_from_the_environment(
    messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages_server.always(reply("Yes."))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "the-token")
    for expected in ("the-token", "the-key"):
        client = Claude(model="claude-opus-4-6")
        client.complete(system="", messages=QUESTION, max_tokens=64)
        client.close()
        assert messages_server.requests[-1].headers["authorization"] == f"Bearer {expected}"
        monkeypatch.setenv("ANTHROPIC_API_KEY", " the-key\n")


def test_a_local_server_needs_no_key_and_gets_none_from_disk(
    messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stored = tmp_path / "configs" / "default.json"
    stored.parent.mkdir()
    stored.write_text(json.dumps({"authentication": {"type": "user_oauth"}, "base_url": "http://127.0.0.1:9"}))
    secret = tmp_path / "credentials" / "default.json"
    secret.parent.mkdir()
    secret.write_text(json.dumps({"type": "oauth_token", "access_token": "from-disk"}))
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_PROFILE", "default")
    messages_server.always(reply("Yes."))
    client = Claude(model="qwen3:8b", base_url=messages_server.url)
    client.complete(system="", messages=QUESTION, max_tokens=64)
    client.close()
    assert messages_server.requests[0].headers["authorization"] == "Bearer none"
    assert client.sdk.credentials is None


def test_a_server_on_this_machine_is_not_asked_through_a_proxy(
    messages_server: MessagesServer, claude: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.setenv(name.lower(), "http://127.0.0.1:9")
    messages_server.always(reply("Yes."))
    for host in ("127.0.0.1", "localhost"):
        url = messages_server.url.replace("127.0.0.1", host)
        claude(base_url=url, retries=0).complete(system="", messages=QUESTION, max_tokens=64)
    assert len(messages_server.requests) == 2


@pytest.mark.usefixtures("no_model")
class TestConfiguration:
    @pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"])
    def test_any_of_three_variables_makes_a_model_available(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        assert not available()
        monkeypatch.setenv(name, " ")
        assert not available()
        monkeypatch.setenv(name, "x")
        assert available()

    def test_without_key_and_server_there_is_nothing_to_ask(self) -> None:
        with pytest.raises(UsageError) as refused:
            Claude(model="claude-opus-4-6")
        assert "ANTHROPIC_API_KEY" in (refused.value.hint or "")

    @pytest.mark.parametrize("key", ["sk ant", "sk-ant-ö", "sk-ant\r\nX-Other: 1", "sk\x00"])
    def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(self, key: str) -> None:
        with pytest.raises(UsageError) as refused:
            Claude(model="claude-opus-4-6", api_key=key)
        assert key not in str(refused.value)

    @pytest.mark.parametrize(
        "url", ["127.0.0.1:8080", "ftp://host", "http://", "http://[::1", "http://host:99999", "http://host:port"]
    )
    def test_a_base_url_must_be_one(self, url: str) -> None:
        with pytest.raises(UsageError, match="base URL"):
            Claude(model="claude-opus-4-6", base_url=url)


def test_the_sdk_is_not_imported_before_the_first_call() -> None:
    program = """
import sys
from wikigr.llm import available, budget, client, usage
available()
made = client.Claude(model="claude-opus-4-6", base_url="http://127.0.0.1:9", budget=budget.Budget())
made.usage, made.close()
heavy = {"anthropic", "httpx2", "pydantic", "yaml", "numpy"} & sys.modules.keys()
print(sorted(heavy))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
