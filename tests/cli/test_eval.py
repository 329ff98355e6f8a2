"""``wikigr eval`` on the demo pack: runs, resumes, reports, compares, gates."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import ir_measures
import pytest
from tests.llm.server import MessagesServer, Response, reply, status

from wikigr.evaluation import runner
from wikigr.evaluation.gate import bless as make_baseline
from wikigr.evaluation.gate import write_baseline
from wikigr.evaluation.questions import GoldQuestion, load_questions, question_set_hash
from wikigr.evaluation.reports.document import load_run
from wikigr.evaluation.run import read_run
from wikigr.evaluation.runner import Evaluation, evaluate
from wikigr.evaluation.samples import Sample, read_samples, write_line
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.settings import cache_folder

from .conftest import ROOT_PACK, Result, Wikigr

TOTAL = 8
GOLD = ROOT_PACK / "eval" / "questions.jsonl"


@pytest.fixture(autouse=True)
def _responses_of_this_test(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache folder without replies of models; the encoder is the user's own."""
    own = cache_folder()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cache_folder().mkdir(parents=True)
    (cache_folder() / "models").symlink_to(own / "models")


def write_questions(path: Path, answerable: int, others: int) -> Path:
    rows = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
    chosen = [r for r in rows if r["answerable"]][:answerable] + [r for r in rows if not r["answerable"]][:others]
    path.write_text("".join(json.dumps(row) + "\n" for row in chosen), encoding="utf-8")
    return path


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Six answerable gold questions and two others."""
    return write_questions(tmp_path / "gold.jsonl", TOTAL - 2, 2)


Run = Callable[..., Result]


@pytest.fixture
def run(wikigr: Wikigr, physics_pack: Path, questions: Path) -> Run:
    def call(folder: str, *options: str) -> Result:
        common = ("--pack", str(physics_pack), "--questions", str(questions), "-o", folder, "--offline")
        return wikigr("eval", "run", *common, *options)

    return call


@pytest.fixture(scope="module")
def enhanced_run(physics_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of `enhanced` over enough questions that a broken profile cannot pass for chance."""
    folder = tmp_path_factory.mktemp("eval")
    questions = write_questions(folder / "gold.jsonl", 22, 4)
    evaluation = Evaluation(
        pack=str(physics_pack),
        questions=load_questions(questions),
        questions_path=str(questions),
        split=None,
        profiles=[Profile()],
        offline=True,
    )
    evaluate(evaluation, folder / "good")
    return folder


def test_a_run_prints_figures_and_keeps_every_sample(run: Run, tmp_path: Path) -> None:
    result = run("r")
    assert result.code == 0, result.err
    assert "accuracy *" in result.out and "enhanced" in result.out and "in accuracy:" in result.out
    samples = read_samples(tmp_path / "r")
    assert len(samples) == 2 * TOTAL
    assert all(s.error is None and s.ranking and s.metrics for s in samples)
    described = read_run(tmp_path / "r")
    assert list(described.profiles) == ["baseline", "enhanced"]
    assert described.questions["count"] == TOTAL
    assert described.versions["python"] == sys.version.split()[0]


def test_the_same_run_again_asks_nothing_and_prints_the_same(run: Run, tmp_path: Path) -> None:
    first = run("r", "--json")
    before = (tmp_path / "r" / "samples.jsonl").read_bytes()
    second = run("r", "--json")
    assert (tmp_path / "r" / "samples.jsonl").read_bytes() == before
    assert first.out == second.out


def test_two_runs_and_two_hash_seeds_give_the_same_figures(physics_pack: Path, questions: Path, tmp_path: Path) -> None:
    documents = []
    for seed in ("1", "2"):
        folder = tmp_path / f"run{seed}"
        command = [
            sys.executable,
            "-c",
            "from wikigr_cli.app import main; main()",
            "eval",
            "run",
            "--offline",
            "--json",
        ]
        command += ["--pack", str(physics_pack), "--questions", str(questions), "-o", str(folder)]
        done = subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        document = json.loads(done.stdout)
        for profile in document["profiles"]:
            del profile["latency"]
        del document["run"]["argv"]
        documents.append(json.dumps(document))
    assert documents[0] == documents[1]


def test_a_killed_run_resumes_and_ends_the_same(
    run: Run,
    physics_pack: Path,
    questions: Path,
    tmp_path: Path,
    wikigr: Wikigr,
) -> None:
    whole = json.loads(run("whole", "--json").out)
    command = [sys.executable, "-c", "from wikigr_cli.app import main; main()", "eval", "run", "--offline"]
    command += ["--pack", str(physics_pack), "--questions", str(questions), "-o", str(tmp_path / "killed")]
    samples = tmp_path / "killed" / "samples.jsonl"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and (not samples.exists() or samples.read_bytes().count(b"\n") < 5):
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    assert 5 <= samples.read_bytes().count(b"\n") < 2 * TOTAL
    resumed = json.loads(run("killed", "--json").out)
    for document in (whole, resumed):
        for profile in document["profiles"]:
            del profile["latency"]
        del document["run"]["argv"]
    assert resumed == whole


def test_a_folder_of_another_run_is_refused(run: Run, tmp_path: Path) -> None:
    run("r", "--profile", "baseline")
    other = run("r", "--profile", "fast")
    assert (other.code, "something else" in other.err) == (3, True)


