"""Both sides of a comparison: what is said of each of two things."""

from __future__ import annotations

from collections.abc import Iterator

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of
from wikigr.answer.sentences import SentenceScore
from wikigr.index.lexical import stems
from wikigr.question.comparison import compared_sides

_MAX_PAIRS = 3


def find_comparisons(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the best sentence about each of the two things that the question compares, or one about both."""
    sides = compared_sides(material.question.text)
    if sides is None:
        return
    first, second = (frozenset(stems(side)) for side in sides)
    if not first or not second or first == second:
        return
    both = [s for s in material.sentences if _says(s, first - second) and _says(s, second - first)]
    for sentence in both[:_MAX_PAIRS]:
        yield AnswerCandidate("comparison", (quotation_of(sentence),), fit=1.0)
    ones, others = (
        [s for s in material.sentences if _is_about(s, own, other) and s not in both]
        for own, other in ((first, second), (second, first))
    )
    for one, other in zip(ones[:_MAX_PAIRS], others[:_MAX_PAIRS], strict=False):
        yield AnswerCandidate("comparison", (quotation_of(one), quotation_of(other)), fit=0.5)


def _says(sentence: SentenceScore, names: frozenset[str]) -> bool:
    return bool(names) and names <= set(stems(sentence.text))


def _is_about(sentence: SentenceScore, own: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether a sentence, or else its heading or title, names one thing and not the other."""
    said = set(stems(sentence.text))
    if not own <= said:
        said |= set(stems(f"{sentence.section.title} {sentence.section.heading}"))
    return own <= said and not (other - own) & said
