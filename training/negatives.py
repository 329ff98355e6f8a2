"""Questions against paragraphs that do not answer them, of the kinds that retrieval really brings up.

All kinds but ``entity_swap`` keep the question and take another paragraph, which must not contain an accepted answer.
``entity_swap`` keeps the paragraph and asks about another entity or number that the paragraph mentions.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeVar

from training.examples import Question, contains_answer
from wikigr.question.answer_type import answer_type

_Item = TypeVar("_Item")

SAME_ARTICLE = "same_article"
ATTRIBUTE = "attribute"
SEARCH = "search"
ENTITY_SWAP = "entity_swap"

# The answer types of which an article states several.
_ATTRIBUTE_TYPES = frozenset({"date", "number", "name", "reason"})

# A number, or one or more capitalized words.
_ENTITY = re.compile(r"\b\d[\d,.]*\b|\b[A-ZÀ-Þ][\w-]+(?: (?:of )?[A-ZÀ-Þ][\w-]+)*")
# What stands before a word that is capitalized although it does not begin a sentence.
_WITHIN_SENTENCE = re.compile(r"[a-z0-9,;:(\"“] ?$")
_FIRST_WORDS = frozenset(
    "who what when where why how which whose whom in on at to for from by with the a an is are was were did does do "
    "this that these those it he she they his her their its and but or as if during after before since while".split()
)


class ArticleNegatives:
    """Finds other paragraphs of the same article."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._paragraphs: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._by_type: dict[tuple[str, str, str], list[Question]] = defaultdict(list)
        for question in questions:
            if not question.title:
                continue
            key = (question.source, question.title)
            if question.text not in self._paragraphs[key]:
                self._paragraphs[key].append(question.text)
            kind = answer_type(question.question)
            if kind is not None and kind.name in _ATTRIBUTE_TYPES and question.spans:
                self._by_type[*key, kind.name].append(question)

    def same_article(self, question: Question, draw: random.Random) -> str | None:
        """Return another paragraph of the question's article without an accepted answer, or ``None``."""
        return _first_without(question, _shuffled(self._paragraphs[question.source, question.title], draw))

    def attribute(self, question: Question, draw: random.Random) -> str | None:
        """Return a paragraph of the article that answers another question of the same answer type, or ``None``."""
        kind = answer_type(question.question)
        if kind is None or kind.name not in _ATTRIBUTE_TYPES:
            return None
        others = self._by_type[question.source, question.title, kind.name]
        return _first_without(question, (other.text for other in _shuffled(others, draw)))


def swap_entity(question: Question, draw: random.Random) -> str | None:
    """Return ``question`` about another name or number of its paragraph, or ``None`` if there is nothing to swap.

    The replaced entity must stand in the paragraph or the title. The new one must be of the same kind, be new to the
    question and not overlap with an accepted answer.
    """
    asked = [match for match in _ENTITY.finditer(question.question) if _is_entity(match.group())]
    known = f"{question.title}\n{question.text}"
    asked = [match for match in asked if match.group() in known]
    if not asked:
        return None
    old = draw.choice(asked)
    is_number = old.group()[0].isdigit()
    answered = " ".join(question.accepted).lower()
    lowered = question.question.lower()
    text = question.text
    candidates = dict.fromkeys(
        match.group() for match in _ENTITY.finditer(text) if _WITHIN_SENTENCE.search(text[: match.start()][-2:])
    )
    new = [
        entity
        for entity in candidates
        if _is_entity(entity)
        and entity[0].isdigit() == is_number
        and (not is_number or len(entity) == len(old.group()))
        and not set(entity.lower().split()) & set(re.findall(r"\w+", lowered + " " + answered))
    ]
    if not new:
        return None
    return question.question[: old.start()] + draw.choice(new) + question.question[old.end() :]


def _is_entity(text: str) -> bool:
    return text.split()[0].lower() not in _FIRST_WORDS


def _shuffled(items: Sequence[_Item], draw: random.Random) -> Iterator[_Item]:
    return iter(draw.sample(items, len(items)))


def _first_without(question: Question, texts: Iterator[str]) -> str | None:
    for text in texts:
        if text != question.text and not contains_answer(text, question.accepted):
            return text
    return None
