"""Runs with a model that answers and a model that judges."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.llm.server import MessagesServer, Response, reply, status

from wikigr.answer.abstention import NOT_COVERED
from wikigr.evaluation.samples import read_samples

from ...conftest import Result, Wikigr
from .conftest import FEW, Run, write_questions


class TestModels:
    """Runs with a model that answers, and with one that judges."""

    @pytest.fixture
    def model(self, messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch) -> MessagesServer:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
        messages_server.always(answer_or_judge)
        return messages_server

    @pytest.fixture
    def ask(self, wikigr: Wikigr, physics_pack: Path, questions: Path, model: MessagesServer) -> Run:
        write_questions(questions, *FEW)

        def call(folder: str, *options: str) -> Result:
            common = ("--pack", str(physics_pack), "--questions", str(questions), "-o", folder)
            return wikigr("eval", "run", *common, *options)

        return call

    def test_usage_is_each_answers_own_whatever_the_jobs(self, ask: Run, model: MessagesServer, tmp_path: Path) -> None:
        # Slow enough that the threads' calls overlap.
        model.always(lambda request: replace(reply("It is spin.", usage=USED)(request), delay=0.02))
        document = json.loads(ask("r", "--profile", "baseline", "--profile", "enhanced", "--jobs", "4", "--json").out)
        found = [sample for sample in read_samples(tmp_path / "r") if sample.usage or sample.cached]
        fresh = [sample for sample in found if not sample.cached]
        assert len(fresh) > 3
        assert {sample.usage["calls"] for sample in fresh} == {1}
        assert {sample.usage["input_tokens"] for sample in fresh} == {1000}
        assert sum(sample.usage["calls"] for sample in fresh) == len(model.requests)
        told = sum(profile["usage"]["input_tokens"] for profile in document["profiles"])
        assert told == 1000 * len(model.requests)

    def test_a_second_run_is_answered_from_the_cache(self, ask: Run, model: MessagesServer, tmp_path: Path) -> None:
        options = ("--profile", "enhanced", "--judge", "claude", "--json")
        first = json.loads(ask("one", *options).out)
        asked = len(model.requests)
        assert asked > sum(FEW)
        second = json.loads(ask("two", *options).out)
        assert len(model.requests) == asked
        for key in ("metrics", "abstained"):
            assert first["profiles"][0][key] == second["profiles"][0][key]
        before, after = read_samples(tmp_path / "one"), read_samples(tmp_path / "two")
        assert [s.answer for s in before] == [s.answer for s in after]
        assert not any(s.cached for s in before)
        assert [s.cached for s in after] == [bool(s.usage) for s in before]
        assert not any(s.usage or s.judge_usage for s in after)
        assert second["profiles"][0]["usage"]["cost_usd"] == second["judge"]["cost_usd"] == 0.0
        assert second["judge"]["judged"] == first["judge"]["judged"] == sum(FEW)
        # Another answer comes only when it is asked for, and takes the old one's place.
        model.always(reply(NOT_COVERED))
        ask("three", "--profile", "enhanced", "--fresh")
        third = read_samples(tmp_path / "three")
        assert [s.usage.get("calls") for s in third] == [s.usage.get("calls") for s in before]
        assert {s.answer for s in third} == {NOT_COVERED}
        ask("four", "--profile", "enhanced")
        assert [s.answer for s in read_samples(tmp_path / "four")] == [s.answer for s in third]

    def test_errors_are_asked_again_and_never_come_from_the_cache(
        self, ask: Run, model: MessagesServer, tmp_path: Path
    ) -> None:
        model.always(status(400, "no"))
        ask("r", "--profile", "enhanced")
        failed = [s for s in read_samples(tmp_path / "r") if s.error]
        assert failed
        model.always(reply("It is spin."))
        ask("r", "--profile", "enhanced")
        assert [s.cached for s in read_samples(tmp_path / "r") if s.usage] == [False] * len(failed)

    def test_every_repeat_is_an_answer_of_its_own(self, ask: Run, model: MessagesServer, tmp_path: Path) -> None:
        numbers = iter(range(10_000))
        model.always(lambda request: reply(NOT_COVERED if next(numbers) % 2 else "It is spin.")(request))
        options = ("--profile", "enhanced", "--repeat", "3", "--jobs", "2")
        ask("one", *options)
        asked = len(model.requests)
        first = read_samples(tmp_path / "one")
        assert sum(s.usage.get("calls", 0) for s in first) == asked > 3
        answers: dict[str, set[str]] = {}
        for sample in first:
            answers.setdefault(sample.question_id, set()).add(sample.answer)
        assert any(len(of_one) == 2 for of_one in answers.values())
        assert len(first) == 3 * sum(FEW)
        ask("two", *options)
        assert len(model.requests) == asked
        assert [s.answer for s in read_samples(tmp_path / "two")] == [s.answer for s in first]

    def test_a_judged_run(self, ask: Run, wikigr: Wikigr, model: MessagesServer, tmp_path: Path) -> None:
        result = ask("r", "--judge", "claude")
        assert result.code == 0, result.err
        found = read_samples(tmp_path / "r")
        judging = [request for request in model.requests if "tool_choice" in request.json]
        gold = [row["answers"] for row in map(json.loads, (tmp_path / "gold.jsonl").read_text().splitlines())]
        assert len(judging) + sum(s.usage.get("calls", 0) for s in found) == len(model.requests)
        assert all(b"accepted_answers" not in r.raw for r in model.requests if r not in judging)
        assert all(any(answers[0] in r.raw.decode() for r in judging) for answers in gold if answers)
        assert sum(s.judge_usage.get("calls", 0) for s in found) == len({r.raw for r in judging})
        assert {s.metrics["judged"] for s in found} == {0.5}
        document = json.loads(wikigr("eval", "report", "r", "--format", "json").out)
        judge = document["judge"]
        calls = len(judging)
        assert (judge["model"], judge["judged"], judge["errors"]) == ("claude-opus-4-6", 2 * sum(FEW), 0)
        assert judge["usage"]["calls"] == calls
        assert judge["cost_usd"] == pytest.approx(calls * (200 * 5e-6 + 20 * 25e-6))
        assert document["profiles"][0]["metrics"]["judged"]["mean"] == 0.5
        assert f"{2 * sum(FEW)} judged, 0 errors, $" in result.out
        assert "advisory" in wikigr("eval", "report", "r", "--all").out
        before = (tmp_path / "r" / "samples.jsonl").read_bytes()
        ask("r", "--judge", "claude")
        assert (tmp_path / "r" / "samples.jsonl").read_bytes() == before
        assert ask("r").code == 3

    def test_an_interrupted_judge_goes_on_with_the_rest(self, ask: Run, model: MessagesServer, tmp_path: Path) -> None:
        options = ("--profile", "enhanced", "--judge", "claude")
        dear = {"input_tokens": 20_000, "output_tokens": 0}  # ten cents
        model.always(
            lambda request: judged("partly", dear)(request) if "tool_choice" in request else reply("Spin.")(request)
        )
        stopped = ask("r", *options, "--judge-max-cost", "0.25")
        assert (stopped.code, "--judge-max-cost" in stopped.err) == (3, True)
        done = [sample for sample in read_samples(tmp_path / "r") if sample.judgment]
        assert 0 < len(done) < sum(FEW)
        asked, file = len(model.requests), tmp_path / "r" / "samples.jsonl"
        lines = file.read_bytes().count(b"\n")
        assert ask("r", *options).code == 0
        assert len(model.requests) - asked == file.read_bytes().count(b"\n") - lines == sum(FEW) - len(done)
        assert all(sample.judgment for sample in read_samples(tmp_path / "r"))

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (("--judge", "claude", "--offline"), "--offline"),
            (("--judge", "claude", "--judge-model", "claude-opus-latest"), "a fixed model"),
            (("--judge-model", "claude-opus-4-6"), "--judge claude"),
            (("--judge", "claude", "--judge-model", "gemma", "--judge-max-cost", "1"), "price"),
        ],
    )
    def test_wrong_usage(
        self, ask: Run, model: MessagesServer, tmp_path: Path, options: tuple[str, ...], says: str
    ) -> None:
        result = ask("r", *options)
        assert (result.code, says in result.err, model.requests) == (2, True, [])
        assert not (tmp_path / "r").exists()

    def test_a_judge_needs_a_key_or_a_server(self, wikigr: Wikigr, physics_pack: Path, questions: Path,
                                             no_model: None) -> None:  # fmt: skip
        result = wikigr("eval", "run", "--pack", str(physics_pack), "--questions", str(questions), "--judge", "claude")
        assert (result.code, "ANTHROPIC_API_KEY" in result.err) == (2, True)


USED = {"input_tokens": 1000, "output_tokens": 100}


def judged(
    step: str,
    usage: dict[str, int] = {"input_tokens": 200, "output_tokens": 20},  # noqa: B006 -- only read
) -> Callable[[dict], Response]:  # type: ignore[type-arg]
    given = {"reason": "because", "verdict": step}
    used = {"type": "tool_use", "id": "toolu_1", "name": "record_verdict", "input": given}
    return reply(used, stop_reason="tool_use", usage=usage)


def answer_or_judge(request: dict) -> Response:  # type: ignore[type-arg]
    return judged("partly")(request) if "tool_choice" in request else reply("It is spin.", usage=USED)(request)
