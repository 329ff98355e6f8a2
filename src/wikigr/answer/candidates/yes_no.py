"""The sentence that says yes or no."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of
from wikigr.answer.candidates.span import MAX_SENTENCES
from wikigr.question.intent import asks_yes_no
from wikigr.reader.passage import Span

_SAYS = re.compile(r"(?:yes|no)\b", re.IGNORECASE)


def find_yes_no(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the best sentences for a question that can be answered with yes or no.

    Only a sentence that begins with one of these words has a short answer; the others are quoted as they are, because
    whether a sentence agrees with a question is not judged.
    """
    if not asks_yes_no(material.question):
        return
    statements = (s for s in material.sentences if not s.text.rstrip().endswith("?"))
    for _, sentence in zip(range(MAX_SENTENCES), statements, strict=False):
        said = _SAYS.match(sentence.text)
        span = Span(sentence.start, sentence.start + said.end(), 0.0) if said else None
        if span is not None and sentence.span is not None:
            span = replace(span, margin=sentence.span.margin)
        yield AnswerCandidate("yes_no", (quotation_of(sentence),), span=span, fit=float(said is not None))
