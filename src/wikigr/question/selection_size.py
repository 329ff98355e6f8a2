"""How many articles and sections a question needs, by its wording.

The numbers come from reference/multidoc-synthesizer.md, "Performance Tuning". Its column ``min_relevance`` suits
other encoders, so ``auto`` uses the pack's own calibrated threshold instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from wikigr.question import patterns


@dataclass(frozen=True, slots=True)
class SelectionSize:
    """Articles to read, and sections to read of each."""

    num_docs: int
    max_sections: int


FACTUAL = SelectionSize(3, 2)
EXPLANATORY = SelectionSize(5, 3)
COMPREHENSIVE = SelectionSize(7, 5)
SPECIFIC = SelectionSize(3, 3)


def selection_size(question: str) -> SelectionSize:
    """Return the documented size of the selection for ``question``, factual unless worded otherwise."""
    if patterns.ASKS_OVERVIEW.search(question):
        return COMPREHENSIVE
    if patterns.ASKS_EXPLANATION.search(question):
        return EXPLANATORY
    if patterns.ASKS_DETAIL.search(question):
        return SPECIFIC
    return FACTUAL
