"""The figures behind ``auto``: the tuning tables of the reference documents.

By pack size: reference/graph-reranker.md, "Performance Tuning". By question type: reference/multidoc-synthesizer.md,
"Performance Tuning"; its column ``min_relevance`` suits other encoders, so that ``auto`` takes the pack's own threshold
instead (DESIGN 6.6).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from wikigr.pack.manifest import MIN_RELEVANCE

# Where a manifest holds no calibrated figure.
DEFAULT_MIN_RELEVANCE = 0.0


@dataclass(frozen=True, slots=True)
class GraphWeights:
    """``alpha`` + ``beta`` = 1; ``cache_ttl`` in seconds."""

    alpha: float
    beta: float
    cache_ttl: int


def graph_weights(articles: int) -> GraphWeights:
    """Return the documented weights for a pack of so many articles; the last row holds for larger ones too."""
    if articles < 100:
        return GraphWeights(0.8, 0.2, 1800)
    if articles < 500:
        return GraphWeights(0.7, 0.3, 3600)
    return GraphWeights(0.6, 0.4, 7200)


@dataclass(frozen=True, slots=True)
class Breadth:
    """How many articles, and how many sections of each."""

    num_docs: int
    max_sections: int


FACTUAL = Breadth(3, 2)
EXPLANATORY = Breadth(5, 3)
COMPREHENSIVE = Breadth(7, 5)
SPECIFIC = Breadth(3, 3)

_COMPREHENSIVE = re.compile(
    r"^\W*(?:tell me (?:all )?about|describe|discuss|compare|give an overview|summari[sz]e)\b", re.I
)
_EXPLANATORY = re.compile(
    r"^\W*(?:how (?!many\b|much\b|old\b|long\b|far\b|tall\b|high\b|large\b|big\b|often\b)|why\b|explain\b)", re.I
)
_SPECIFIC = re.compile(r"^\W*(?:what|which|how|where)\b.{8,}\b(?:in|within|during|under)\s+(?:the\s+)?\w+", re.I)


def breadth(question: str) -> Breadth:
    """Return the documented breadth for the type of ``question``: factual unless its wording says otherwise."""
    if _COMPREHENSIVE.search(question):
        return COMPREHENSIVE
    if _EXPLANATORY.search(question):
        return EXPLANATORY
    if _SPECIFIC.search(question):
        return SPECIFIC
    return FACTUAL


def min_relevance(thresholds: Mapping[str, float]) -> float:
    """Return the pack's calibrated least cosine, in [0, 1]."""
    return min(1.0, max(0.0, thresholds.get(MIN_RELEVANCE, DEFAULT_MIN_RELEVANCE)))
