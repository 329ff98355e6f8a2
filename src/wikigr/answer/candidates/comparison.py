"""Both sides of a comparison: what is said of each of two things."""

from __future__ import annotations

from collections.abc import Iterator, Set

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of
from wikigr.question.comparison import compared_sides

_MAX_PAIRS = 3


def find_comparisons(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the best sentence about each of the two things that the question compares, or one about both."""
    sides = compared_sides(material.question.text)
    if sides is None:
        return
    first, second = (frozenset(material.question.stems(side)) for side in sides)
    if not first or not second or first == second:
        return
    said = {s.place: set(material.question.stems(s.text)) for s in material.sentences}
    one_alone, other_alone = first - second, second - first
    both = [s for s in material.sentences if one_alone and other_alone and one_alone | other_alone <= said[s.place]]
    for sentence in both[:_MAX_PAIRS]:
        yield AnswerCandidate("comparison", (quotation_of(sentence),), fit=1.0)
    rest = [s for s in material.sentences if s not in both]
    # Of two sentences about one thing, that which says what they are compared by.
    rest.sort(key=lambda s: -material.question.coverage(said[s.place] - first - second))
    ones, others = (
        [s for s in rest if _is_about(said[s.place], material.place_stems(s.section), *names)]
        for names in ((first, second), (second, first))
    )
    for one, other in zip(ones[:_MAX_PAIRS], others[:_MAX_PAIRS], strict=False):
        yield AnswerCandidate("comparison", (quotation_of(one), quotation_of(other)), fit=0.5)


def _is_about(said: Set[str], place: Set[str], own: Set[str], other: Set[str]) -> bool:
    """Return whether a sentence, or else its heading or title, names one thing and not the other, all as stems."""
    if not own <= said:
        said = said | place
    return own <= said and not (other - own) & said
