"""Sentences that answer: with the short answer that the reader found, with yes or no, or both parts of a question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of, span_in
from wikigr.answer.candidates.yes_no import says_yes
from wikigr.question.intent import asks_short_answer, asks_yes_no
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
