"""``wikigr eval compare`` and ``wikigr eval flips``: two sides, and commands that reproduce them."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.llm.server import MessagesServer, reply

from wikigr.evaluation.run import read_run

from ...conftest import Wikigr
from .conftest import FEW, TOTAL, Run, write_questions


def test_two_runs_are_compared_over_the_same_questions_only(
    run: Run, wikigr: Wikigr, questions: Path, tmp_path: Path
) -> None:
    run("one", "--profile", "enhanced")
    same = run("two", "--profile", "fast")
    assert same.code == 0
    itself = wikigr("eval", "compare", "one", str(tmp_path / "one"))
    assert (itself.code, itself.out) == (2, "")
    assert "are the same run." in itself.err and "wikigr eval report one" in itself.err
    _only_the_metrics_that_differ_are_printed(wikigr)
    questions.write_text("".join(questions.read_text().splitlines(keepends=True)[1:]))
    run("three", "--profile", "enhanced")
    told = wikigr("eval", "compare", "one", "two").out.splitlines()
    for line, start in zip(told, ("base   one: enhanced, 20", "other  two: fast, 20"), strict=False):
        assert line.startswith(start) and line.endswith(f", {TOTAL} questions") and "pack physics 1.0.0 (" in line
    assert told[2].startswith("A difference is the other run minus the base.")
    assert told[4].startswith("two/fast against one/enhanced in accuracy: ")
    document = json.loads(wikigr("eval", "compare", "one", "two", "--json").out)
    sides = [(document[role]["path"], document[role]["profile"]) for role in ("base", "other")]
    assert sides == [("one", "enhanced"), ("two", "fast")]
    refused = wikigr("eval", "compare", "one", "three")
    assert (refused.code, "question sets differ" in refused.err) == (2, True)
    forced = wikigr("eval", "compare", "one", "three", "--force", "--json")
    assert json.loads(forced.out)["caveats"] == ["the question sets differ"]
    # A report says so itself: what is said beside it is lost when it is kept in a file.
    said = "Compared with --force although the question sets differ"
    for command in ("compare", "flips"):
        text = wikigr("-q", "eval", command, "one", "three", "--force")
        assert (text.code, text.out.startswith(said), text.err) == (0, True, "")
        assert "with --force" not in wikigr("eval", command, "one", "two").out
    found = json.loads(wikigr("eval", "flips", "one", "three", "--force", "--json").out)
    assert found["caveats"] == ["the question sets differ"]


def _only_the_metrics_that_differ_are_printed(wikigr: Wikigr) -> None:
    results = json.loads(wikigr("eval", "compare", "one", "two", "--json").out)["results"]
    differing = [r["metric"] for r in results if r["wins"] or r["losses"]]
    assert 0 < len(differing) < len(results)
    expected = [r["metric"] for r in results if r["metric"] == "accuracy" or r["metric"] in differing]

    def printed_metrics(*options: str) -> list[str]:
        lines = wikigr("eval", "compare", "one", "two", *options).out.splitlines()
        names = {r["metric"] for r in results}
        return [line.split()[0] for line in lines if line.split()[:1] and line.split()[0] in names]

    assert printed_metrics() == expected
    assert printed_metrics("--all") == [r["metric"] for r in results]
    told = wikigr("eval", "compare", "one", "two").out
    assert f"Metrics that do not differ: {len(results) - len(expected)}; --all shows them." in told
    assert "not differ" not in wikigr("eval", "compare", "one", "two", "--all").out


def answers_again(wikigr: Wikigr, flips: list[dict[str, Any]]) -> None:
    """Run the command of every side and hold what it answers against what the side shows."""
    for side in (side for flip in flips for side in flip["sides"]):
        _, ask, *words = shlex.split(side["command"])
        result = wikigr(ask, "--json", *words)
        assert result.code == 0, f"{side['command']}\n{result.err}"
        assert json.loads(result.out)["answer"] == side["answer"], side["command"]


def test_the_commands_of_flips_give_the_answers_that_they_show(
    run: Run,
    questions: Path,
    wikigr: Wikigr,
    tmp_path: Path,
    messages_server: MessagesServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # It answers from nothing, under a name that no folder of profiles has.
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "timid.yaml").write_text("multi_doc: {min_relevance: 1.0}\nretrieval: {mode: dense}\n")
    run("r", "--profile", "enhanced", "--profile", "mine/timid.yaml")
    write_questions(questions, *FEW)
    run("ablation", "--profile", "enhanced", "--ablate")
    # A run that asked no model is not reproduced by asking one, and paying it.
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(reply("Paid for."))
    found = json.loads(wikigr("eval", "flips", "r", "--json").out)["flips"]
    assert len({side["answer"] for flip in found for side in flip["sides"]}) > 1
    answers_again(wikigr, found[:2])
    of_ablation = ("eval", "flips", "ablation", "--profile", "enhanced-without-lexical", "--primary", "mrr", "--json")
    found = json.loads(wikigr(*of_ablation).out)["flips"]
    assert found
    answers_again(wikigr, found[:2])
    assert messages_server.requests == []
    # The whole profile is what an ablation is about, and what the others are compared with.
    result = wikigr("eval", "flips", "ablation")
    assert (result.code, "--profile enhanced-without-relation_paths or" in result.err) == (2, True)
    assert wikigr("eval", "flips", "ablation", "ablation", "--profile", "enhanced").code == 2


def test_a_run_without_a_model_is_reproduced_without_one(
    wikigr: Wikigr, physics_pack: Path, questions: Path, tmp_path: Path, no_model: None
) -> None:
    lines = questions.read_text().splitlines()
    row = json.loads(lines[0]) | {"id": "dash"}
    # A question may look like an option.
    questions.write_text("\n".join([*lines[:3], json.dumps(row | {"question": "--" + row["question"]})]) + "\n")
    common = ("--pack", str(physics_pack), "--questions", str(questions))
    assert wikigr("eval", "run", *common, "-o", "r").code == 0
    found = json.loads(wikigr("eval", "flips", "r", "--primary", "ndcg@10", "--json").out)["flips"]
    assert "dash" in {flip["question_id"] for flip in found}
    assert all("--offline" in side["command"] for flip in found for side in flip["sides"])
    answers_again(wikigr, found)


def test_flips_say_how_many_questions_could_have_changed(run: Run, wikigr: Wikigr, tmp_path: Path) -> None:
    run("r")
    whole = json.loads(wikigr("eval", "flips", "r", "--json").out)
    assert (whole["primary"], whole["paired"]) == ("accuracy", TOTAL)
    path = tmp_path / "r" / "samples.jsonl"
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if '"baseline"' in line))
    said = "Nothing to compare: no question has accuracy under both baseline and enhanced."
    assert said in wikigr("-q", "eval", "flips", "r").out
    assert json.loads(wikigr("eval", "flips", "r", "--json").out)["paired"] == 0
    misspelled = wikigr("eval", "flips", "r", "--profile", "enhancd")
    assert (misspelled.code, "no profile 'enhancd'" in misspelled.err) == (2, True)
    # The same answers twice are another thing.
    same = wikigr("eval", "flips", "r", "r", "--profile", "baseline")
    assert same.code == 2
    shutil.copytree(tmp_path / "r", tmp_path / "copy")
    same = wikigr("eval", "flips", "r", "copy", "--profile", "baseline")
    assert (same.out, same.err) == ("", f"None of the {TOTAL} questions changed.\n")


def test_the_metric_that_was_declared_for_a_run_decides_everywhere(
    run: Run, questions: Path, wikigr: Wikigr, tmp_path: Path
) -> None:
    write_questions(questions, *FEW)
    run("one", "--primary", "recall@5", "--margin", "0.05")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    described = read_run(tmp_path / "one")
    assert (described.primary, described.margin) == ("recall@5", 0.05)
    report = json.loads(wikigr("eval", "report", "one", "--format", "json").out)
    assert (report["primary"], report["margin"], report["notices"]) == ("recall@5", 0.05, [])
    for command in (("compare", "one", "two"), ("flips", "one")):
        document = json.loads(wikigr("eval", *command, "--json").out)
        assert document["primary"] == "recall@5"
    gate = json.loads(wikigr("eval", "gate", "one", "--min", "recall@5=0", "--json").out)
    assert (gate["primary"], gate["margin"], gate["caveats"]) == ("recall@5", 0.05, [])

    # Another metric makes another run.
    again = run("one")
    assert (again.code, "contains a different run" in again.err) == (3, True)
