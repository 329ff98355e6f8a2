"""The input of every metric: one question with its answer and its ranking."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from wikigr.answer.answer import Answer
from wikigr.evaluation.questions import Gold, GoldQuestion
from wikigr.index.candidate import Evidence, Section
from wikigr.text import fold

Item = TypeVar("Item", bound=Hashable)

_CITATION_MARKS = re.compile(r"\s*\[(?:\d[\d\s,;]*|unverified)\]", re.IGNORECASE)


@dataclass(frozen=True)
class AnsweredQuestion:
    """A gold question, its answer, and the retrieved sections, best first."""

    question: GoldQuestion
    answer: Answer
    retrieved: tuple[Evidence, ...]

    @cached_property
    def text(self) -> str:
        """The answer without citation marks, or an empty string if the pack abstained."""
        return "" if self.answer.abstained else _CITATION_MARKS.sub("", self.answer.text)

    @property
    def short_text(self) -> str:
        """The short answer if there is one, otherwise ``text``; an empty string if the pack abstained."""
        span = self.answer.span
        return self.text if span is None or self.answer.abstained else span.text

    @cached_property
    def gold(self) -> tuple[Gold, ...]:
        """The gold locations, or none for an unanswerable question: the passage it was written about has no answer."""
        return self.question.gold if self.question.answerable else ()

    @cached_property
    def stored(self) -> dict[str, Section]:
        """Every section that was retrieved or used as evidence, by id."""
        return {item.section.section_id: item.section for item in (*self.retrieved, *self.answer.evidence)}


def gold_articles(question: GoldQuestion) -> frozenset[str]:
    """Return the folded titles of the gold articles, or none for an unanswerable question."""
    return frozenset(fold(gold.title) for gold in question.gold if question.answerable)


def gold_passages(question: GoldQuestion) -> frozenset[str]:
    """Return the source ids of the gold passages, or none for an unanswerable question.

    A gold location without a source id is not a passage, but a section or a whole article.
    """
    return frozenset(gold.source_id for gold in question.gold if question.answerable and gold.source_id is not None)


def _gold_sections(question: GoldQuestion) -> frozenset[tuple[str, str]]:
    """Return the gold sections as pairs of folded title and heading; locations without a section are left out."""
    places = question.gold if question.answerable else ()
    return frozenset((fold(gold.title), fold(gold.section)) for gold in places if gold.section is not None)


def ranked_articles(retrieved: Sequence[Evidence]) -> list[str]:
    """Return the folded titles of the retrieved articles, best first and without duplicates."""
    return list(dict.fromkeys(fold(item.section.title) for item in retrieved))


def ranked_passages(retrieved: Sequence[Evidence]) -> list[str]:
    """Return the source ids of the retrieved passages, best first and without duplicates.

    A passage is a record of the source. An article has several if several records have its title, and a long record
    has several sections. Sections without a source id are left out.
    """
    return list(dict.fromkeys(item.section.source_id for item in retrieved if item.section.source_id))


@dataclass(frozen=True, slots=True)
class Granularity(Generic[Item]):
    """What a ranking ranks: the items that are relevant to a question, and those of the retrieved sections."""

    name: str
    relevant: Callable[[GoldQuestion], frozenset[Item]]
    ranked: Callable[[Sequence[Evidence]], list[Item]]


ARTICLES = Granularity("article", gold_articles, ranked_articles)
PASSAGES = Granularity("passage", gold_passages, ranked_passages)
SECTIONS = Granularity(
    "section", _gold_sections, lambda found: [(fold(each.section.title), fold(each.section.heading)) for each in found]
)
