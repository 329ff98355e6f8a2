"""``wikigr eval run``: samples, resumption, ablation and refusals."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.llm.server import MessagesServer, reply, status
from tests.waiting import until

from wikigr.evaluation import runner
from wikigr.evaluation.questions import GoldQuestion, load_questions
from wikigr.evaluation.run import read_run
from wikigr.evaluation.runner import Evaluation, evaluate
from wikigr.evaluation.samples import Sample, read_samples
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile

from ...conftest import Wikigr
from .conftest import FEW, GOLD, TOTAL, Run, write_questions


def test_a_run_prints_figures_and_keeps_every_sample_for_the_same_run_again(run: Run, tmp_path: Path) -> None:
    result = run("r")
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert "enhanced" in lines[0] and "in accuracy" in lines[0] and "p = " in lines[0]
    assert [line.split()[:2] for line in lines if line.startswith("profile")] == [["profile", "accuracy"]]
    assert len(lines) <= 20 and "recall@1" not in result.out and "milliseconds" not in result.out
    assert "wikigr eval report r" in result.err and "wikigr eval flips r" in result.err
    before = (tmp_path / "r" / "samples.jsonl").read_bytes()
    whole = run("r", "--all").out
    assert "accuracy *" in whole and "recall@1" in whole and "milliseconds" in whole
    # The same run again asks nothing.
    assert (tmp_path / "r" / "samples.jsonl").read_bytes() == before
    samples = read_samples(tmp_path / "r")
    assert len(samples) == 2 * TOTAL
    assert all(s.error is None and s.ranking and s.metrics for s in samples)
    described = read_run(tmp_path / "r")
    assert list(described.profiles) == ["baseline", "enhanced"]
    assert described.questions["count"] == TOTAL
    assert described.versions["python"] == sys.version.split()[0]


# A run that kills its process before the question after the fifth sample.
KILLED = """
import os, signal
from pathlib import Path
from wikigr.evaluation import runner
from wikigr_cli.entry import main
ask, samples = runner.ask_question, Path(os.environ["WIKIGR_TEST"])
def ask_or_die(*arguments):
    if samples.exists() and samples.read_bytes().count(b"\\n") == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return ask(*arguments)
