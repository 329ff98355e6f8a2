"""Checks of gold questions: the rules of ``wikigr eval validate``, and few-shot examples that leak an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from wikigr.embeddings.embedder import Embedder
from wikigr.evaluation.metrics.accuracy import accuracy
from wikigr.evaluation.questions import COMPARISON, INTERSECTION, Gold, GoldQuestion, Problem
from wikigr.index.candidate import Section
from wikigr.retrieval.name_matching import NameMatcher
from wikigr.suggestions import did_you_mean, nearest
from wikigr.text import fold, words

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.pack.open import Pack

ADVISORY = frozenset(("answered", "answer-in-question", "answer-outside-gold", "single-hop"))
"""The kinds of problems that have justified exceptions, so that they are warnings."""

# The minimum cosine at which an example leaks a gold question. With the default encoder, paraphrases lie above
# 0.9, and different questions about the same subject rarely above 0.8.
MIN_SIMILARITY = 0.85
# The minimum cosine of a loose paraphrase. Different questions about the same subject reach it too, so the example must
# also contain the gold answer.
MIN_RELATEDNESS = 0.6

Finding = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PackLookup:
    """The questions that the rules ask a pack.

    ``find_title`` returns the title in the pack for a gold title, or None; ``similar_titles`` the titles that it may
    mean. ``sections`` returns the sections of an article by its title in the pack. ``answer`` answers a question
    offline.
    """

    find_title: Callable[[str], str | None]
    similar_titles: Callable[[str], Sequence[str]]
    sections: Callable[[str], Sequence[Section]]
    answer: Callable[[str], Answer]

    def text_of(self, gold: Gold) -> str:
        """Return the text of a gold location, or an empty string if the pack does not have it."""
        title = self.find_title(gold.title)
        return "\n".join(
            section.content
            for section in (() if title is None else self.sections(title))
            if gold.section is None or fold(section.heading) == fold(gold.section)
            if gold.source_id is None or section.source_id == gold.source_id
        )


def look_up(pack: Pack, answer: Callable[[str], Answer]) -> PackLookup:
    """Return the lookup of an open pack, whose questions ``answer`` answers."""

    @cache
    def sections(title: str) -> list[Section]:
        rows = pack.graph.rows(
            "MATCH (a:Article {title: $title})-[:HAS_SECTION]->(s:Section) RETURN s.section_id, a.title, s.title, "
            "s.content, s.source_id, s.position ORDER BY s.position",
            {"title": title},
        )
        return [Section(*row) for row in rows]

    matcher = cache(lambda: NameMatcher(pack.graph_index))

    def similar_titles(name: str) -> list[str]:
        return [label for label in matcher().suggest(name) if pack.find_title(label)]

    return PackLookup(pack.find_title, similar_titles, sections, answer)


def check_questions(questions: Sequence[GoldQuestion], pack: PackLookup | None = None) -> list[Problem]:
    """Return what all rules find, in the order of ``questions``; without a pack, skip the rules that need one."""
    seen: dict[str, GoldQuestion] = {}
    return [
        Problem(kind, question.id, question.line, message)
        for question in questions
        for kind, message in (
            *_check_words(question, seen),
            *(() if pack is None else (*_check_gold(question, pack), *_check_answers(question, pack))),
        )
    ]


def _check_words(question: GoldQuestion, seen: dict[str, GoldQuestion]) -> Iterator[Finding]:
    # Case, punctuation and Unicode form do not matter. A question without words ("?!") is a duplicate only of the same
    # characters.
    first = seen.setdefault(" ".join(words(fold(question.question))) or question.question, question)
    if first is not question:
        yield "duplicate", f"asks the same as {first.id!r} on line {first.line}"
    # A comparison names the two that it compares.
    for answer in () if question.type == COMPARISON else question.answers:
        if accuracy(question.question, [answer]):
            yield "answer-in-question", f"the question contains its answer {answer!r}"


def _check_gold(question: GoldQuestion, pack: PackLookup) -> Iterator[Finding]:
    """Yield the gold locations that the pack lacks."""
    for gold in question.gold:
        title = pack.find_title(gold.title)
        if title is None:
            message = f"the pack has no article {gold.title!r}"
            yield "missing-title", _unknown(message, pack.similar_titles(gold.title))
            continue
        headings = [section.heading for section in pack.sections(title)]
        if gold.section is not None and fold(gold.section) not in map(fold, headings):
            message = f"the article {title!r} has no section {gold.section!r}"
            yield "missing-section", _unknown(message, nearest(gold.section, headings))
        if gold.source_id not in (None, *(section.source_id for section in pack.sections(title))):
            yield "missing-passage", f"the article {title!r} has no passage {gold.source_id!r}"


def _unknown(message: str, similar: Sequence[str]) -> str:
    """Return the message about an unknown name with the names that it may mean."""
    question = did_you_mean(similar)
    return message if question is None else f"{message}. {question}"


def _check_answers(question: GoldQuestion, pack: PackLookup) -> Iterator[Finding]:
    if not question.answerable:
        # Either the label is wrong, or the answer is: only a reader can tell.
        given = pack.answer(question.question)
        if not given.abstained:
            yield "answered", f"is marked as unanswerable, but the pack answers: {' '.join(given.text.split())}"
        return
    texts: dict[str, str] = {}
    for gold in question.gold:
        texts[fold(gold.title)] = f"{texts.get(fold(gold.title), '')}\n{pack.text_of(gold)}"
    if any(text.strip() for text in texts.values()):
        for answer in question.answers:
            if not any(accuracy(text, [answer]) for text in texts.values()):
                yield "answer-outside-gold", f"no gold location contains the accepted answer {answer!r}"
    # Each article of a comparison or an intersection may name the answer, but none of them proves it alone.
    holding = sum(bool(accuracy(text, question.answers)) for text in texts.values())
    if holding > 1 and question.type not in (COMPARISON, INTERSECTION):
        yield "single-hop", f"{holding} of its gold articles contain the answer, so one of them may be enough"


@dataclass(frozen=True, slots=True)
class Leak:
    """A few-shot example (its position in the file, from 1) that leaks a gold question.

    ``similarity`` is the cosine of the two questions. ``says_answer`` marks an example that is at most a loose
    paraphrase but contains an accepted answer.
    """

    example: int
    question_id: str
    similarity: float
    same_words: bool
    says_answer: bool = False


def find_leaks(
    examples: Sequence[Mapping[str, Any]], questions: Sequence[GoldQuestion], encoder: Embedder
) -> list[Leak]:
    """Return every example that leaks a gold question, in order, each with the nearest such question.

    An example leaks a question if it has the same words, a similarity of at least ``MIN_SIMILARITY``, or a
    similarity of at least ``MIN_RELATEDNESS`` and an accepted answer in its own answer.
    """
    if not examples or not questions:
        return []
    asked = [" ".join(words(question.question)) for question in questions]
    similarities = (
        encoder.encode([example["question"] for example in examples])
        @ encoder.encode([question.question for question in questions]).T
    )
    leaks = []
    for place, (example, cosines) in enumerate(zip(examples, similarities, strict=True), start=1):
        same = " ".join(words(example["question"]))
        for near in [asked.index(same)] if same in asked else np.argsort(-cosines, kind="stable"):
            is_paraphrase = same in asked or cosines[near] >= MIN_SIMILARITY
            if not is_paraphrase and cosines[near] < MIN_RELATEDNESS:
                break
            if is_paraphrase or accuracy(str(example["answer"]), questions[near].answers):
                cosine = round(float(cosines[near]), 4)
                leaks.append(Leak(place, questions[near].id, cosine, same in asked, not is_paraphrase))
                break
    return leaks