def test_ablation_takes_every_enhancement_away_in_turn(run: Run) -> None:
    document = json.loads(run("r", "--profile", "enhanced", "--ablate", "--json").out)
    names = [profile["name"].removeprefix("enhanced-without-") for profile in document["profiles"]]
    assert names == [
        "enhanced", "lexical", "dense", "graph_walk", "graph_reranker", "multi_doc", "section_quality", "few_shot",
    ]  # fmt: skip
    few_shot = next(c for c in document["comparisons"] if c["second"].endswith("few_shot"))
    # Offline no example is shown to anybody.
    assert (few_shot["results"][0]["difference"], few_shot["results"][0]["ties"]) == (0.0, TOTAL)


def test_reports_are_written_anew_from_the_samples(run: Run, wikigr: Wikigr, tmp_path: Path) -> None:
    run("r")
    markdown = wikigr("eval", "report", "r", "--format", "md").out
    assert markdown.startswith(f"# physics: {TOTAL} questions") and "| accuracy * |" in markdown
    suites = ElementTree.fromstring(wikigr("eval", "report", "r", "--format", "junit").out)
    assert [suite.get("tests") for suite in suites] == [str(TOTAL)] * 2
    assert wikigr("eval", "report", "r", "--format", "html", "-o", "r.html").code == 0
    assert "<svg" in (tmp_path / "r.html").read_text(encoding="utf-8")
    github = wikigr("eval", "report", "r", "--format", "github").out
    assert github.startswith("::notice title=wikigr eval::enhanced ")
    document = json.loads(wikigr("eval", "report", "r", "--format", "json").out)
    worse = [flip for flip in document["flips"]["enhanced"] if flip["difference"] < 0]
    assert github.count("::warning file=") == len(worse)
    assert len(document["questions"]) == TOTAL


def test_a_report_shows_abstention_repeats_and_latency(run: Run, wikigr: Wikigr) -> None:
    text = run("r", "--profile", "enhanced", "--repeat", "2").out
    (profile,) = json.loads(wikigr("eval", "report", "r", "--format", "json").out)["profiles"]
    found = profile["abstention"]
    assert (found["questions"], found["answerable"], found["unanswerable"]) == (TOTAL, 2 * (TOTAL - 2), 2 * 2)
    assert found["abstained"] == profile["abstained"]
    assert 0.0 <= found["auroc"]["low"] <= found["auroc"]["value"] <= found["auroc"]["high"] <= 1.0
    assert f"AUROC         {found['auroc']['value']:.3f}" in text
    # Offline nothing is drawn at random: asking again changes nothing.
    assert (profile["repeats"]["count"], profile["repeats"]["unstable"]) == (2, [])
    assert f"unstable questions  0 of {TOTAL} (0.0 %)" in text
    total = next(line for line in text.splitlines() if line.startswith("total, p95"))
    assert total.split()[-1] == f"{profile['latency']['total']['p95']:,.1f}"
    assert "hallucination ↓" in text


def test_trec_files_give_other_tools_our_figures(run: Run, wikigr: Wikigr, tmp_path: Path) -> None:
    document = json.loads(run("r", "--json").out)
    result = wikigr("eval", "trec", "r", "-o", "trec")
    assert [Path(line).name for line in result.out.splitlines()] == ["qrels.txt", "baseline.run", "enhanced.run"]
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "trec" / "qrels.txt")))
    for profile in document["profiles"]:
        found = ir_measures.read_trec_run(str(tmp_path / "trec" / f"{profile['name']}.run"))
        measures = {"recall@5": ir_measures.R @ 5, "ndcg@10": ir_measures.nDCG @ 10, "mrr": ir_measures.RR}
        theirs = ir_measures.calc_aggregate(list(measures.values()), qrels, found)
        for metric, measure in measures.items():
            assert theirs[measure] == pytest.approx(profile["metrics"][metric]["mean"], abs=1e-6)


def test_flips_show_both_sides_and_how_to_reproduce_them(run: Run, wikigr: Wikigr) -> None:
    run("r")
    found = json.loads(wikigr("eval", "flips", "r", "--json").out)["flips"]
    for flip in found:
        assert flip["difference"] != 0
        assert [side["profile"] for side in flip["sides"]] == ["baseline", "enhanced"]
        assert all("wikigr ask" in side["command"] for side in flip["sides"])
    assert wikigr("eval", "flips", "r").out.count("expected:") == len(found) > 0


def answers_again(wikigr: Wikigr, flips: list[dict[str, Any]]) -> None:
    """Run the command of every side and hold what it answers against what the side shows."""
    for side in (side for flip in flips for side in flip["sides"]):
        _, ask, *words = shlex.split(side["command"])
        result = wikigr(ask, "--json", *words)
        assert result.code == 0, f"{side['command']}\n{result.err}"
        assert json.loads(result.out)["answer"] == side["answer"], side["command"]


def test_the_commands_of_flips_give_the_answers_that_they_show(
    run: Run, wikigr: Wikigr, tmp_path: Path, messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It answers from nothing, under a name that no folder of profiles has.
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "timid.yaml").write_text("multi_doc: {min_relevance: 1.0}\nretrieval: {mode: dense}\n")
    run("r", "--profile", "enhanced", "--profile", "mine/timid.yaml")
    run("ablation", "--profile", "enhanced", "--ablate")
    # A run that asked no model is not reproduced by asking one, and paying it.
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(reply("Paid for."))
    found = json.loads(wikigr("eval", "flips", "r", "--json").out)["flips"]
    assert len({side["answer"] for flip in found for side in flip["sides"]}) > 1
    answers_again(wikigr, found[:3])
    of_ablation = ("eval", "flips", "ablation", "--profile", "enhanced-without-lexical", "--primary", "mrr", "--json")
    found = json.loads(wikigr(*of_ablation).out)["flips"]
    assert found
    answers_again(wikigr, found[:3])
    assert messages_server.requests == []


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


