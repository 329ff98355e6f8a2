"""Checks of gold questions: the rules of ``wikigr eval validate``, and few-shot examples that leak an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from wikigr.embeddings.embedder import Embedder
from wikigr.evaluation.metrics.accuracy import accuracy
from wikigr.evaluation.questions import COMPARISON, INTERSECTION, Gold, GoldQuestion, Problem, ProblemKind
from wikigr.index.candidate import Section
from wikigr.retrieval.name_matching import NameMatcher
from wikigr.suggestions import did_you_mean, nearest
from wikigr.text import fold, words

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.pack.open import Pack


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


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule about gold questions. ``find`` yields each offending question with a message.

    An advisory rule has justified exceptions, so that its findings are warnings and not problems.
    """

    kind: ProblemKind
    find: Callable[[Sequence[GoldQuestion], PackLookup], Iterator[tuple[GoldQuestion, str]]]
    needs_pack: bool = True
    advisory: bool = False


def check_questions(questions: Sequence[GoldQuestion], pack: PackLookup | None = None) -> list[Problem]:
    """Return the findings of all rules in the order of ``questions``; without a pack, skip the rules that need one."""
    lookup = pack or PackLookup(_no_pack, _no_pack, _no_pack, _no_pack)
    place = {question.id: place for place, question in enumerate(questions)}
    found = [
        Problem(rule.kind, question.id, question.line, message)
        for rule in RULES
        if pack is not None or not rule.needs_pack
        for question, message in rule.find(questions, lookup)
    ]
    return sorted(found, key=lambda problem: place[problem.question_id])


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


def _no_pack(_: str) -> NoReturn:
    raise LookupError("there is no pack to look this up in")


def _duplicates(questions: Sequence[GoldQuestion], _: PackLookup) -> Iterator[tuple[GoldQuestion, str]]:
    """Two questions have the same words; case, punctuation and Unicode form do not matter."""
    seen: dict[str, GoldQuestion] = {}
    for question in questions:
        # A question without words ("?!") is a duplicate only of the same characters.
        key = " ".join(words(fold(question.question))) or question.question
        first = seen.setdefault(key, question)
        if first is not question:
            yield question, f"asks the same as {first.id!r} on line {first.line}"


def _missing_titles(questions: Sequence[GoldQuestion], pack: PackLookup) -> Iterator[tuple[GoldQuestion, str]]:
    """The pack has no article for a gold title."""
    for question in questions:
        for gold in question.gold:
            if pack.find_title(gold.title) is None:
                yield question, _unknown(f"the pack has no article {gold.title!r}", pack.similar_titles(gold.title))


def _missing_sections(questions: Sequence[GoldQuestion], pack: PackLookup) -> Iterator[tuple[GoldQuestion, str]]:
    """The article of a gold location does not have its section."""
    for question in questions:
        for gold in question.gold:
            title = pack.find_title(gold.title)
            if title is not None and gold.section is not None:
                headings = [section.heading for section in pack.sections(title)]
                if fold(gold.section) not in map(fold, headings):
                    message = f"the article {title!r} has no section {gold.section!r}"
                    yield question, _unknown(message, nearest(gold.section, headings))


def _unknown(message: str, similar: Sequence[str]) -> str:
    """Return the message about an unknown name with the names that it may mean."""
    question = did_you_mean(similar)
    return message if question is None else f"{message}. {question}"


def _missing_passages(questions: Sequence[GoldQuestion], pack: PackLookup) -> Iterator[tuple[GoldQuestion, str]]:
    """The article of a gold location does not have its passage."""
    for question in questions:
        for gold in question.gold:
            title = pack.find_title(gold.title)
            if title is not None and gold.source_id is not None:
                passages = {section.source_id for section in pack.sections(title)}
                if gold.source_id not in passages:
                    yield question, f"the article {title!r} has no passage {gold.source_id!r}"


def _answered(questions: Sequence[GoldQuestion], pack: PackLookup) -> Iterator[tuple[GoldQuestion, str]]:
    """The pack answers a question that is marked as unanswerable.

    Either the label is wrong, or the answer is: only a reader can tell, so it is a warning.
    """
    for question in questions:
        if not question.answerable:
            given = pack.answer(question.question)
            if not given.abstained:
                yield question, f"is marked as unanswerable, but the pack answers: {' '.join(given.text.split())}"


