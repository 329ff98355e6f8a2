"""Citation metrics: precision and recall of gold locations, and the share of verified quotations."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from wikigr.answer.citations import Citation, verify
from wikigr.errors import WikigrError
from wikigr.evaluation.questions import Gold
from wikigr.index.candidate import Section
from wikigr.text import fold


def citation_precision(citations: Sequence[Citation], gold: Collection[Gold]) -> float:
    """Return the share of ``citations`` that point to a gold location, in [0, 1]; NaN without citations or gold.

    A gold location is a section if the gold names one, a passage if it has a source id, otherwise an article. Precision
    and recall follow ALCE (Gao et al. 2023), with gold locations instead of an entailment model.
    """
    if not citations or not gold:
        return math.nan
    return sum(any(_points_to(citation, place) for place in gold) for citation in citations) / len(citations)


def citation_recall(citations: Sequence[Citation], gold: Collection[Gold]) -> float:
    """Return the share of gold locations (see ``citation_precision``) that are cited, in [0, 1]; NaN without gold."""
    if not gold:
        return math.nan
    return sum(any(_points_to(citation, place) for citation in citations) for place in gold) / len(gold)


def _points_to(citation: Citation, gold: Gold) -> bool:
    if gold.source_id is not None and citation.source_id != gold.source_id:
        return False
    if gold.source_id is None and fold(citation.title) != fold(gold.title):
        return False
    return gold.section is None or fold(citation.heading) == fold(gold.section)


def verified_share(citations: Sequence[Citation], stored: Mapping[str, Section], *, failed: int = 0) -> float:
    """Return the share of ``citations`` whose quotation matches the stored text at its offsets, in [0, 1].

    ``stored`` maps section ids to sections; a citation of any other section is not verified. ``failed`` is the number
    of claims whose citation was already rejected. NaN without citations and rejected claims.
    """
    total = len(citations) + failed
    return sum(_is_verified(citation, stored) for citation in citations) / total if total else math.nan


def _is_verified(citation: Citation, stored: Mapping[str, Section]) -> bool:
    try:
        verify((citation,), stored)
    except WikigrError:
        return False
    return True
