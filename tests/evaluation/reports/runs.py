"""Small runs with known answers, and their reports."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

from wikigr.evaluation.reports.document import report_document
from wikigr.evaluation.run import Run, StoredRun
from wikigr.evaluation.samples import Sample
from wikigr_cli.commands.eval.report import print_evaluation as evaluation
from wikigr_cli.environment import Environment

QUESTIONS = {"a1": True, "a2": True, "a3": True, "u1": False, "u2": False}


def sample(profile: str, question: str, value: float, repeat: int = 0, **fields: Any) -> Sample:
    abstains = question == "u1" or (profile == "one" and question == "a3")
    values = {
        "query_type": "abstained" if abstains else "extractive",
        "confidence": {"a1": 0.9, "a2": 0.8, "a3": 0.2, "u1": 0.1, "u2": 0.5}[question],
        "metrics": {"accuracy": value, "hallucination": 1.0 - value},
        "timings": {"dense_ms": 2.0, "total_ms": 10.0 * (repeat + 1)},
    }
    return Sample(profile, question, repeat, **{**values, **fields})


def stored(samples: list[Sample], *, repeat: int = 1, **rows: Any) -> StoredRun:
    run = Run(
        pack={"name": "pack", "version": "1", "digest": "d" * 64},
        questions={"path": "gold.jsonl", "split": None, "count": len(QUESTIONS), "hash": "h" * 64},
        profiles={name: {} for name in dict.fromkeys(each.profile for each in samples)},
        encoder={},
        seed=0,
        repeat=repeat,
        offline=True,
    )
    questions = {
        id_: {"id": id_, "question": f"What is {id_}?", "answers": ["x"] if answerable else [], "gold": [], "type": "t",
              "answerable": answerable, "line": line, **rows}
        for line, (id_, answerable) in enumerate(QUESTIONS.items(), start=1)
    }  # fmt: skip
    return StoredRun(Path("run"), run, samples, questions)


def two_profiles(**fields: Any) -> list[Sample]:
    right = {"one": {"a1"}, "two": {"a1", "a2", "u1"}}
    return [sample(name, id_, float(id_ in right[name]), **fields) for name in right for id_ in QUESTIONS]


def document(samples: list[Sample], *, primary: str = "accuracy", repeat: int = 1, **rows: Any) -> dict[str, Any]:
    made = stored(samples, repeat=repeat, **rows)
    return report_document(replace(made, run=replace(made.run, primary=primary)), resamples=199)


def printed(made: dict[str, Any]) -> str:
    """Return the report as ``wikigr eval report --all`` prints it."""
    out = io.StringIO()
    evaluation(Environment(stdout=out, variables={}), made, folder=Path("run"), show_all=True)
    return out.getvalue()
