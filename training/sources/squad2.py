"""SQuAD 2.0 (Rajpurkar et al. 2018): answerable and unanswerable questions on Wikipedia paragraphs."""

from __future__ import annotations

import hashlib
from pathlib import Path

from training.examples import Question, majority, occurrences, read_lines

NAME = "squad2"
LICENSE = "CC BY-SA 4.0"


def read_squad2(folder: Path) -> list[Question]:
    """Read ``corpus.jsonl.xz`` and ``queries.jsonl.xz``. Answers have no offsets, so every occurrence counts."""
    paragraphs = {row["id"]: row for row in read_lines(folder / "corpus.jsonl.xz")}
    questions = []
    for row in read_lines(folder / "queries.jsonl.xz"):
        paragraph = paragraphs[row["gold_ids"][0]]
        answers = () if row["is_impossible"] else tuple(row["answers"])
        spans = occurrences(paragraph["text"], majority(answers)) if answers else ()
        if answers and not spans:
            continue
        questions.append(
            Question(NAME, row["id"], row["question"], paragraph["title"], paragraph["text"], answers, spans)
        )
    return questions


def choose_held_out(titles: set[str], count: int, seed: int) -> list[str]:
    """Return the ``count`` titles whose hashes with ``seed`` are lowest, in alphabetical order."""
    return sorted(sorted(titles, key=lambda title: hashlib.sha256(f"{seed}:{title}".encode()).digest())[:count])
