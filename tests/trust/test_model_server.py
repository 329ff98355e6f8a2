"""A faulty model server: every failure has an exit code and a message, and answers from the pack remain available."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Wikigr
from tests.llm.server import (
    Behavior,
    MessagesServer,
    Response,
    cut_after,
    dripping,
    garbage,
    never,
    raw,
    reply,
    respond,
    status,
)
from tests.trust.conftest import Tally
from tests.trust.hostile import QUESTION

RETRIES = 1
PROFILE = f"{{synthesis: {{timeout: 1.0, retries: {RETRIES}}}, %s}}\n"
ANSWER = reply("Mara Quill keeps it [1].")


def half(*, clean: bool = False) -> Behavior:
    """Close the connection in the middle of a stream or of a complete reply."""

    def behave(request: dict[str, Any]) -> Response:
        return respond(cut_after(4 if request.get("stream") else 40, ANSWER, clean=clean), request)

    return behave


FAULTS: dict[str, Behavior] = {
    "429": status(429, "slow down"),
    "429, wait for a day": status(429, "slow down", retry_after_ms=None, retry_after="86400"),
    "429, wait for ever": status(429, "slow down", retry_after_ms=None, retry_after="1e999"),
    "500": status(500, "oops"),
    "529": status(529, "overloaded"),
    "garbage JSON": raw(b'{"type": "mess'),
    "JSON of another kind": raw(b'[1, 2, {"content": null}]'),
    "a message of nothing": raw(b'{"type": "message"}'),
    "deep JSON": raw(b"[" * 100_000),
    "HTML": garbage(),
    "half a reply": half(),
    "half a reply, ended cleanly": half(clean=True),
    "closed": Response((b"x",), cut=0),
    "hung": never(),
    "another content type": raw(b"\x89PNG\r\n", "image/png"),
    "a tool that is not offered": reply(
        {"type": "tool_use", "id": "t", "name": "run_shell", "input": {"command": "true"}}, stop_reason="tool_use"
    ),
    "50 MB": raw(b'{"type": "message", "x": "' + b"a" * (50 * 1024 * 1024)),
    "a slow drip": dripping(0.01, ANSWER),
    "a redirect": Response((b"",), 302, headers={"location": "http://127.0.0.1:9/"}),
    "204": Response((b"",), 204),
    "an empty body": raw(b""),
    "NUL bytes": raw(b"\x00" * 1000),
    "no UTF-8": raw(b'{"type": "\xff\xfe"}'),
}


@pytest.fixture
def model(
    messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch, wikigr: Wikigr, tmp_path: Path
) -> MessagesServer:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    (tmp_path / "p.yaml").write_text(PROFILE % "")
    (tmp_path / "multi.yaml").write_text(PROFILE % "multi_strategy: {enabled: true, max_calls: 4}")
    (tmp_path / "rephrase.yaml").write_text(PROFILE % "retrieval: {multi_query: true}")
    return messages_server


@pytest.mark.parametrize("fault", FAULTS)
def test_ask(
    wikigr: Wikigr, model: MessagesServer, hostile_pack: Path, tally: Callable[[str], Tally], fault: str
) -> None:
    model.always(FAULTS[fault])
    for options in ((), ("--stream",), ("--json",)):
        before, started = len(model.requests), time.monotonic()
        result = wikigr("ask", QUESTION, "--pack", str(hostile_pack), "--profile", "p.yaml", *options)
        took = time.monotonic() - started
        if fault == "a slow drip" and "--stream" in options:
            # Every piece comes in time, so that the stream may go on.
            assert result.code in (0, 3)
        elif fault == "a tool that is not offered":
            # A reply without text is one with nothing verified: the answer that needs no model is the answer.
            assert (result.code, "Mara Quill" in result.out) == (0, True), (options, result)
        else:
            # Of half a reply, nothing is printed either: a claim that is not ended cannot be verified.
            assert (result.code, result.out) == (3, ""), (options, result)
        assert result.err.strip()
        assert "a bug" not in result.err, result.err
        assert len(result.err) < 1_500
        assert 1 <= len(model.requests) - before <= RETRIES + 1
        assert took < 30
        tally("faulty model server: ask").refused()
    # The pack's own answer is one flag away.
    assert wikigr("ask", QUESTION, "--pack", str(hostile_pack), "--offline").code == 0


@pytest.mark.parametrize("fault", FAULTS)
def test_searches_that_a_model_helps_go_on_without_it(
    wikigr: Wikigr, model: MessagesServer, hostile_graph: Path, tally: Callable[[str], Tally], fault: str
) -> None:
    if fault == "a slow drip":
        pytest.skip("a drip that ends in time is an answer")
    model.always(FAULTS[fault])
    result = wikigr("search", "keeper of Orrin", "--pack", str(hostile_graph), "--profile", "rephrase.yaml", "--json")
    document = json.loads(result.out)
    assert (result.code, document["degraded"]) == (0, True), result.err
    assert document["results"]
    assert "multi_query" in result.err
    assert len(model.requests) <= RETRIES + 1
    tally("faulty model server: search continues, degraded").harmless()


@pytest.mark.parametrize("fault", ["429", "500", "garbage JSON", "closed", "a tool that is not offered", "50 MB"])
def test_the_planner_fails_and_the_pack_still_answers(
    wikigr: Wikigr, model: MessagesServer, hostile_graph: Path, tally: Callable[[str], Tally], fault: str
) -> None:
    def behave(request: dict) -> Response:  # type: ignore[type-arg]
        planning = "You plan how" in json.dumps(request["system"])
        return respond(FAULTS[fault] if planning else reply("Mara Quill keeps Orrin."), request)

    model.always(behave)
    arguments = ("--pack", str(hostile_graph), "--profile", "multi.yaml", "--json")
    # No relation path answers a question of this form before the planner.
    result = wikigr("ask", "Is Mara Quill the keeper of Orrin?", *arguments)
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert document["answer"]
    assert document["degraded"] is True
    assert "graph_" in result.err
    assert len(model.requests) <= 4 * (RETRIES + 1) + RETRIES + 1
    tally("faulty model server: planner").harmless()


@pytest.mark.parametrize("fault", ["429", "500", "garbage JSON", "closed", "a tool that is not offered", "HTML"])
def test_the_judge_fails_and_the_answers_are_kept(
    wikigr: Wikigr, model: MessagesServer, hostile_pack: Path, own_caches: Path, tmp_path: Path,
    tally: Callable[[str], Tally], fault: str,
) -> None:  # fmt: skip
    def behave(request: dict) -> Response:  # type: ignore[type-arg]
        judging = "You grade" in json.dumps(request["system"])
        return respond(FAULTS[fault] if judging else reply("Mara Quill keeps it."), request)

    model.always(behave)
    row = {"id": "q", "question": QUESTION, "answerable": True, "answers": ["Mara"], "gold": [{"title": "Plain quay"}]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(row) + "\n")
    common = ("eval", "run", "--pack", str(hostile_pack), "--questions", "gold.jsonl", "-o", "run")
    result = wikigr(*common, "--profile", "p.yaml", "--judge", "claude", "--json")
    assert result.code == 0, result.err
    (sample,) = [json.loads(line) for line in (tmp_path / "run" / "samples.jsonl").read_text().splitlines()][-1:]
    assert sample["answer"]
    assert sample["judgment"]["verdict"] == "error"
    assert json.loads(result.out)["judge"]["errors"] == 1
    tally("faulty model server: judge").harmless()


def test_a_budget_holds_whatever_the_server_reports(
    wikigr: Wikigr, model: MessagesServer, hostile_pack: Path, tally: Callable[[str], Tally]
) -> None:
    lies = {"input_tokens": -(10**9), "output_tokens": -5, "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0}  # fmt: skip
    model.always(reply("Mara.", usage=lies))
    batch = "".join(f"{QUESTION} {n}\n" for n in range(12))
    arguments = ("ask", "--batch", "-", "--pack", str(hostile_pack), "--profile", "p.yaml", "--max-cost", "0.2")
    result = wikigr(*arguments, stdin=batch)
    assert "a bug" not in result.err
    assert result.code in (0, 3)
    model.always(status(500, "oops"))
    before = len(model.requests)
    assert wikigr(*arguments, stdin=batch).code == 3
    assert len(model.requests) - before <= 12 * (RETRIES + 1)
    tally("faulty model server: budget").refused(2)
