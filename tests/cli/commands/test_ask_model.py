"""``wikigr ask`` with a model behind it, through a real server on loopback; and the promise of --offline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.llm.server import MessagesServer, Response, first_cited, reply, status, text

from wikigr.answer.abstention import NOT_COVERED

from ..conftest import Wikigr
from ..terminal import in_terminal

QUESTION = "Who measured the wavelength of the electron?"


@pytest.fixture
def model(messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch, wikigr: Wikigr) -> MessagesServer:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-not-to-be-shown")
    messages_server.always(_cite_first)
    return messages_server


def _cite_first(request: dict[str, Any]) -> Response:
    first = next(block for block in request["messages"][0]["content"] if block["type"] == "search_result")
    return reply(
        text("Davisson and Germer", first_cited(first)), text("."), usage={"input_tokens": 1000, "output_tokens": 100}
    )(request)


def test_json_holds_citations_usage_and_cost(wikigr: Wikigr, physics_pack: Path, model: MessagesServer) -> None:
    result = wikigr("ask", QUESTION, "--pack", str(physics_pack), "--json")
    document = json.loads(result.out)
    assert (result.code, document["query_type"], document["model"]) == (0, "synthesis", "claude-opus-4-6")
    assert document["answer"] == "Davisson and Germer [1]."
    assert document["usage"]["input_tokens"] == 1000
    assert document["usage"]["cost_usd"] == pytest.approx(1000 * 5e-6 + 100 * 25e-6)
    (citation,) = document["citations"]
    assert citation["end"] - citation["start"] == len(citation["quote"])
    assert model.requests[0].json.get("stream") in (None, False)


def test_a_streamed_answer_reads_the_same(wikigr: Wikigr, physics_pack: Path, model: MessagesServer) -> None:
    plain = wikigr("ask", QUESTION, "--pack", str(physics_pack), "--no-stream")
    streamed = wikigr("ask", QUESTION, "--pack", str(physics_pack), "--stream")
    assert model.requests[1].json["stream"] is True
    assert streamed.out == plain.out
    assert streamed.out.startswith("Davisson and Germer [1].\n\nSources\n  [1] ")
    assert "1,000 tokens in, 100 out, $0.0075" in streamed.out


def test_the_terminal_is_safe_from_a_streamed_answer(wikigr: Wikigr, physics_pack: Path, model: MessagesServer) -> None:
    model.always(reply("\x1b[2J\x9bboo\u202e"))
    for options in (["--stream"], ["--no-stream"]):
        out = wikigr("ask", QUESTION, "--pack", str(physics_pack), *options).out
        assert "boo" in out
        assert not set(out) & set("\x1b\x9b\u202e")


def test_flags_choose_model_and_offline(wikigr: Wikigr, physics_pack: Path, model: MessagesServer) -> None:
    pack = str(physics_pack)
    wikigr("ask", QUESTION, "--pack", pack, "--model", "claude-haiku-4-5")
    assert model.requests[0].json["model"] == "claude-haiku-4-5"
    result = wikigr("ask", QUESTION, "--pack", pack, "--offline", "--json")
    assert (json.loads(result.out)["query_type"], len(model.requests), result.err) == ("extractive", 1, "")


def test_the_prompt_is_shown_and_not_sent(wikigr: Wikigr, physics_pack: Path, model: MessagesServer) -> None:
    shown = json.loads(wikigr("ask", QUESTION, "--pack", str(physics_pack), "--show-prompt").out)
    assert model.requests == []
    wikigr("ask", QUESTION, "--pack", str(physics_pack))
    assert {key: model.requests[0].json[key] for key in shown} == shown


def test_max_cost_stops_before_it_is_passed(wikigr: Wikigr, physics_pack: Path, model: MessagesServer) -> None:
    stopped = wikigr("ask", QUESTION, "--pack", str(physics_pack), "--max-cost", "0.0001")
    assert (stopped.code, model.requests) == (3, [])
    assert "--max-cost" in stopped.err
    # Two answers fit, the worst case of a third does not; the first two are printed.
    batch = "".join(f"{QUESTION}\n" for _ in range(9))
    part = wikigr("ask", "--batch", "-", "--pack", str(physics_pack), "--max-cost", "0.08", stdin=batch)
    answered = len(part.out.splitlines())
    assert (part.code, len(model.requests)) == (3, answered)
    assert 0 < answered < 9


def test_a_missing_key_is_noted_once_in_a_terminal(wikigr: Wikigr, physics_pack: Path, no_model: None) -> None:
    arguments = ("ask", QUESTION, "--pack", str(physics_pack))
    piped = wikigr(*arguments)
    assert (piped.code, piped.err) == (0, "")
    assert in_terminal("-q", *arguments).err == ""
    first, second = in_terminal(*arguments), in_terminal(*arguments)
    assert "ANTHROPIC_API_KEY" in first.err and "appears once" in first.err
    assert "ANTHROPIC_API_KEY" not in second.err
    assert first.out == second.out


def test_a_missing_key_can_always_be_seen(wikigr: Wikigr, physics_pack: Path, no_model: None) -> None:
    arguments = ("ask", QUESTION, "--pack", str(physics_pack))
    for option in ("-v", "--explain", "--explain", "-v"):
        assert "No model writes the answer, because ANTHROPIC_API_KEY is not set" in wikigr(*arguments, option).err
    assert "No model" not in wikigr(*arguments, "--explain", "--offline").err
    assert json.loads(wikigr(*arguments, "--json").out)["model"] == ""


def test_rephrasing_needs_a_model_or_says_so(wikigr: Wikigr, physics_pack: Path, model: MessagesServer) -> None:
    model.always(reply("Who found how long electron waves are?"))
    arguments = ("search", QUESTION, "--pack", str(physics_pack), "--profile", "recall", "--json")
    online = json.loads(wikigr(*arguments).out)
    assert (online["degraded"], len(model.requests)) == (False, 1)
    offline = wikigr(*arguments, "--offline")
    assert (json.loads(offline.out)["degraded"], len(model.requests)) == (True, 1)
    assert "multi_query" in offline.err


def test_search_names_the_model_that_rephrases(wikigr: Wikigr, physics_pack: Path, model: MessagesServer) -> None:
    model.always(reply("Who found how long electron waves are?"))
    arguments = ("search", QUESTION, "--pack", str(physics_pack), "--json", "--model", "local")
    found = json.loads(wikigr(*arguments, "--profile", "recall").out)
    assert (found["degraded"], [request.json["model"] for request in model.requests]) == (False, ["local"])
    refused = wikigr(*arguments)
    assert (refused.code, "--profile recall" in refused.err, len(model.requests)) == (2, True, 1)
    # A file that cannot be used is an error, also offline: nobody would expect a search without it.
    for options in ((), ("--offline",)):
        missing = wikigr(*arguments[:-1], "none.gguf", "--profile", "recall", *options)
        assert (missing.code, "none.gguf" in missing.err) == (2, True)


def test_a_model_is_named_for_all_that_it_does(wikigr: Wikigr, physics_pack: Path, model: MessagesServer) -> None:
    model.always(reply("Spin is a property of particles."))
    for named, rephrasing in (("local", "local"), ("claude-sonnet-4-5", "claude-haiku-4-5-20251001")):
        wikigr("ask", QUESTION, "--pack", str(physics_pack), "--profile", "recall", "--model", named)
        assert [request.json["model"] for request in model.requests[-2:]] == [rephrasing, named]


def test_a_batch_goes_on_after_a_question_that_fails(wikigr: Wikigr, physics_pack: Path, model: MessagesServer) -> None:
    model.script(status(400, "no"), _cite_first)
    result = wikigr("ask", "--batch", "-", "--pack", str(physics_pack), stdin=f"{QUESTION}\n{QUESTION}\n")
    first, second = map(json.loads, result.out.splitlines())
    assert (result.code, "rejected" in first["error"], second["query_type"]) == (3, True, "synthesis")


def test_a_refusal_is_streamed_once(wikigr: Wikigr, physics_pack: Path, model: MessagesServer) -> None:
    model.always(reply(f"{NOT_COVERED} But it was Bob."))
    streamed = wikigr("ask", QUESTION, "--pack", str(physics_pack), "--stream").out
    assert streamed.startswith(f"{NOT_COVERED}\n\nNearest passages\n")
    assert "Bob" not in streamed
    assert streamed == wikigr("ask", QUESTION, "--pack", str(physics_pack), "--no-stream").out


def test_strict_accepts_the_answer_that_needs_no_model(
    wikigr: Wikigr, physics_pack: Path, model: MessagesServer
) -> None:
    model.always(reply("It was Bob."))
    assert wikigr("ask", QUESTION, "--pack", str(physics_pack), "--strict").code == 0


def test_what_is_not_verified_stands_below_the_answer_that_needs_no_model(
    wikigr: Wikigr, physics_pack: Path, model: MessagesServer
) -> None:
    model.always(reply("It was Bob [1]. Bob lived in Rome."))
    offline = wikigr("ask", QUESTION, "--pack", str(physics_pack), "--offline").out
    answer, level = offline.rstrip().rsplit("\n", 1)
    below = (
        "What claude-opus-4-6 wrote, of which nothing is verified\n"
        "It was Bob [unverified]. Bob lived in Rome [unverified].\n"
    )
    shown = wikigr("ask", QUESTION, "--pack", str(physics_pack)).out
    assert shown.startswith(f"{answer}\n\n{below}{level}\n2 of 2 claims could not be verified.\n")
    markdown = wikigr("ask", QUESTION, "--pack", str(physics_pack), "--format", "md").out
    assert markdown.endswith(below.replace("verified\n", "verified\n\n", 1)), markdown
    document = json.loads(wikigr("ask", QUESTION, "--pack", str(physics_pack), "--json").out)
    assert (document["query_type"], document["model"], document["claims"]) == ("extractive", "claude-opus-4-6", 2)
    assert document["unverified_claims"] == ["It was Bob.", "Bob lived in Rome."]
    assert document["rejected"]["citations"] == []


def test_a_terminal_shows_the_answer_that_needs_no_model_first(physics_pack: Path, model: MessagesServer) -> None:
    ask = ("ask", QUESTION, "--pack", str(physics_pack))
    offline = in_terminal(*ask, "--offline").out
    agreed = in_terminal(*ask).out
    assert agreed.startswith(f"{offline}\nDavisson and Germer [1].\n\nSources\n")
    assert agreed.splitlines()[-2].endswith(", the same with and without the model")
    model.always(reply("It was Bob."))
    rejected = in_terminal(*ask).out
    assert rejected.startswith(f"{offline}\nIt was Bob [unverified].\n\nThe answer above stands.\n")
    assert rejected.count("Davisson") == offline.count("Davisson")


def test_strict_counts_a_model_that_declines(wikigr: Wikigr, physics_pack: Path, model: MessagesServer) -> None:
    model.always(reply(NOT_COVERED))
    assert wikigr("ask", QUESTION, "--pack", str(physics_pack), "--strict").code == 1


# Runs commands in turn and prints the exit code, the output and the attempts to use the network of each.
OFFLINE = """
import io, json, sys
touched = []
def refuse(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        touched.append(f"{event} {args[1:]}")
        raise SystemExit("the network was touched")
sys.addaudithook(refuse)
from wikigr_cli.app import run
from wikigr_cli.environment import Environment
outcomes = []
for command in json.loads(sys.argv[1]):
    touched.clear()
    environment = Environment(io.StringIO(), io.StringIO(), io.StringIO())
    try:
        code = int(run(command, environment))
    except SystemExit:
        code = 1
    outcomes.append((code, environment.stdout.getvalue(), list(touched)))
print(json.dumps(outcomes))
"""


@pytest.mark.parametrize(
    "profiles",
    [("enhanced",), pytest.param(("baseline", "recall", "fast", "precise"), marks=pytest.mark.trust)],
    ids=["default", "others"],
)
def test_offline_touches_no_network(physics_pack: Path, tmp_path: Path, profiles: tuple[str, ...]) -> None:
    environment = {**os.environ, "ANTHROPIC_API_KEY": "sk-x", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    environment["HF_HOME"] = str(tmp_path)
    ask = ("ask", QUESTION, "--pack", str(physics_pack), "--offline", "--profile")
    # An attempt is seen: this command makes one, without the import of a client that takes seconds.
    online = ("pack", "install", "http://127.0.0.1:9/pack.wikigr", "--allow-private")
    commands = [*((*ask, profile) for profile in profiles), online]
    program = [sys.executable, "-c", OFFLINE, json.dumps(commands)]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
    outcomes = json.loads(done.stdout)
    *answered, (code, _, touched) = outcomes
    assert code != 0 and touched
    assert len(answered) == len(profiles)
    for code, out, touched in answered:
        assert (code, "Davisson" in out, touched) == (0, True, [])
