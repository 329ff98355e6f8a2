"""The short report of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wikigr.evaluation.reports.document import report_document
from wikigr.evaluation.run import Run, StoredRun
from wikigr.evaluation.samples import Sample
from wikigr_cli.commands.eval.report import print_evaluation as evaluation

from ..terminal import environment_of, widest


def shown(right: dict[str, set[int]], of: int, metric: str = "accuracy") -> list[str]:
    """Return the report of a run over ``of`` questions, of which each profile answers those in ``right``."""
    run = Run(
        pack={"name": "pack", "version": "1", "digest": "d" * 64},
        questions={"path": "gold.jsonl", "split": None, "count": of, "hash": "h" * 64},
        profiles={name: {} for name in right},
        encoder={},
        seed=0,
        repeat=1,
        offline=True,
        primary=metric,
    )
    questions: dict[str, dict[str, Any]] = {
        f"q{n:02}": {"id": f"q{n:02}", "question": f"What is {n}, {'really ' * 12}?", "answers": ["x"], "gold": [],
                     "type": "t", "answerable": True, "line": n + 1}
        for n in range(of)
    }  # fmt: skip
    samples = [
        Sample(name, id_, 0, metrics={metric: float(int(id_[1:]) in numbers)})
        for name, numbers in right.items()
        for id_ in questions
    ]
    document = report_document(StoredRun(Path("r"), run, samples, questions), resamples=199)
    environment, out, _ = environment_of(80)
    evaluation(environment, document, folder=Path("r"), show_all=False)
    assert widest(out.getvalue()) <= 80
    return out.getvalue().splitlines()


def test_the_verdict_comes_first_and_questions_have_one_line_each() -> None:
    lines = shown({"one": {0, 1}, "two": set(range(1, 20))}, 40)
    assert lines[0].startswith("two against one in accuracy: +42.5 points (95% interval +")
    assert len(lines) <= 20
    assert "two lost 1 question:" in lines
    start = lines.index("two won 18 questions, 5 of them:")
    assert [line.split()[0] for line in lines[start + 1 :]] == ["q02", "q03", "q04", "q05", "q06"]
    assert all(line.endswith("…") for line in lines[start + 1 :])
    row = next(line for line in lines if line.startswith("two   "))
    assert row.split()[1:3] == ["0.475", "+0.425"] and row.split()[-1] == "improved"


def test_of_a_metric_of_which_less_is_better_more_is_lost() -> None:
    lines = shown({"one": {0}, "two": set(range(1, 20))}, 40, "hallucination")
    assert " ".join(lines[:3]).count(": regressed") == 1
    assert "two lost 19 questions, 5 of them:" in lines and "two won 1 question:" in lines


def test_several_profiles_have_their_verdicts_in_the_table() -> None:
    whole = set(range(30))
    lines = shown({"all": whole, "all-without-section_quality": set(), "all-without-b": whole, "c": {1}}, 30)
    assert [(line.split()[0], line.split()[-1]) for line in lines] == [
        ("profile", "verdict"),
        ("all", "1.000"),
        ("without-section_quality", "regressed"),
        ("without-b", "inconclusive"),
        ("c", "regressed"),
    ]


def test_a_single_profile_has_no_verdict() -> None:
    head, row = shown({"one": {0, 1}}, 4)
    assert (head.split(), row.split()) == (["profile", "accuracy"], ["one", "0.500"])
