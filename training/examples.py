"""Questions with the paragraph that answers them, and the examples that training reads."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wikigr.evaluation.metrics.accuracy import accuracy

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Passage:
    """A section with its article's title; ``heading`` may be empty."""

    title: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question about the paragraph ``text`` of the article ``title``, which may be empty.

    ``accepted`` holds all accepted answers. ``spans`` holds the characters of the answer to learn, at every place where
    it stands in ``text``; it is empty if the paragraph does not answer the question.
    """

    source: str
    id: str
    question: str
    title: str
    text: str
    accepted: tuple[str, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A question against one paragraph. ``kind`` is ``answer``, ``unanswerable`` or the kind of the negative.

    ``spans`` is empty for all kinds but ``answer``.
    """

    source: str
    kind: str
    id: str
    question: str
    title: str
    heading: str
    text: str
    accepted: tuple[str, ...]
    spans: tuple[Span, ...]

    @property
    def asked(self) -> tuple[str, str]:
        """What examples of the same question share."""
        return self.source, self.question


def contains_answer(text: str, accepted: Iterable[str]) -> bool:
    """Return whether ``text`` contains an accepted answer as whole words, as the metric ``accuracy`` compares them."""
    return bool(accuracy(text, tuple(accepted)))


def states_answer(text: str, pattern: str, accepted: Iterable[str]) -> bool:
    """Return whether ``text`` matches ``pattern``, ignoring case, or if that is empty contains an accepted answer."""
    if pattern:
        return re.search(pattern, text, re.IGNORECASE) is not None
    return contains_answer(text, accepted)


def occurrences(text: str, answer: str) -> tuple[Span, ...]:
    """Return the characters of every place where ``answer`` stands in ``text`` as whole words, or at all."""
    found = []
    start = text.find(answer) if answer else -1
    while start >= 0:
        found.append((start, start + len(answer)))
        start = text.find(answer, start + 1)
    whole = [(start, end) for start, end in found if not _splits_word(text, start) and not _splits_word(text, end)]
    return tuple(whole or found)


def _splits_word(text: str, place: int) -> bool:
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()


def majority(answers: Iterable[str]) -> str:
    """Return the answer that most annotators gave; the first of them if several are equally frequent."""
    counts: dict[str, int] = {}
    for answer in answers:
        counts[answer] = counts.get(answer, 0) + 1
    return max(counts, key=lambda answer: counts[answer])


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of an xz-compressed JSON Lines file."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def write_examples(path: Path, examples: Iterable[Example]) -> None:
    """Write ``examples`` as JSON Lines."""
    with path.open("w", encoding="utf-8") as file:
        for example in examples:
            file.write(json.dumps(asdict(example), ensure_ascii=False) + "\n")


def read_examples(path: Path) -> list[Example]:
    """Read what ``write_examples`` wrote."""
    with path.open(encoding="utf-8") as lines:
        return [_example(json.loads(line)) for line in lines]


def _example(values: dict[str, Any]) -> Example:
    spans = tuple((start, end) for start, end in values.pop("spans"))
    return Example(**{**values, "accepted": tuple(values["accepted"])}, spans=spans)
