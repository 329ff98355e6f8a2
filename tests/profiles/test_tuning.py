"""The tuning tables of the reference documents, row by row."""

from __future__ import annotations

import pytest

from wikigr.profiles.tuning import COMPREHENSIVE, EXPLANATORY, FACTUAL, SPECIFIC, Breadth, breadth, graph_weights
from wikigr.profiles.tuning import min_relevance as least


@pytest.mark.parametrize(
    ("articles", "alpha", "beta", "ttl"),
    [
        (1, 0.8, 0.2, 1800),
        (99, 0.8, 0.2, 1800),
        (100, 0.7, 0.3, 3600),
        (499, 0.7, 0.3, 3600),
        (500, 0.6, 0.4, 7200),
        (1000, 0.6, 0.4, 7200),
        (50_000, 0.6, 0.4, 7200),
    ],
)
def test_weights_by_pack_size(articles: int, alpha: float, beta: float, ttl: int) -> None:
    weights = graph_weights(articles)
    assert (weights.alpha, weights.beta, weights.cache_ttl) == (alpha, beta, ttl)


@pytest.mark.parametrize(
    ("question", "expected", "figures"),
    [
        ("What is entanglement?", FACTUAL, (3, 2)),
        ("Who was Bohr?", FACTUAL, (3, 2)),
        ("How many moons has Mars?", FACTUAL, (3, 2)),
        ("How does a laser work?", EXPLANATORY, (5, 3)),
        ("Why is the sky blue?", EXPLANATORY, (5, 3)),
        ("Tell me about quantum mechanics", COMPREHENSIVE, (7, 5)),
        ("Describe the atom.", COMPREHENSIVE, (7, 5)),
        ("What role does spin play in chemistry?", SPECIFIC, (3, 3)),
    ],
)
def test_breadth_by_question_type(question: str, expected: Breadth, figures: tuple[int, int]) -> None:
    assert breadth(question) == expected
    assert (expected.num_docs, expected.max_sections) == figures


def test_the_packs_own_threshold_is_the_least_relevance() -> None:
    assert least({"min_relevance": 0.31}) == 0.31
    assert least({"min_relevance": 7.0}) == 1.0
    assert least({}) == 0.0