runner.ask_question = ask_or_die
main()
"""


def test_a_killed_run_resumes_and_ends_the_same_under_any_hash_seed(
    run: Run, physics_pack: Path, questions: Path, tmp_path: Path
) -> None:
    write_questions(questions, 3, 1)
    command = ["eval", "run", "--offline", "--json", "--pack", str(physics_pack), "--questions", str(questions)]
    command += ["-o", str(tmp_path / "killed")]
    samples = tmp_path / "killed" / "samples.jsonl"
    variables = {**os.environ, "WIKIGR_TEST": str(samples), "PYTHONHASHSEED": "1"}
    killed = subprocess.run([sys.executable, "-c", KILLED, *command], env=variables, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert samples.read_bytes().count(b"\n") == 5
    # The seed of this process is a random one.
    documents = [json.loads(run(folder, "--json").out) for folder in ("killed", "whole")]
    for document in documents:
        for profile in document["profiles"]:
            del profile["latency"]
        del document["run"]["argv"]
    assert json.dumps(documents[0]) == json.dumps(documents[1])


def test_ablation_takes_every_enhancement_away_in_turn(
    run: Run, questions: Path, wikigr: Wikigr, tmp_path: Path
) -> None:
    write_questions(questions, *FEW)
    gated = ("--max-errors", "0")
    document = json.loads(run("r", "--profile", "enhanced", "--ablate", "--json", *gated).out)
    assert (document["gate"]["profile"], document["gate"]["passed"]) == ("enhanced", True)
    assert json.loads(wikigr("eval", "bless", "r", "-o", "b.json", "--json").out)["profile"] == "enhanced"
    assert json.loads((tmp_path / "b.json").read_text())["profile"] == "enhanced"
    names = [profile["name"].removeprefix("enhanced-without-") for profile in document["profiles"]]
    assert names == [
        "enhanced", "relation_paths", "lexical", "dense", "unit_match", "graph_reranker", "graph_walk", "hops",
        "multi_doc", "section_quality", "reader", "few_shot",
    ]  # fmt: skip
    text = run("r", "--profile", "enhanced", "--ablate", *gated)
    assert "The gate for enhanced: passed" in text.out
    assert sum(line.startswith("without-") for line in text.out.splitlines()) == 11
    assert all(len(line) <= 80 for line in text.out.splitlines() if not line.startswith("  "))
    assert "wikigr eval flips r --profile NAME" in text.err
    few_shot = next(c for c in document["comparisons"] if c["second"].endswith("few_shot"))
    # Offline no example is shown to anybody.
    assert (few_shot["results"][0]["difference"], few_shot["results"][0]["ties"]) == (0.0, sum(FEW))


def test_gold_articles_that_the_pack_lacks_are_named(run: Run, questions: Path, wikigr: Wikigr) -> None:
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    rows[0]["gold"] = [{"title": "Nowhere"}]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = run("r", "--profile", "baseline", "--seed", "1")
    said = "The pack lacks 1 gold article that no profile can find: 'Nowhere'"
    assert (result.code, said in result.err, said in result.out) == (0, True, True)
    assert said in wikigr("eval", "report", "r", "--format", "html").out.replace("&#x27;", "'").replace("&#39;", "'")
    other = run("r", "--profile", "baseline", "--seed", "2")
    assert (other.code, "seed" in other.err) == (3, True)


def test_with_several_jobs_an_answer_does_not_wait_for_a_slower_one(
    physics_pack: Path, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_questions(questions)
    seen: list[int] = []

    def slow(pipeline: Pipeline, question: GoldQuestion, repeat: int) -> Sample:
        path = tmp_path / "r" / "samples.jsonl"
        if question is loaded[0]:
            until(lambda: path.read_bytes().count(b"\n") >= TOTAL - 1)
            seen.append(path.read_bytes().count(b"\n"))
        return Sample(pipeline.profile.name, question.id, repeat)

    monkeypatch.setattr(runner, "ask_question", slow)
    evaluate(Evaluation(str(physics_pack), loaded, "", None, [Profile()], offline=True, jobs=2), tmp_path / "r")
    assert seen == [TOTAL - 1]
    assert len(read_samples(tmp_path / "r")) == TOTAL


def test_profiles_of_different_budgets_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rich.yaml").write_text("budget: {max_tokens: 900}\n")
    (tmp_path / "poor.yaml").write_text("budget: {max_tokens: 100}\n")
    result = run("r", "--profile", "rich.yaml", "--profile", "poor.yaml")
    assert (result.code, "different budgets" in result.err) == (2, True)
    assert not (tmp_path / "r" / "samples.jsonl").exists()


def test_a_leak_is_caught(
    wikigr: Wikigr, physics_pack: Path, questions: Path, tmp_path: Path, messages_server: MessagesServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    pack = Path(shutil.copytree(physics_pack, tmp_path / "leaky"))
    gold, *others = map(json.loads, questions.read_text().splitlines())
    gold["answers"] = ["GOLD-ANSWER"]
    questions.write_text("".join(json.dumps(row) + "\n" for row in (gold, *others)))
    examples = [
        {"question": gold["question"].upper().rstrip("?"), "context": {}, "answer": "LEAKED-ANSWER"},
        {"question": "How is a rainbow made?", "context": {}, "answer": "HARMLESS-EXAMPLE"},
    ]
    (pack / "few_shot_examples.json").write_text(json.dumps({"examples": examples}))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(reply("The pack does not cover this."))
    arguments = ("eval", "run", "--pack", str(pack), "--questions", str(questions), "--profile", "enhanced")
    result = wikigr(*arguments, "-o", "run")
    assert result.code == 0
    sent = b"".join(request.raw for request in messages_server.requests).decode()
    assert "HARMLESS-EXAMPLE" in sent
    assert "LEAKED-ANSWER" not in sent and "GOLD-ANSWER" not in sent
    assert read_run(tmp_path / "run").leaks[0]["question_id"] == gold["id"]
    said = f"1 few-shot example leaks gold questions, and no prompt used them: example 1 (question {gold['id']})"
    assert said in result.out and said in wikigr("eval", "report", "run", "--format", "html").out


def test_a_run_names_its_model(
    wikigr: Wikigr, physics_pack: Path, questions: Path, messages_server: MessagesServer,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(reply("The pack does not cover this."))
    arguments = ("eval", "run", "--pack", str(physics_pack), "--questions", str(questions))
    result = wikigr(*arguments, "--model", "local-7b", "-o", "r")
    assert result.code == 0
    assert {request.json["model"] for request in messages_server.requests} == {"local-7b"}
    described = read_run(tmp_path / "r")
    assert {name: values["synthesis"]["model"] for name, values in described.profiles.items()} == {
        "baseline": "local-7b",
        "enhanced": "local-7b",
    }
    other = wikigr(*arguments, "--model", "local-8b", "-o", "r")
    assert (other.code, "contains a different run" in other.err) == (3, True)
    flips = json.loads(wikigr("eval", "flips", "r", "--primary", "ndcg@10", "--json").out)["flips"]
    assert flips and all("--model local-7b" in side["command"] for flip in flips for side in flip["sides"])
    missing = wikigr(*arguments, "--model", "none.gguf", "--offline", "-o", "s")
    assert (missing.code, "none.gguf" in missing.err) == (2, True)


def test_a_model_that_fails_for_a_third_is_counted_apart(
    wikigr: Wikigr, physics_pack: Path, questions: Path, messages_server: MessagesServer,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    calls = iter(range(10_000))

    def behave(request: dict) -> object:  # type: ignore[type-arg]
        return status(400, "no") if next(calls) % 3 == 0 else reply("The pack does not cover this.")(request)

    messages_server.always(behave)  # type: ignore[arg-type]
    arguments = ("eval", "run", "--pack", str(physics_pack), "--questions", str(questions), "--profile", "enhanced")
    result = wikigr(*arguments, "-o", "r", "--max-errors", "0")
    failed = [sample for sample in read_samples(tmp_path / "r") if sample.error]
    assert failed
    assert (result.code, "FAILED errors" in result.out) == (1, True)
    used = read_run(tmp_path / "r").usage["answers"]["enhanced"]
    assert used["calls"] == sum(sample.usage.get("calls", 0) for sample in read_samples(tmp_path / "r")) > 0
    assert used["cost_usd"] > 0
    lenient = wikigr("eval", "gate", "r", "--min", "accuracy=0", "--max-errors", "0.5")
    assert lenient.code == 0
    messages_server.always(reply("The pack does not cover this."))
    wikigr(*arguments, "-o", "r")
    assert not [sample for sample in read_samples(tmp_path / "r") if sample.error]


def test_a_run_of_which_every_answer_failed_is_broken_and_reported(
    wikigr: Wikigr, physics_pack: Path, questions: Path, messages_server: MessagesServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(status(400, "no"))
    # Of these the pack is sure enough to ask a model.
    rows = [line for line in GOLD.read_text().splitlines() if json.loads(line)["id"] in ("phys-002", "phys-004")]
    questions.write_text("\n".join(rows) + "\n")
    result = wikigr("eval", "run", "--pack", str(physics_pack), "--questions", str(questions), "-o", "r")
    assert (result.code, "Every question failed under baseline" in result.err) == (3, True)
    assert "baseline: 2 samples failed" in result.out
    assert wikigr("eval", "report", "r").code == 0