def _answers_in_questions(questions: Sequence[GoldQuestion], _: PackLookup) -> Iterator[tuple[GoldQuestion, str]]:
    """The question itself contains an accepted answer; a comparison names the two that it compares."""
    for question in questions:
        for answer in () if question.type == COMPARISON else question.answers:
            if accuracy(question.question, [answer]):
                yield question, f"the question contains its answer {answer!r}"


def _answers_outside_gold(questions: Sequence[GoldQuestion], pack: PackLookup) -> Iterator[tuple[GoldQuestion, str]]:
    """An accepted answer occurs in none of the gold locations."""
    for question in questions:
        texts = [text for gold in question.gold if (text := _gold_text(gold, pack))]
        for answer in question.answers if texts else ():
            if not any(accuracy(text, [answer]) for text in texts):
                yield question, f"no gold location contains the accepted answer {answer!r}"


def _single_hops(questions: Sequence[GoldQuestion], pack: PackLookup) -> Iterator[tuple[GoldQuestion, str]]:
    """Several gold articles contain the answer, so that one of them may be enough.

    Comparisons and intersections are left out: each article may name the answer, but none of them proves it alone.
    """
    for question in questions:
        if question.type in (COMPARISON, INTERSECTION):
            continue
        texts: dict[str, str] = {}
        for gold in question.gold:
            texts[fold(gold.title)] = f"{texts.get(fold(gold.title), '')}\n{_gold_text(gold, pack)}"
        holding = sum(bool(accuracy(text, question.answers)) for text in texts.values())
        if holding > 1:
            yield question, f"{holding} of its gold articles contain the answer, so one of them may be enough"


def _gold_text(gold: Gold, pack: PackLookup) -> str:
    """Return the text of a gold location, or an empty string if the pack does not have it."""
    title = pack.find_title(gold.title)
    return "\n".join(
        section.content
        for section in (() if title is None else pack.sections(title))
        if gold.section is None or fold(section.heading) == fold(gold.section)
        if gold.source_id is None or section.source_id == gold.source_id
    )


RULES = (
    Rule("duplicate", _duplicates, needs_pack=False),
    Rule("missing-title", _missing_titles),
    Rule("missing-section", _missing_sections),
    Rule("missing-passage", _missing_passages),
    Rule("answered", _answered, advisory=True),
    Rule("answer-in-question", _answers_in_questions, needs_pack=False, advisory=True),
    Rule("answer-outside-gold", _answers_outside_gold, advisory=True),
    Rule("single-hop", _single_hops, advisory=True),
)
"""Every rule, in the order in which the problems of one question are listed."""

ADVISORY = frozenset(rule.kind for rule in RULES if rule.advisory)
"""The kinds of problems that are warnings."""


# The minimum cosine at which an example leaks a gold question. With the default encoder, paraphrases lie above
# 0.9, and different questions about the same subject rarely above 0.8.
MIN_SIMILARITY = 0.85
# The minimum cosine of a loose paraphrase. Different questions about the same subject reach it too, so the example must
# also contain the gold answer.
MIN_RELATEDNESS = 0.6


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
    gold = encoder.encode([question.question for question in questions])
    leaks = []
    for place, (example, vector) in enumerate(
        zip(examples, encoder.encode([example["question"] for example in examples]), strict=True), start=1
    ):
        same = " ".join(words(example["question"]))
        similarities = gold @ vector
        most_similar = int(np.argmax(similarities))
        if same in asked:
            most_similar = asked.index(same)
        if same in asked or similarities[most_similar] >= MIN_SIMILARITY:
            leaks.append(
                Leak(place, questions[most_similar].id, round(float(similarities[most_similar]), 4), same in asked)
            )
            continue
        for near in np.argsort(-similarities, kind="stable"):
            if similarities[near] < MIN_RELATEDNESS:
                break
            if accuracy(str(example["answer"]), questions[near].answers):
                leaks.append(Leak(place, questions[near].id, round(float(similarities[near]), 4), False, True))
                break
    return leaks
