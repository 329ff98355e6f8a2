"""The answers to both parts of a question with two question words."""

from __future__ import annotations

from collections.abc import Iterator

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of


def find_two_parts(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the sentence that answers both parts, or one for each; ``fit`` is the lower of their probabilities."""
    if material.parts is None:
        return
    stating = material.parts.stating
    fit = min(material.parts.first[0].score, material.parts.second[0].score)
    yield AnswerCandidate("two_part", tuple(quotation_of(s) for s in stating), span=stating[0].span, fit=fit)