def test_flips_of_a_profile_with_itself_are_wrong_usage(run: Run, wikigr: Wikigr) -> None:
    run("r", "--profile", "enhanced", "--ablate")
    run("one", "--profile", "enhanced")
    # The whole profile is what an ablation is about, and what the others are compared with.
    result = wikigr("eval", "flips", "r")
    assert (result.code, "--profile enhanced-without-lexical or" in result.err) == (2, True)
    for again in (("r", "r"), ("one",)):
        assert wikigr("eval", "flips", *again, "--profile", "enhanced").code == 2
    assert wikigr("eval", "flips", "one", "r").code == 0


def test_flips_say_how_many_questions_could_have_changed(run: Run, wikigr: Wikigr, tmp_path: Path) -> None:
    run("r")
    whole = json.loads(wikigr("eval", "flips", "r", "--json").out)
    assert (whole["primary"], whole["paired"]) == ("accuracy", TOTAL)
    path = tmp_path / "r" / "samples.jsonl"
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if '"baseline"' in line))
    said = "Nothing could change: no question has accuracy under both baseline and enhanced."
    assert said in wikigr("-q", "eval", "flips", "r").out
    assert json.loads(wikigr("eval", "flips", "r", "--json").out)["paired"] == 0
    # The same answers twice are another thing.
    same = wikigr("eval", "flips", "r", "r", "--profile", "baseline")
    assert same.code == 2
    shutil.copytree(tmp_path / "r", tmp_path / "copy")
    same = wikigr("eval", "flips", "r", "copy", "--profile", "baseline")
    assert (same.out, same.err) == ("", f"No question changed, of {TOTAL}.\n")


def test_a_metric_that_was_chosen_after_the_run_is_named_as_such(run: Run, wikigr: Wikigr, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        assert "was declared" not in run(folder, "--primary", "recall@5", "--margin", "0.05").out
    described = read_run(tmp_path / "one")
    assert (described.primary, described.margin) == ("recall@5", 0.05)
    report = json.loads(wikigr("eval", "report", "one", "--format", "json").out)
    assert (report["primary"], report["margin"], report["notices"]) == ("recall@5", 0.05, [])
    for command in (("compare", "one", "two"), ("flips", "one")):
        document = json.loads(wikigr("eval", *command, "--json").out)
        assert (document["primary"], document["notices"]) == ("recall@5", [])
    gate = json.loads(wikigr("eval", "gate", "one", "--min", "recall@5=0", "--json").out)
    assert (gate["primary"], gate["margin"], gate["caveats"]) == ("recall@5", 0.05, [])

    metric = "recall@5 was declared as the primary metric before the run; mrr was chosen after it"
    margin = "0.05 was declared as the margin before the run; 0.1 was chosen after it"
    chosen = ("--primary", "mrr", "--margin", "0.1")
    for report_format in ("text", "md", "html", "junit", "github", "json"):
        text = wikigr("eval", "report", "one", "--format", report_format, *chosen).out
        assert (report_format, f"{metric}." in text, f"{margin}." in text) == (report_format, True, True)
    for command, told in (
        (("compare", "one", "two", *chosen), (metric, margin)),
        (("flips", "one", "--primary", "mrr"), (metric,)),
        (("gate", "one", "--min", "mrr=0", *chosen), (metric, margin)),
    ):
        text, document = wikigr("-q", "eval", *command).out, wikigr("eval", *command, "--json").out
        for said in told:
            assert (text.count(said), document.count(said)) == (1, 1), command
    # The run is not asked again for another metric: then that is chosen after it, too.
    assert "recall@5 was declared as the primary metric before the run; accuracy" in run("one").out
    run("three")
    said = json.loads(wikigr("eval", "compare", "one", "three", "--json").out)["notices"]
    assert [notice.split(":")[0] for notice in said] == ["three", "three"]


def test_the_gate_of_an_ablation_judges_the_whole_profile(run: Run, wikigr: Wikigr, tmp_path: Path) -> None:
    result = run("r", "--profile", "enhanced", "--ablate", "--max-errors", "0")
    assert (result.code, "The gate for enhanced: passed" in result.out) == (0, True)
    assert json.loads(wikigr("eval", "bless", "r", "-o", "b.json", "--json").out)["profile"] == "enhanced"
    assert json.loads((tmp_path / "b.json").read_text())["profile"] == "enhanced"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--primary", "acuracy"), "'accuracy'?"),
        (("--primary", "judged"), "--judge claude"),
        (("--min", "acuracy=0.5"), "'accuracy'?"),
        (("--min", "accuracy"), "METRIC=VALUE"),
        (("--min", "accuracy=high"), "METRIC=VALUE"),
        (("--min", "accuracy=nan"), "from 0 to 1"),
        (("--min", "accuracy=80"), "from 0 to 1"),
        (("--min", "judged=0.5"), "--judge claude"),
        (("--margin", "nan"), "margin"),
        (("--max-errors", "nan"), "--max-errors"),
        (("--baseline", "nowhere.json"), "cannot be used"),
        (("--baseline", "gold.jsonl"), "cannot be used"),
        (("--baseline", "foreign.json"), "another question set"),
        (("--baseline", "bare.json", "--primary", "mrr"), "no question of the baseline"),
    ],
)
def test_a_gate_that_cannot_be_held_is_refused_before_anything_is_asked(
    run: Run, enhanced_run: Path, questions: Path, tmp_path: Path, options: tuple[str, ...], says: str
) -> None:
    done = load_run(enhanced_run / "good")
    foreign = make_baseline(done.run, done.samples, "enhanced")
    write_baseline(tmp_path / "foreign.json", foreign)
    loaded = load_questions(questions)
    means = {question.id: {"accuracy": 1.0} for question in loaded}
    bare = replace(foreign, question_hash=question_set_hash(loaded), means=means)
    write_baseline(tmp_path / "bare.json", bare)
    result = run("r", "--profile", "enhanced", *options)
    assert (result.code, says in result.err, result.out) == (2, True, ""), result.err
    assert not (tmp_path / "r").exists()


