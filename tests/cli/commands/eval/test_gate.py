"""``wikigr eval gate`` and ``wikigr eval bless``."""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from wikigr.evaluation.gate import make_baseline, write_baseline
from wikigr.evaluation.questions import load_questions, question_set_hash
from wikigr.evaluation.run import load_run
from wikigr.evaluation.samples import Sample, write_line

from ...conftest import Wikigr
from .conftest import GATED, Run


def test_a_gate_that_cannot_be_held_is_refused_before_anything_is_asked(
    run: Run, enhanced_run: Path, questions: Path, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    done = load_run(enhanced_run / "good")
    foreign = make_baseline(done, "enhanced")
    write_baseline(tmp_path / "foreign.json", foreign)
    loaded = load_questions(questions)
    means = {question.id: {"accuracy": 1.0} for question in loaded}
    bare = replace(foreign, question_hash=question_set_hash(loaded), means=means)
    write_baseline(tmp_path / "bare.json", bare)
    for options, says in (
        (("--primary", "acuracy"), "'accuracy'?"),
        (("--primary", "judged"), "--judge claude"),
        (("--min", "acuracy=0.5"), "'accuracy'?"),
        (("--min", "accuracy"), "METRIC=VALUE"),
        (("--min", "accuracy=high"), "METRIC=VALUE"),
        (("--min", "accuracy=nan"), "from 0 to 1"),
        (("--min", "accuracy=80"), "from 0 to 1"),
        (("--min", "judged=0.5"), "--judge claude"),
        (("--margin", "nan"), "margin"),
        (("--max-errors", "nan"), "share of errors"),
        (("--baseline", "nowhere.json"), "Cannot use the baseline"),
        (("--baseline", "gold.jsonl"), "Cannot use the baseline"),
        (("--baseline", "foreign.json"), "another question set"),
        (("--baseline", "bare.json", "--primary", "mrr"), "no question of the baseline"),
    ):
        with subtests.test(options=options):
            result = run("r", "--profile", "enhanced", *options)
            assert (result.code, says in result.err, result.out) == (2, True, ""), result.err
            assert not (tmp_path / "r").exists()


class TestGate:
    @pytest.fixture
    def blessed(self, enhanced_run: Path, wikigr: Wikigr, tmp_path: Path) -> Path:
        shutil.copytree(enhanced_run / "good", tmp_path / "good")
        assert wikigr("eval", "bless", "good", "-o", "baseline.json").code == 0
        return tmp_path / "baseline.json"

    def test_a_question_is_no_command_of_the_workflow(self, blessed: Path, wikigr: Wikigr, tmp_path: Path) -> None:
        hostile = "a\n::stop-commands::x\r\n::error::y"
        for name in ("questions.json", "samples.jsonl"):
            path = tmp_path / "good" / name
            path.write_text(path.read_text().replace('"accuracy": 1.0', '"accuracy": 0.0'))
        path = tmp_path / "good" / "questions.json"
        rows = {id_: row | {"question": hostile} for id_, row in json.loads(path.read_text()).items()}
        path.write_text(json.dumps(rows))
        result = wikigr("eval", "gate", "good", "--baseline", "baseline.json")
        assert (result.code, "::stop-commands::x" in result.out) == (1, True)
        assert not [line for line in result.out.splitlines() if line.lstrip().startswith("::")]

    def test_the_error_budget_is_a_requirement_of_its_own(self, blessed: Path, wikigr: Wikigr, tmp_path: Path) -> None:
        path = tmp_path / "good" / "samples.jsonl"
        first, *others = path.read_text().splitlines(keepends=True)
        failed = Sample("enhanced", json.loads(first)["question_id"], 0, error="no")
        path.write_text(write_line(failed) + "".join(others))
        for options, code, outcome in (
            (("--max-errors", "0"), 1, "failed"),
            (("--fail-on", "never"), 1, "failed"),
            (("--max-errors", "0.5"), 0, "passed"),
        ):
            result = wikigr("eval", "gate", "good", *options)
            assert (result.code, f"The gate for enhanced: {outcome}" in result.out) == (code, True), result.err

    def test_junit_fails_for_what_the_gate_fails_for(self, blessed: Path, wikigr: Wikigr, tmp_path: Path) -> None:
        path = tmp_path / "good" / "samples.jsonl"
        path.write_text(path.read_text().replace('"accuracy": 1.0', '"accuracy": 0.0', 2))
        gate = ("eval", "gate", "good", "--baseline", "baseline.json", "--junit", "junit.xml")
        for options, code, failures in (((), 0, 0), (("--max-flips", "2"), 0, 0), (("--max-flips", "1"), 1, 3)):
            result = wikigr(*gate, *options)
            assert (result.code, f"changed answers: 2 of {GATED} answers changed" in result.out) == (code, True), (
                result.err
            )
            suite = ElementTree.parse(tmp_path / "junit.xml").getroot().find("testsuite")
            assert suite is not None and suite.get("failures") == str(failures)
            assert (suite.get("tests"), suite.get("errors"), suite.get("skipped")) == (
                str(GATED + 4),
                "0",
                "0" if code else "2",
            )
            cases = [case for case in suite.iter("testcase") if case.get("classname") == "enhanced"]
            assert all((case.get("name") or "").endswith("?") and float(case.get("time") or 0) > 0 for case in cases)
        result = wikigr("eval", "gate", "good", "--max-flips", "1")
        assert (result.code, "Add --baseline FILE." in result.err) == (2, True)

    def test_a_run_with_a_gate_prints_one_document(
        self, blessed: Path, enhanced_run: Path, physics_pack: Path, wikigr: Wikigr, tmp_path: Path
    ) -> None:
        # It answers from nothing, so that it declines everything.
        (tmp_path / "enhanced.yaml").write_text("multi_doc: {min_relevance: 1.0}\nretrieval: {mode: dense}\n")
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
        assert failed == {"accuracy ≥ 0.99", "accuracy against the baseline", "changed answers"}
        assert inside["regressed"]
        told = wikigr("eval", "gate", "bad", "--baseline", "baseline.json")
        assert told.code == 1 and any(line.strip().startswith("worse:") for line in told.out.splitlines())
        assert wikigr("eval", "gate", "bad", "--baseline", "baseline.json", "--fail-on", "never").code == 0
        report = json.loads(wikigr("eval", "report", "bad", "--format", "json").out)
        assert report["gate"] is None
        passed = wikigr("eval", "gate", "good", "--min", "accuracy=0", "--json")
        assert (passed.code, json.loads(passed.out)["passed"]) == (0, True)

    def test_blessing_and_exporting_print_a_document(self, blessed: Path, wikigr: Wikigr, tmp_path: Path) -> None:
        made = json.loads(wikigr("eval", "bless", "good", "-o", "again.json", "--json").out)
        written = json.loads((tmp_path / "again.json").read_text())
        assert (made["schema_version"], made["baseline"], made["questions"]) == (1, "again.json", GATED)
        for key in ("profile", "question_hash", "pack_digest", "wikigr_version"):
            assert made[key] == written[key]
        files = json.loads(wikigr("eval", "trec", "good", "-o", "trec", "--json").out)
        runs = {"enhanced": "trec/enhanced.run"}
        # The questions name no passages.
        assert files == {"schema_version": 1, "qrels": "trec/qrels.txt", "runs": runs, "passages": None}
        assert all((tmp_path / file).is_file() for file in (files["qrels"], *files["runs"].values()))

    def test_requirements_that_are_met_and_missed(self, blessed: Path, wikigr: Wikigr) -> None:
        met = wikigr("eval", "gate", "good", "--baseline", "baseline.json", "--min", "accuracy=0.3")
        assert (met.code, "FAILED" in met.out) == (0, False), met.out
        missed = wikigr("eval", "gate", "good", "--min", "accuracy=1.0")
        assert (missed.code, "FAILED accuracy ≥ 1" in missed.out) == (1, True)
        for options, says in (((), "no requirement"), (("--min", "accuracy=0", "--profile", "fast"), "no profile")):
            refused = wikigr("eval", "gate", "good", *options)
            assert (refused.code, says in refused.err) == (2, True), refused.err

    def test_a_run_is_no_baseline(self, blessed: Path, wikigr: Wikigr, tmp_path: Path) -> None:
        (tmp_path / "good").rename(tmp_path / "a good one")
        refused = wikigr("eval", "gate", "a good one", "--baseline", "a good one")
        assert (refused.code, "a good one is a run, not a baseline." in refused.err) == (2, True)
        command = "wikigr eval bless 'a good one' -o baseline.json"
        assert command in refused.err
        assert wikigr(*shlex.split(command)[1:]).code == 0
        assert wikigr("eval", "gate", "a good one", "--baseline", "baseline.json").code == 0

    @pytest.mark.parametrize("folder", ["nowhere", "baseline.json"])
    def test_a_run_that_is_missing_is_code_2_like_a_missing_baseline(
        self, blessed: Path, wikigr: Wikigr, folder: str
    ) -> None:
        (blessed.parent / "baseline.json").touch()
        missing = wikigr("eval", "gate", folder, "--min", "accuracy=0")
        assert (missing.code, f"{folder} does not contain a run." in missing.err) == (2, True)

    def test_a_run_that_is_damaged_is_code_3(self, blessed: Path, wikigr: Wikigr, tmp_path: Path) -> None:
        path = tmp_path / "good" / "samples.jsonl"
        path.write_text("{}\n" + path.read_text())
        damaged = wikigr("eval", "gate", "good", "--min", "accuracy=0")
        assert (damaged.code, "Line 1" in damaged.err) == (3, True)

    def test_a_damaged_part_of_a_run_is_code_3(self, blessed: Path, wikigr: Wikigr, tmp_path: Path) -> None:
        changes: list[tuple[str, dict[str, object]]] = [
            ("run.json", {"schema_version": 0}),
            ("run.json", {"profiles": ["enhanced"]}),
            ("run.json", {"questions": 3}),
            ("run.json", {"pack": {}}),
            ("run.json", {"seed": "x"}),
            ("run.json", {"unknown": 1}),
            ("questions.json", {"q": {}}),
            ("questions.json", {"q": 3}),
        ]
        for name, change in changes:
            path = tmp_path / "good" / name
            whole = path.read_text()
            path.write_text(json.dumps(json.loads(whole) | change))
            assert wikigr("eval", "gate", "good", "--baseline", "baseline.json").code == 3, change
            path.write_text(whole)

    def test_samples_of_other_questions_are_code_3(self, blessed: Path, wikigr: Wikigr, tmp_path: Path) -> None:
        path = tmp_path / "good" / "samples.jsonl"
        path.write_text(path.read_text().replace('"question_id": "phys-', '"question_id": "other-'))
        result = wikigr("eval", "report", "good")
        assert (result.code, "belong to another run" in result.err) == (3, True)

    def test_an_unfinished_run_fails_the_gate_and_cannot_be_blessed(
        self, blessed: Path, wikigr: Wikigr, tmp_path: Path
    ) -> None:
        path = tmp_path / "good" / "samples.jsonl"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
        assert wikigr("eval", "gate", "good", "--baseline", "baseline.json").code == 1
        refused = wikigr("eval", "bless", "good", "-o", "other.json")
        assert (refused.code, (tmp_path / "other.json").exists()) == (3, False)
