"""The questions of the bench: JSON Lines, one file for each source."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from eval.real.packs import BenchSource

NOT_COVERED = "not-covered"


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    """A question about ``source``.

    ``gold`` is a regular expression that a right answer matches, ignoring case, or None if the source has no answer.
    ``quotes`` are the pieces of the source that answer, literally but for white space. ``kind`` names the kind of
    answer that is asked for.
    """

    id: str
    source: str
    kind: str
    question: str
    gold: str | None
    quotes: tuple[str, ...]

    def is_answered_by(self, text: str) -> bool:
        """Return whether ``text`` is a right answer; nothing is one to a question without gold."""
        return self.gold is not None and re.search(self.gold, text, re.IGNORECASE) is not None


def load_questions(source: BenchSource) -> list[BenchQuestion]:
    """Return the questions about ``source`` in the order of their file."""
    lines = source.questions.read_text(encoding="utf-8").splitlines()
    return [
        BenchQuestion(**{**fields, "source": source.name, "quotes": tuple(fields["quotes"])})
        for fields in map(json.loads, lines)
    ]


def find_mistakes(source: BenchSource) -> list[str]:
    """Return the mistakes in the questions about ``source``, which must be readable."""
    mistakes = []
    for question in load_questions(source):
        is_covered = question.kind != NOT_COVERED
        missing = [quote for quote in question.quotes if quote not in source.text]
        mistakes += [f"{question.id}: the source does not contain {quote!r}" for quote in missing]
        if is_covered != (question.gold is not None) or is_covered != bool(question.quotes):
            mistakes.append(f"{question.id}: needs gold and quotes, or the kind {NOT_COVERED} and neither")
        if is_covered and not question.is_answered_by("\n".join(question.quotes)):
            mistakes.append(f"{question.id}: the gold does not match the quotes")
        if question.is_answered_by(question.question):
            mistakes.append(f"{question.id}: the gold matches the question")
    return mistakes
