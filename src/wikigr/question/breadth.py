"""How many articles and sections a question needs, by its wording.

The figures are those of reference/multidoc-synthesizer.md, "Performance Tuning". Its column ``min_relevance`` suits
other encoders, so ``auto`` uses the pack's own calibrated threshold instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from wikigr.question import patterns


@dataclass(frozen=True, slots=True)
class Breadth:
    """Articles to read, and sections to read of each."""

    num_docs: int
    max_sections: int


FACTUAL = Breadth(3, 2)
EXPLANATORY = Breadth(5, 3)
COMPREHENSIVE = Breadth(7, 5)
SPECIFIC = Breadth(3, 3)


def breadth(question: str) -> Breadth:
    """Return the documented breadth for ``question``, which is factual unless its wording says otherwise."""
    if patterns.ASKS_OVERVIEW.search(question):
        return COMPREHENSIVE
    if patterns.ASKS_EXPLANATION.search(question):
        return EXPLANATORY
    if patterns.ASKS_DETAIL.search(question):
        return SPECIFIC
    return FACTUAL
