"""A stored run: the folder with ``run.json``, ``samples.jsonl`` and ``questions.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wikigr.atomic import write_atomic
from wikigr.evaluation.questions import Gold, GoldQuestion
from wikigr.evaluation.run import Run, read_run
from wikigr.evaluation.samples import RunError, Sample, read_samples

QUESTIONS = "questions.json"
_QUESTION_FIELDS = {"id", "question", "answers", "gold", "answerable", "type", "line"}


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run read from its folder. ``questions`` maps ids to plain values, with the ``line`` in the question file."""

    folder: Path
    run: Run
    samples: list[Sample]
    questions: Mapping[str, Mapping[str, Any]]

    def samples_of(self, profile: str) -> list[Sample]:
        """Return the samples of one profile."""
        return [sample for sample in self.samples if sample.profile == profile]

    @property
    def subject(self) -> str:
        """The profile that a gate judges by default."""
        return self.run.subject or list(self.run.profiles)[-1]

    @property
    def clusters(self) -> dict[str, str] | None:
        """The cluster of each question by id, or None if the question set has no clusters."""
        found = {id_: str(question["cluster"]) for id_, question in self.questions.items() if question.get("cluster")}
        return found or None

    def gold_questions(self) -> list[GoldQuestion]:
        """Return the questions as they were asked."""
        return [
            GoldQuestion(
                **{
                    **question,
                    "answers": tuple(question["answers"]),
                    "gold": tuple(Gold(**gold) for gold in question["gold"]),
                }
            )
            for question in self.questions.values()
        ]


def store_questions(folder: Path, questions: Sequence[GoldQuestion]) -> None:
    """Write the questions next to the samples, so that reports do not need the question file."""
    rows = {question.id: asdict(question) for question in questions}
    write_atomic(folder / QUESTIONS, json.dumps(rows, ensure_ascii=False, indent=1) + "\n")


def load_run(folder: Path) -> StoredRun:
    """Read the folder of a run; raise ``UsageError`` if it has no run, ``RunError`` if a part of it is bad."""
    run = read_run(folder)
    try:
        questions = json.loads((folder / QUESTIONS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"Cannot read the questions of the run {folder}: {error}.") from error
    if not isinstance(questions, dict) or not all(
        isinstance(row, dict) and row.keys() >= _QUESTION_FIELDS for row in questions.values()
    ):
        raise RunError(f"The file {QUESTIONS} of the run {folder} does not hold the questions of a run.")
    samples = read_samples(folder)
    for sample in samples:
        if sample.question_id not in questions or sample.profile not in run.profiles:
            raise RunError(
                f"The samples in {folder} belong to another run: "
                f"this run has no question {sample.question_id!r} under {sample.profile!r}."
            )
    return StoredRun(folder, run, samples, questions)
