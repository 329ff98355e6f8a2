"""The short report of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wikigr.evaluation.reports.document import report_document
from wikigr.evaluation.run import Run, StoredRun
from wikigr.evaluation.samples import Sample
from wikigr_cli.render.evaluation import summary

from ..terminal import environment_of, widest


def report(right: dict[str, set[int]], of: int, metric: str = "accuracy") -> dict[str, Any]:
    """Return the report of a run over ``of`` questions, of which each profile answers those in ``right``."""
    run = Run(
        pack={"name": "pack", "version": "1", "digest": "d" * 64},
        questions={"path": "gold.jsonl", "split": None, "count": of, "hash": "h" * 64},
        profiles={name: {} for name in right},
        encoder={},
        seed=0,
        repeat=1,
        offline=True,
    )
    questions = {
        f"q{n:02}": {"id": f"q{n:02}", "question": f"What is {n}, {'really ' * 12}?", "answers": ["x"], "gold": [],
                     "type": "t", "answerable": True, "line": n + 1}
        for n in range(of)
    }  # fmt: skip
    samples = [
        Sample(name, f"q{n:02}", 0, metrics={metric: float(n in numbers)})
        for name, numbers in right.items()
        for n in range(of)
    ]
    return report_document(StoredRun(Path("r"), run, samples, questions), primary=metric, resamples=199)


def shown(document: dict[str, Any]) -> list[str]:
    environment, out, _ = environment_of(80)
    summary(environment, document)
    assert widest(out.getvalue()) <= 80
    return out.getvalue().splitlines()


def test_the_verdict_comes_first_and_questions_have_one_line_each() -> None:
    lines = shown(report({"one": {0, 1}, "two": set(range(1, 20))}, 40))
    assert lines[0].startswith("two is better than one in accuracy: +42.5 points (95% interval +")
    assert len(lines) <= 20
    assert "two lost 1 question:" in lines
    start = lines.index("two won 18 questions, 5 of them:")
    assert [line.split()[0] for line in lines[start + 1 :]] == ["q02", "q03", "q04", "q05", "q06"]
    assert all(line.endswith("…") for line in lines[start + 1 :])
    row = next(line for line in lines if line.startswith("two   "))
    assert row.split()[-1] == "18/1"


def test_of_a_metric_of_which_less_is_better_more_is_lost() -> None:
    lines = shown(report({"one": {0}, "two": set(range(1, 20))}, 40, "hallucination"))
    assert lines[0].startswith("two is worse than one in hallucination: +")
    assert "two lost 19 questions, 5 of them:" in lines and "two won 1 question:" in lines


def test_without_a_difference_it_says_what_could_be_detected() -> None:
    lines = shown(report({"one": {0, 1, 2}, "two": {1, 2, 3}}, 40))
    assert lines[0].startswith("No difference shown between two and one in accuracy: +0.0 points")
    assert any(line.startswith("This many questions detect a difference of ") for line in lines)


def test_an_interval_without_0_that_the_test_does_not_confirm_says_so() -> None:
    said = " ".join(shown(report({"one": set(range(10)), "two": set(range(6))}, 10)))
    assert said.startswith("two scored lower than one in accuracy, but that may be chance: -40.0 points")
    assert "p = 0.1250, 10 questions. The interval excludes 0, but it is too narrow" in said


def test_several_profiles_are_listed_by_verdict() -> None:
    whole = set(range(30))
    lines = shown(report({"all": whole, "all-without-section_quality": set(), "all-without-b": whole, "c": {1}}, 30))
    assert lines[:3] == [
        "Compared with all in accuracy:",
        "  worse: without-section_quality, c",
        "  unclear: without-b",
    ]
    assert [line.split()[0] for line in lines[5:]] == ["all", "without-section_quality", "without-b", "c"]


def test_a_single_profile_has_no_verdict() -> None:
    head, row = shown(report({"one": {0, 1}}, 4))
    assert (head.split(), row.split()[:2]) == (["profile", "accuracy"], ["one", "0.500"])