def test_flips_of_a_misspelled_profile_are_wrong_usage(run: Run, wikigr: Wikigr) -> None:
    run("r")
    result = wikigr("eval", "flips", "r", "--profile", "enhancd")
    assert (result.code, "no profile 'enhancd'" in result.err) == (2, True)


def test_a_run_with_another_seed_is_another_run(run: Run, tmp_path: Path) -> None:
    assert run("r", "--profile", "baseline", "--seed", "1").code == 0
    assert read_run(tmp_path / "r").seed == 1
    other = run("r", "--profile", "baseline", "--seed", "2")
    assert (other.code, "seed" in other.err) == (3, True)


def test_gold_articles_that_the_pack_lacks_are_named(run: Run, questions: Path, wikigr: Wikigr) -> None:
    assert "not in the pack" not in run("whole", "--profile", "baseline").out
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    rows[0]["gold"] = [{"title": "Nowhere"}]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = run("r", "--profile", "baseline")
    said = "Gold articles that the pack lacks, and that nothing can find (1): 'Nowhere'"
    assert (result.code, said in result.err, said in result.out) == (0, True, True)
    assert said in wikigr("eval", "report", "r", "--format", "html").out.replace("&#x27;", "'").replace("&#39;", "'")


def test_a_seed_is_no_negative_number(run: Run) -> None:
    assert run("r", "--seed", "-1").code == 2


