"""The input of every metric: one question with its answer and its ranking."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from wikigr.answer.answer import Answer
from wikigr.evaluation.questions import Gold, GoldQuestion
from wikigr.index.candidate import Evidence, Section
from wikigr.text import fold

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
    def articles(self) -> list[str]:
        """The ids of the retrieved articles, see ``ranked_articles``."""
        return ranked_articles(self.question, self.retrieved)

    @cached_property
    def gold_articles(self) -> frozenset[str]:
        """The ids of the gold articles."""
        return frozenset(map(_gold_id, self.gold))

    @cached_property
    def sections(self) -> list[tuple[str, str]]:
        """The retrieved sections as pairs of folded title and heading."""
        return [(fold(item.section.title), fold(item.section.heading)) for item in self.retrieved]

    @cached_property
    def gold_sections(self) -> frozenset[tuple[str, str]]:
        """The gold sections as pairs of folded title and heading; gold locations without a section are left out."""
        return frozenset((fold(gold.title), fold(gold.section)) for gold in self.gold if gold.section is not None)

    @cached_property
    def stored(self) -> dict[str, Section]:
        """Every section that was retrieved or used as evidence, by id."""
        return {item.section.section_id: item.section for item in (*self.retrieved, *self.answer.evidence)}


def relevant_articles(question: GoldQuestion) -> frozenset[str]:
    """Return the ids of the gold articles: the source id if the gold location has one, otherwise the folded title."""
    return frozenset(map(_gold_id, question.gold))


def ranked_articles(question: GoldQuestion, retrieved: Sequence[Evidence]) -> list[str]:
    """Return the ids of the retrieved articles, best first and without duplicates.

    The ids are comparable with ``relevant_articles``. A gold location without a source id stands for its whole article.
    Other sections count as the passage they come from if the question has a passage as gold (an article of SQuAD has
    many), and as their article otherwise.
    """
    ids = {gold.source_id for gold in question.gold} - {None}
    titles = {fold(gold.title) for gold in question.gold if gold.source_id is None}

    def article_id(section: Section) -> str:
        title = fold(section.title)
        if section.source_id in ids:
            return section.source_id
        return section.source_id if ids and title not in titles and section.source_id else title

    return list(dict.fromkeys(article_id(item.section) for item in retrieved))


def _gold_id(gold: Gold) -> str:
    return fold(gold.title) if gold.source_id is None else gold.source_id
