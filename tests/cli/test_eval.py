"""``wikigr eval`` on the demo pack: runs, resumes, reports, compares, gates."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.llm.server import MessagesServer, reply, status

from wikigr.evaluation.questions import load_questions
from wikigr.evaluation.run import read_run
from wikigr.evaluation.runner import Evaluation, evaluate
from wikigr.evaluation.samples import read_samples
from wikigr.pipeline.profile import Profile

from .conftest import ROOT_PACK, Result, Wikigr

TOTAL = 8
GOLD = ROOT_PACK / "eval" / "questions.jsonl"


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
        "enhanced", "lexical", "dense", "graph_reranker", "multi_doc", "section_quality", "few_shot",
    ]  # fmt: skip
    few_shot = next(c for c in document["comparisons"] if c["second"].endswith("few_shot"))
    assert few_shot["results"][0]["difference"] == 0.0
    assert few_shot["results"][0]["verdict"] == "equivalent"


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


def test_trec_files_give_other_tools_our_figures(run: Run, wikigr: Wikigr, tmp_path: Path) -> None:
    ir_measures = pytest.importorskip("ir_measures")
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

    def test_a_floor_that_is_missed_fails(self, blessed: Path, wikigr: Wikigr) -> None:
        result = wikigr("eval", "gate", "good", "--min", "accuracy=1.0")
        assert (result.code, "FAILED accuracy ≥ 1" in result.out) == (1, True)

    @pytest.mark.parametrize(
        ("options", "code", "says"),
        [
            ((), 2, "nothing to hold"),
            (("--min", "accuracy"), 2, "METRIC=VALUE"),
            (("--min", "acuracy=1"), 2, "no metric"),
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
    result = wikigr(*arguments, "-o", "r", "--min", "accuracy=0")
    failed = [sample for sample in read_samples(tmp_path / "r") if sample.error]
    assert failed
    assert (result.code, "FAILED errors" in result.out) == (1, True)
    lenient = wikigr("eval", "gate", "r", "--min", "accuracy=0", "--max-errors", "0.5")
    assert lenient.code == 0
    messages_server.always(reply("The pack does not cover this."))
    wikigr(*arguments, "-o", "r")
    assert not [sample for sample in read_samples(tmp_path / "r") if sample.error]


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


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "no records"), ("{", "line 1"), ('{"question": "x"}', "id"), ('{"id": "a"}', "question")],
)
def test_questions_that_are_none(wikigr: Wikigr, physics_pack: Path, tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "q.jsonl").write_text(text)
    result = wikigr("eval", "run", "--pack", str(physics_pack), "--questions", "q.jsonl", "-o", "r")
    assert (result.code, (tmp_path / "r").exists()) == (2, False)
    assert says.lower() in result.err.lower()