def test_with_several_jobs_an_answer_does_not_wait_for_a_slower_one(
    physics_pack: Path, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_questions(questions)
    seen: list[int] = []
    ask = runner._ask

    def slow(pipeline: Pipeline, question: GoldQuestion, repeat: int) -> Sample:
        path, end = tmp_path / "r" / "samples.jsonl", time.monotonic() + 30
        while question is loaded[0] and time.monotonic() < end and path.read_bytes().count(b"\n") < TOTAL - 1:
            time.sleep(0.02)
        if question is loaded[0]:
            seen.append(path.read_bytes().count(b"\n"))
        return ask(pipeline, question, repeat)

    monkeypatch.setattr(runner, "_ask", slow)
    evaluate(Evaluation(str(physics_pack), loaded, "", None, [Profile()], offline=True, jobs=2), tmp_path / "r")
    assert seen == [TOTAL - 1]
    assert len(read_samples(tmp_path / "r")) == TOTAL


def test_profiles_of_different_budgets_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rich.yaml").write_text("budget: {max_tokens: 900}\n")
    (tmp_path / "poor.yaml").write_text("budget: {max_tokens: 100}\n")
    result = run("r", "--profile", "rich.yaml", "--profile", "poor.yaml")
    assert (result.code, "different budgets" in result.err) == (2, True)
    assert not (tmp_path / "r" / "samples.jsonl").exists()


def test_runs_over_other_questions_refuse_to_be_compared(run: Run, wikigr: Wikigr, questions: Path) -> None:
    run("one", "--profile", "enhanced")
    same = run("two", "--profile", "fast")
    assert same.code == 0
    assert wikigr("eval", "compare", "one", "two").code == 0
    questions.write_text("".join(questions.read_text().splitlines(keepends=True)[1:]))
    run("three", "--profile", "enhanced")
    refused = wikigr("eval", "compare", "one", "three")
    assert (refused.code, "question sets differ" in refused.err) == (2, True)
    forced = wikigr("eval", "compare", "one", "three", "--force", "--json")
    assert json.loads(forced.out)["caveats"] == ["the question sets differ"]
    # A report says so itself: what is said beside it is lost when it is kept in a file.
    said = "Compared by force although the question sets differ"
    for command in ("compare", "flips"):
        text = wikigr("-q", "eval", command, "one", "three", "--force")
        assert (text.code, text.out.startswith(said), text.err) == (0, True, "")
        assert "by force" not in wikigr("eval", command, "one", "two").out
    found = json.loads(wikigr("eval", "flips", "one", "three", "--force", "--json").out)
    assert found["caveats"] == ["the question sets differ"]


class TestGate:
    @pytest.fixture
    def blessed(self, enhanced_run: Path, wikigr: Wikigr, tmp_path: Path) -> Path:
        shutil.copytree(enhanced_run / "good", tmp_path / "good")
        assert wikigr("eval", "bless", "good", "-o", "baseline.json").code == 0
        return tmp_path / "baseline.json"

    def test_the_same_result_passes(self, blessed: Path, wikigr: Wikigr) -> None:
        result = wikigr("eval", "gate", "good", "--baseline", "baseline.json", "--min", "accuracy=0.3")
        assert result.code == 0, result.out
        assert "FAILED" not in result.out

    def test_a_profile_broken_on_purpose_fails_and_names_the_questions(
        self,
        blessed: Path,
        enhanced_run: Path,
        physics_pack: Path,
        wikigr: Wikigr,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        # It answers from nothing, so that it declines everything.
        (tmp_path / "enhanced.yaml").write_text("multi_doc: {min_relevance: 1.0}\nretrieval: {mode: dense}\n")
        gold = str(enhanced_run / "gold.jsonl")
        arguments = ("--pack", str(physics_pack), "--questions", gold, "-o", "bad", "--offline")
        assert wikigr("eval", "run", *arguments, "--profile", str(tmp_path / "enhanced.yaml")).code == 0
        summary = tmp_path / "summary.md"
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
        result = wikigr("eval", "gate", "bad", "--baseline", "baseline.json")
        assert result.code == 1
        worse = [line.split()[1] for line in result.out.splitlines() if line.strip().startswith("worse:")]
        assert worse
        for id_ in worse:
            assert f"title=regressed::{id_}" in result.out
        assert "::error title=wikigr eval gate::" in result.out
        assert "gold.jsonl,line=" in result.out
        assert summary.read_text(encoding="utf-8").startswith("# Failed: enhanced")
        assert wikigr("eval", "gate", "bad", "--baseline", "baseline.json", "--fail-on", "never").code == 0

    def test_a_question_is_no_command_of_the_workflow(
        self, blessed: Path, wikigr: Wikigr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hostile = "a\n::stop-commands::x\r\n::error::y"
        for name in ("questions.json", "samples.jsonl"):
            path = tmp_path / "good" / name
            path.write_text(path.read_text().replace('"accuracy": 1.0', '"accuracy": 0.0'))
        path = tmp_path / "good" / "questions.json"
        rows = {id_: row | {"question": hostile} for id_, row in json.loads(path.read_text()).items()}
        path.write_text(json.dumps(rows))
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        result = wikigr("eval", "gate", "good", "--baseline", "baseline.json")
        assert (result.code, "::stop-commands::x" in result.out) == (1, True)
        commands = [line.split(" ")[0] for line in result.out.splitlines() if line.lstrip().startswith("::")]
        assert set(commands) == {"::error", "::warning"}

    @pytest.mark.parametrize(
        ("options", "code"),
        [
            (("--max-errors", "0"), 1),
            (("--fail-on", "regression"), 1),
            (("--fail-on", "never"), 1),
            (("--max-errors", "0.5"), 0),
        ],
    )
    def test_the_error_budget_is_a_requirement_of_its_own(
        self, blessed: Path, wikigr: Wikigr, tmp_path: Path, options: tuple[str, ...], code: int
    ) -> None:
        path = tmp_path / "good" / "samples.jsonl"
        first, *others = path.read_text().splitlines(keepends=True)
        failed = Sample("enhanced", json.loads(first)["question_id"], 0, error="no")
        path.write_text(write_line(failed) + "".join(others))
        result = wikigr("eval", "gate", "good", *options)
        outcome = "failed" if code else "passed"
        assert (result.code, f"The gate for enhanced: {outcome}" in result.out) == (code, True), result.err

    def test_a_run_with_a_gate_prints_one_document(
        self, blessed: Path, enhanced_run: Path, physics_pack: Path, wikigr: Wikigr, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        (tmp_path / "enhanced.yaml").write_text("multi_doc: {min_relevance: 1.0}\nretrieval: {mode: dense}\n")
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
        gold = str(enhanced_run / "gold.jsonl")
        made = (
            "--pack",
            str(physics_pack),
            "--questions",
            gold,
            "-o",
            "bad",
            "--offline",
            "--profile",
            "enhanced.yaml",
        )
        wanted = ("--baseline", "baseline.json", "--min", "accuracy=0.99", "--json")
        ran = wikigr("-q", "eval", "run", *made, *wanted)
        gated = wikigr("-q", "eval", "gate", "bad", *wanted)
        assert (ran.code, gated.code) == (1, 1)
        inside, alone = json.loads(ran.out)["gate"], json.loads(gated.out)
        assert {key: alone[key] for key in inside} == inside
        assert (alone["schema_version"], alone["run"]) == (1, "bad")
        assert (inside["profile"], inside["passed"]) == ("enhanced", False)
        failed = {check["name"] for check in inside["checks"] if not check["passed"]}
        assert failed == {"accuracy ≥ 0.99", "accuracy against the baseline"}
        assert inside["regressed"]
        for told in (ran, gated):
            assert "::error title=wikigr eval gate::enhanced: accuracy ≥ 0.99" in told.err
            assert all(f"title=regressed::{id_}" in told.err for id_ in inside["regressed"])
        assert (tmp_path / "summary.md").read_text(encoding="utf-8").count("# Failed: enhanced") == 2
        report = json.loads(wikigr("eval", "report", "bad", "--format", "json").out)
        assert report["gate"] is None
        passed = wikigr("eval", "gate", "good", "--min", "accuracy=0", "--json")
        assert (passed.code, json.loads(passed.out)["passed"]) == (0, True)

    def test_blessing_and_exporting_print_a_document(self, blessed: Path, wikigr: Wikigr, tmp_path: Path) -> None:
        made = json.loads(wikigr("eval", "bless", "good", "-o", "again.json", "--json").out)
        written = json.loads((tmp_path / "again.json").read_text())
        assert (made["schema_version"], made["baseline"], made["questions"]) == (1, "again.json", 26)
        for key in ("profile", "question_hash", "pack_digest", "wikigr_version"):
            assert made[key] == written[key]
        files = json.loads(wikigr("eval", "trec", "good", "-o", "trec", "--json").out)
        assert files == {"schema_version": 1, "qrels": "trec/qrels.txt", "runs": {"enhanced": "trec/enhanced.run"}}
        assert all((tmp_path / file).is_file() for file in (files["qrels"], *files["runs"].values()))

    def test_a_floor_that_is_missed_fails(self, blessed: Path, wikigr: Wikigr) -> None:
        result = wikigr("eval", "gate", "good", "--min", "accuracy=1.0")
        assert (result.code, "FAILED accuracy ≥ 1" in result.out) == (1, True)

    @pytest.mark.parametrize(
        ("options", "code", "says"),
        [
            ((), 2, "nothing to hold"),
            (("--min", "accuracy"), 2, "METRIC=VALUE"),
            (("--min", "acuracy=1"), 2, "no metric"),
            (("--min", "accuracy=0", "--primary", "acuracy"), 2, "no metric"),
            (("--baseline", "nowhere.json"), 2, "cannot be used"),
            (("--min", "accuracy=0", "--profile", "fast"), 2, "no profile"),
        ],
    )
    def test_wrong_usage(self, blessed: Path, wikigr: Wikigr, options: tuple[str, ...], code: int, says: str) -> None:
        result = wikigr("eval", "gate", "good", *options)
        assert (result.code, says in result.err) == (code, True), result.err

    def test_a_run_that_is_missing_or_damaged_is_code_3(self, blessed: Path, wikigr: Wikigr, tmp_path: Path) -> None:
        assert wikigr("eval", "gate", "nowhere", "--min", "accuracy=0").code == 3
        path = tmp_path / "good" / "samples.jsonl"
        path.write_text("{}\n" + path.read_text())
        damaged = wikigr("eval", "gate", "good", "--min", "accuracy=0")
        assert (damaged.code, "Line 1" in damaged.err) == (3, True)

    @pytest.mark.parametrize(
        ("name", "change"),
        [
            ("run.json", {"schema_version": 0}),
            ("run.json", {"profiles": ["enhanced"]}),
            ("run.json", {"questions": 3}),
            ("run.json", {"pack": {}}),
            ("run.json", {"seed": "x"}),
            ("run.json", {"unknown": 1}),
            ("questions.json", {"q": {}}),
            ("questions.json", {"q": 3}),
        ],
    )
    def test_a_damaged_part_of_a_run_is_code_3(
        self, blessed: Path, wikigr: Wikigr, tmp_path: Path, name: str, change: dict[str, object]
    ) -> None:
        path = tmp_path / "good" / name
        path.write_text(json.dumps(json.loads(path.read_text()) | change))
        assert wikigr("eval", "gate", "good", "--baseline", "baseline.json").code == 3

    def test_samples_of_other_questions_are_code_3(self, blessed: Path, wikigr: Wikigr, tmp_path: Path) -> None:
        path = tmp_path / "good" / "samples.jsonl"
        path.write_text(path.read_text().replace('"question_id": "phys-', '"question_id": "other-'))
        result = wikigr("eval", "report", "good")
        assert (result.code, "not of its run" in result.err) == (3, True)

    def test_an_unfinished_run_fails_the_gate_and_cannot_be_blessed(
        self, blessed: Path, wikigr: Wikigr, tmp_path: Path
    ) -> None:
        path = tmp_path / "good" / "samples.jsonl"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
        assert wikigr("eval", "gate", "good", "--baseline", "baseline.json").code == 1
        refused = wikigr("eval", "bless", "good", "-o", "other.json")
        assert (refused.code, (tmp_path / "other.json").exists()) == (3, False)


def test_a_leak_is_caught(
    wikigr: Wikigr, physics_pack: Path, questions: Path, tmp_path: Path, messages_server: MessagesServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    pack = Path(shutil.copytree(physics_pack, tmp_path / "leaky"))
    gold = json.loads(questions.read_text().splitlines()[0])
    examples = [
        {"question": gold["question"].upper().rstrip("?"), "context": {}, "answer": "LEAKED-ANSWER"},
        {"question": "How is a rainbow made?", "context": {}, "answer": "HARMLESS-EXAMPLE"},
    ]
    (pack / "few_shot_examples.json").write_text(json.dumps({"examples": examples}))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(reply("The pack does not cover this."))
    arguments = ("eval", "run", "--pack", str(pack), "--questions", str(questions), "--profile", "enhanced")
    refused = wikigr(*arguments, "-o", "strict", "--strict")
    assert (refused.code, f"question {gold['id']}" in refused.err) == (2, True)
    assert messages_server.requests == []
    result = wikigr(*arguments, "-o", "run")
    assert (result.code, "gives question" in result.err) == (0, True)
    sent = b"".join(request.raw for request in messages_server.requests).decode()
    assert "HARMLESS-EXAMPLE" in sent
    assert "LEAKED-ANSWER" not in sent
    assert read_run(tmp_path / "run").leaks[0]["question_id"] == gold["id"]
    said = f"1 few-shot example gives gold questions away and stood in no prompt: example 1 (question {gold['id']})"
    assert said in result.out and said in wikigr("eval", "report", "run", "--format", "github").out


def test_gold_answers_reach_no_prompt(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"id": "q1", "question": "What is spin?", "answers": ["xyzzy-gold"], "gold": [{"title": "Spin"}],
           "answerable": True, "type": "single", "split": "dev"}  # fmt: skip
    (tmp_path / "one.jsonl").write_text(json.dumps(row) + "\n")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(reply("It is spin."))
    wikigr("eval", "run", "--pack", str(physics_pack), "--questions", "one.jsonl", "--profile", "enhanced", "-o", "r")
    assert messages_server.requests
    assert all(b"xyzzy-gold" not in request.raw for request in messages_server.requests)


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


def test_calibrate_fits_and_stores_the_threshold(
    wikigr: Wikigr, physics_pack: Path, questions: Path, tmp_path: Path
) -> None:
    pack = Path(shutil.copytree(physics_pack, tmp_path / "copy"))
    rows = [{**json.loads(line), "split": "dev"} for line in questions.read_text().splitlines()]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ("eval", "calibrate", "--pack", str(pack), "--questions", str(questions), "--json")
    shown = json.loads(wikigr(*arguments, "--dry-run").out)
    assert "abstention" not in json.loads((pack / "manifest.json").read_text())["thresholds"]
    stored = json.loads(wikigr(*arguments).out)
    assert (stored["threshold"], stored["stored"], shown["stored"]) == (shown["threshold"], True, False)
    assert json.loads((pack / "manifest.json").read_text())["thresholds"]["abstention"] == stored["threshold"]
    assert wikigr("pack", "validate", str(pack)).code == 0
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows if row["answerable"]))
    one_kind = wikigr(*arguments)
    assert (one_kind.code, "unanswerable" in one_kind.err) == (2, True)


def test_validate_names_what_is_wrong_with_questions(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    row = {"id": "a", "question": "What is spin?", "answers": ["x"], "gold": [{"title": "Nowhere"}],
           "answerable": True, "type": "single", "split": "dev"}  # fmt: skip
    (tmp_path / "q.jsonl").write_text(json.dumps(row) + "\n" + json.dumps({**row, "id": "b"}) + "\n")
    result = wikigr("eval", "validate", "q.jsonl", "--pack", str(physics_pack))
    assert result.code == 1
    assert "q.jsonl:2: asks the same as 'a'" in result.out
    assert "no article 'Nowhere'" in result.out


def test_validate_names_every_mistake_of_form(wikigr: Wikigr, tmp_path: Path) -> None:
    row = {"id": "a", "question": "What is spin?", "answers": ["x"], "gold": [{"title": "Spin"}], "split": "dev"}
    lines = [json.dumps({**row, "answers": []}), "{", json.dumps(row), json.dumps({**row, "question": "Who?"})]
    (tmp_path / "q.jsonl").write_text("\n".join([*lines, json.dumps({**row, "id": "b"})]))
    for options in ((), ("--split", "dev"), ("--split", "test")):
        result = wikigr("eval", "validate", "q.jsonl", "--json", *options)
        document = json.loads(result.out)
        assert (result.code, result.err) == (1, "")
        found = [(p["line"], p["kind"], p["question_id"]) for p in document["problems"]]
        assert found[:3] == [(1, "form", ""), (2, "form", ""), (4, "form", "a")]
        assert found[3:] == ([] if "test" in options else [(5, "duplicate", "b")])
        assert document["questions"] == (0 if "test" in options else 2)
    text = wikigr("eval", "validate", "q.jsonl")
    told = text.out.splitlines()
    assert (text.code, text.err, told[-1]) == (1, "", "2 questions, 4 problems")
    assert told[0].startswith("q.jsonl:1: the question is answerable, but has no answers")
    assert told[1].startswith("q.jsonl:2: no JSON")
    assert told[2] == "q.jsonl:4: the id 'a' is used twice, on line 3 and on line 4"


def test_validate_of_clean_questions_says_so_on_stdout(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(
        '{"id": "a", "question": "What is spin?", "answers": ["x"], "gold": [{"title": "Spin"}]}'
    )
    result = wikigr("-q", "eval", "validate", "q.jsonl")
    assert (result.code, result.out, result.err) == (0, "1 question, 0 problems\n", "")
    split = wikigr("eval", "validate", "q.jsonl", "--split", "dev")
    assert (split.code, "names a split" in split.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "no records"), ("{", "line 1"), ('{"question": "x"}', "id"), ('{"id": "a"}', "question")],
)
def test_questions_that_are_none(wikigr: Wikigr, physics_pack: Path, tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "q.jsonl").write_text(text)
    result = wikigr("eval", "run", "--pack", str(physics_pack), "--questions", "q.jsonl", "-o", "r")
    assert (result.code, (tmp_path / "r").exists()) == (2, False)
    assert says.lower() in result.err.lower()


class TestModels:
    """Runs with a model that answers, and with one that judges."""

    @pytest.fixture
    def model(self, messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch) -> MessagesServer:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
        messages_server.always(answer_or_judge)
        return messages_server

    @pytest.fixture
    def ask(self, wikigr: Wikigr, physics_pack: Path, questions: Path, model: MessagesServer) -> Run:
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
        assert len(fresh) > 4
        assert {sample.usage["calls"] for sample in fresh} == {1}
        assert {sample.usage["input_tokens"] for sample in fresh} == {1000}
        assert sum(sample.usage["calls"] for sample in fresh) == len(model.requests)
        told = sum(profile["usage"]["input_tokens"] for profile in document["profiles"])
        assert told == 1000 * len(model.requests)

    def test_a_second_run_is_answered_from_the_cache(self, ask: Run, model: MessagesServer, tmp_path: Path) -> None:
        options = ("--profile", "enhanced", "--judge", "claude", "--json")
        first = json.loads(ask("one", *options).out)
        asked = len(model.requests)
        assert asked > TOTAL
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
        assert second["judge"]["judged"] == first["judge"]["judged"] == TOTAL
        # Another answer comes only when it is asked for, and takes the old one's place.
        model.always(reply("Something else."))
        ask("three", "--profile", "enhanced", "--fresh")
        third = read_samples(tmp_path / "three")
        assert [s.usage.get("calls") for s in third] == [s.usage.get("calls") for s in before]
        assert any("Something else." in s.answer for s in third)
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

    def test_a_broken_file_of_the_cache_is_told(self, ask: Run, model: MessagesServer, tmp_path: Path) -> None:
        ask("one", "--profile", "enhanced")
        for file in (cache_folder() / "responses").glob("*/*.json"):
            file.write_text("{")
        again = ask("two", "--profile", "enhanced")
        assert (again.code, "cannot be used, so the model is asked again" in again.err) == (0, True)
        assert not any(sample.cached for sample in read_samples(tmp_path / "two"))

    def test_every_repeat_is_an_answer_of_its_own(self, ask: Run, model: MessagesServer, tmp_path: Path) -> None:
        numbers = iter(range(10_000))
        model.always(lambda request: reply(f"Answer number {next(numbers)}.")(request))
        options = ("--profile", "enhanced", "--repeat", "3", "--jobs", "2")
        ask("one", *options)
        asked = len(model.requests)
        first = read_samples(tmp_path / "one")
        written = [s.answer for s in first if s.query_type == "synthesis"]
        assert len(written) == len(set(written)) == asked > 3
        assert len(first) == 3 * TOTAL
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
        assert (judge["model"], judge["judged"], judge["errors"]) == ("claude-opus-4-6", 2 * TOTAL, 0)
        assert judge["usage"]["calls"] == calls
        assert judge["cost_usd"] == pytest.approx(calls * (200 * 5e-6 + 20 * 25e-6))
        assert (judge["agreement"], judge["advisory"]) == (None, True)
        assert document["profiles"][0]["metrics"]["judged"]["mean"] == 0.5
        assert f"{2 * TOTAL} judged, 0 errors, $" in result.out
        assert "advisory: no agreement with human labels is known" in result.out
        assert "advisory" in wikigr("eval", "report", "r", "--format", "md").out
        assert wikigr("eval", "report", "r", "--primary", "judged").code == 0
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
        stopped = ask("r", *options, "--judge-max-cost", "0.35")
        assert (stopped.code, "--judge-max-cost" in stopped.err) == (3, True)
        done = [sample for sample in read_samples(tmp_path / "r") if sample.judgment]
        assert 0 < len(done) < TOTAL
        asked, file = len(model.requests), tmp_path / "r" / "samples.jsonl"
        lines = file.read_bytes().count(b"\n")
        assert ask("r", *options).code == 0
        assert len(model.requests) - asked == file.read_bytes().count(b"\n") - lines == TOTAL - len(done)
        assert all(sample.judgment for sample in read_samples(tmp_path / "r"))

    def test_labels_tell_how_far_the_judge_can_be_trusted(
        self, ask: Run, wikigr: Wikigr, model: MessagesServer, tmp_path: Path
    ) -> None:
        steps = iter(range(10_000))

        def behave(request: dict) -> Response:  # type: ignore[type-arg]
            if "tool_choice" in request:
                return judged(["correct", "incorrect"][next(steps) % 2])(request)
            return reply("It is spin.")(request)

        model.always(behave)
        ids = [json.loads(line)["id"] for line in (tmp_path / "gold.jsonl").read_text().splitlines()]
        ask("r", "--profile", "enhanced", "--judge", "claude")
        verdicts = {s.question_id: s.judgment["verdict"] for s in read_samples(tmp_path / "r") if s.judgment}
        labels = tmp_path / "labels.jsonl"
        rows = [{"question_id": id_, "profile": "enhanced", "label": verdicts[id_]} for id_ in ids]
        rows[0]["label"] = "partly"
        labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
        with_labels = ("--judge-labels", str(labels))
        report = wikigr("eval", "report", "r", *with_labels)
        assert f"over {TOTAL} labels" in report.out and "kappa 0." in report.out and "advisory" not in report.out
        again = json.loads(ask("r", "--profile", "enhanced", "--judge", "claude", *with_labels, "--json").out)
        assert (again["judge"]["agreement"]["items"], again["judge"]["advisory"]) == (TOTAL, False)
        labels.write_text('{"question_id": "nobody", "profile": "enhanced", "label": "partly"}\n')
        asked = len(model.requests)
        for refused in (
            wikigr("eval", "report", "r", *with_labels),
            ask("new", "--profile", "enhanced", "--judge", "claude", *with_labels),
        ):
            assert (refused.code, "labels.jsonl, line 1" in refused.err) == (2, True)
        assert (len(model.requests), (tmp_path / "new").exists()) == (asked, False)

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (("--judge", "claude", "--offline"), "--offline"),
            (("--judge", "claude", "--judge-model", "claude-opus-latest"), "one model"),
            (("--judge-model", "claude-opus-4-6"), "--judge claude"),
            (("--judge-labels", "labels.jsonl"), "--judge claude"),
            (("--judge", "claude", "--judge-model", "gemma", "--judge-max-cost", "1"), "price"),
        ],
    )
    def test_wrong_usage(
        self, ask: Run, model: MessagesServer, tmp_path: Path, options: tuple[str, ...], says: str
    ) -> None:
        result = ask("r", *options)
        assert (result.code, says in result.err, model.requests) == (2, True, [])
        assert not (tmp_path / "r").exists()

    def test_a_judge_needs_a_key_or_a_server(self, run: Run, wikigr: Wikigr, physics_pack: Path, questions: Path,
                                             no_model: None) -> None:  # fmt: skip
        result = wikigr("eval", "run", "--pack", str(physics_pack), "--questions", str(questions), "--judge", "claude")
        assert (result.code, "ANTHROPIC_API_KEY" in result.err) == (2, True)
        run("r", "--profile", "enhanced")
        refused = wikigr("eval", "report", "r", "--judge-labels", "labels.jsonl")
        assert (refused.code, "no judge" in refused.err) == (2, True)


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
