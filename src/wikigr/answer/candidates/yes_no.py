"""The sentence that says yes or no."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of, span_in
from wikigr.answer.candidates.span import MAX_SENTENCES
from wikigr.question.intent import asks_yes_no

_SAYS = re.compile(r"(?:yes|no)\b", re.IGNORECASE)


def find_yes_no(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the best sentences for a question that can be answered with yes or no.

    Only a sentence that begins with one of these words has a short answer; the others are quoted as they are, because
    whether a sentence agrees with a question is not judged.
    """
    if not asks_yes_no(material.question):
        return
    for sentence in material.statements[:MAX_SENTENCES]:
        said = _SAYS.match(sentence.text)
        span = span_in(sentence, *said.span()) if said else None
        yield AnswerCandidate("yes_no", (quotation_of(sentence),), span=span, fit=float(said is not None))
