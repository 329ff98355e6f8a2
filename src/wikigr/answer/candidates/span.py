"""Sentences that answer: with the short answer that the reader found, with yes or no, or both parts of a question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of, span_in
from wikigr.question.grammar import is_negation
from wikigr.question.intent import asks_short_answer, asks_yes_no
from wikigr.question.question import Question
from wikigr.question.values import amounts_in
from wikigr.retrieval.reading import answer_words
from wikigr.retrieval.sentences import SentenceScore
from wikigr.sources.facts import FACTS
from wikigr.text import words

# Sentences that compete, the best ones first.
_MAX_SENTENCES = 12
_SAYS = re.compile(r"(?:yes|no)(?=[,.;!]|\s+[–—-]|$)", re.IGNORECASE)


def find_spans(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the best sentences, with their short answers if the question asks for one.

    Questions do not answer. What facts answer is for ``find_facts`` to say, and what rows do for ``find_cells``.
    """
    if asks_yes_no(material.question):
        return
    short, asked = asks_short_answer(material.question), words(material.question.text)
    statements = (s for s in material.statements if s.section.heading != FACTS and s.row is None)
    for sentence in islice(statements, _MAX_SENTENCES):
        # The words with which the question begins ("how many") do not answer it.
        span = sentence.span if short else None
        if span is not None and (said := answer_words(sentence)) == asked[: len(said)]:
            span = None
        yield AnswerCandidate("span", (quotation_of(sentence),), span=span)


def find_yes_no(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the best sentences for a question that can be answered with yes or no.

    Where a sentence does not begin with one of these words, it is said before it if that is certain.
    """
    if not asks_yes_no(material.question):
        return
    for sentence in islice(_without_other_rows(material), _MAX_SENTENCES):
        said = _SAYS.match(sentence.text)
        span = span_in(sentence, *said.span()) if said else None
        yes = says_yes(material.question, sentence.text) if said is None else None
        lead = "" if yes is None else "Yes." if yes else "No."
        yield AnswerCandidate("yes_no", (quotation_of(sentence),), span=span, lead=lead, fit=float(said is not None))


def _without_other_rows(material: Material) -> Iterator[SentenceScore]:
    """Yield the statements, and of the rows of a section only those of which the question names most."""
    shares = {
        s.place: material.asked.share(set(material.question.stems(s.text)))
        for s in material.statements
        if s.row is not None
    }
    best: dict[str, float] = {}
    for (section_id, *_), share in shares.items():
        best[section_id] = max(share, best.get(section_id, 0.0))
    for sentence in material.statements:
        if sentence.row is None or shares[sentence.place] == best[sentence.section.section_id]:
            yield sentence


def find_two_parts(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the sentence that answers both parts, or one for each; ``fit`` is the lower of their probabilities."""
    if material.parts is None:
        return
    stating = material.parts.stating
    fit = min(material.parts.first[0].score, material.parts.second[0].score)
    yield AnswerCandidate("two_part", tuple(quotation_of(s) for s in stating), span=stating[0].span, fit=fit)


# Words that say no: "It is forbidden", "Without a ticket"
_REFUSALS = frozenset("cannot failed forbidden impossible nobody nothing nowhere prohibited refused rejected".split())
# Words after which a sentence is true of a part only, or of another time.
_CONDITIONS = frozenset(
    "only except unless if until before but however although though without instead rather otherwise yet".split()
)
# The shares of the question that a clause must have: what is denied is mostly what was asked, but what is said may be
# something else.
_MIN_DENIED = 0.45
_MIN_SAID = 0.65
_CLAUSE = re.compile(r"[;:,.!?()→–—]+(?:\s|$)|\s[-–—]\s")


def says_yes(question: Question, text: str) -> bool | None:
    """Return whether ``text`` says yes to ``question``, or ``None`` if that is not certain."""
    asked, said = words(question.text), words(text)
    limited = _within_limit(question.text, text)
    if limited is not None:
        return limited != _is_negative(said)
    if not _CONDITIONS.isdisjoint(said) or not _CONDITIONS.isdisjoint(asked):
        return None
    for clause in _CLAUSE.split(text):
        covered = question.coverage(set(question.stems(clause)))
        is_denied = _is_negative(words(clause))
        if covered >= (_MIN_DENIED if is_denied else _MIN_SAID) and is_denied == _is_negative(said):
            return is_denied == _is_negative(asked)
    return None


def _is_negative(said: list[str]) -> bool:
    """Return whether ``said`` has an odd number of negations."""
    return sum(is_negation(word) or word in _REFUSALS for word in said) % 2 == 1


def _within_limit(asked: str, text: str) -> bool | None:
    """Return whether a number of the question is within the only range of ``text`` in the same unit, or ``None``."""
    numbers = [amounts for amounts, _, _ in amounts_in(asked) if not amounts.is_range and amounts.unit]
    ranges = [amounts for amounts, _, _ in amounts_in(text) if amounts.is_range and amounts.unit]
    pairs = [(number, limit) for number in numbers for limit in ranges if number.unit == limit.unit]
    if len(pairs) != 1:
        return None
    number, limit = pairs[0]
    return limit.holds(number)
