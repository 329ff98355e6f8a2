"""NQ-open (Kwiatkowski et al. 2019; Lee et al. 2019): questions typed into Google, with Wikipedia passages.

Nobody marked the passages that answer: ``gold_ids`` are those that share most words with the question and contain an
answer (distant supervision, Mintz et al. 2009). Half of the questions are held out for evaluation.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from training.examples import Question, occurrences, read_lines

NAME = "nq"
LICENSE = "CC BY-SA 3.0"

# Passages of a question that are read for training; further ones repeat the same text.
_MAX_PASSAGES = 2


@dataclass(frozen=True, slots=True)
class NaturalQuestion:
    """A question with its accepted answers.

    ``covered`` says whether a passage answers it, ``None`` if that is unclear. ``passages`` are those that do.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    covered: bool | None
    passages: tuple[str, ...]


def read_passages(folder: Path) -> dict[str, tuple[str, str]]:
    """Return the title and the text of each passage by its id."""
    rows = read_lines(folder / "nq-passages.jsonl.xz")
    return {row["id"]: (row["title"], row["text"]) for row in rows}


def read_natural_questions(folder: Path, *, held_out: bool) -> list[NaturalQuestion]:
    """Return the half of the questions that is held out, or the other one."""
    return [
        NaturalQuestion(row["id"], row["question"], tuple(row["answers"]), row["covered"], tuple(row["gold_ids"]))
        for row in read_lines(folder / "nq.jsonl.xz")
        if (hashlib.sha256(row["id"].encode()).digest()[0] % 2 == 1) == held_out
    ]


def read_answered(folder: Path) -> list[Question]:
    """Return the covered questions for training, with at most two passages each."""
    passages = read_passages(folder)
    return [
        Question(NAME, item.id, item.question, title, text, item.answers, spans)
        for item in read_natural_questions(folder, held_out=False)
        for title, text in (passages[name] for name in item.passages[:_MAX_PASSAGES])
        if item.covered
        and (spans := tuple(sorted({span for answer in item.answers for span in occurrences(text, answer)})))
    ]


def read_uncovered(folder: Path) -> list[Question]:
    """Return the questions for training that no passage answers, without a passage."""
    return [
        Question(NAME, item.id, item.question, "", "", item.answers, ())
        for item in read_natural_questions(folder, held_out=False)
        if item.covered is False
    ]
