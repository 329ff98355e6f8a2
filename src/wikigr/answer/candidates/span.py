"""A span in a sentence: the short answer that the reader found, or the whole sentence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of
from wikigr.question.intent import asks_short_answer, asks_yes_no
from wikigr.sources.facts import FACTS

# Sentences that compete, the best ones first.
MAX_SENTENCES = 12


def find_spans(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the best sentences, with their short answers if the question asks for one.

    Questions do not answer, and what facts answer is for ``find_facts`` to say.
    """
    if asks_yes_no(material.question):
        return
    short = asks_short_answer(material.question)
    statements = (sentence for sentence in material.statements if sentence.section.heading != FACTS)
    for sentence in islice(statements, MAX_SENTENCES):
        yield AnswerCandidate("span", (quotation_of(sentence),), span=sentence.span if short else None)
