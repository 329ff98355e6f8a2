from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.metrics.examples import ANSWER, KIEL, QUESTION, SPIN, WORK, evidence

from wikigr.evaluation.metrics import score
from wikigr.evaluation.metrics.ranking import all_found_at, ndcg_at, recall_at, reciprocal_rank
from wikigr.evaluation.questions import Gold

ITEMS = st.integers(0, 12)
RANKINGS = st.lists(ITEMS, max_size=15)
RELEVANT = st.frozensets(ITEMS, min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("ranking", "relevant", "k", "recall", "ndcg", "rr"),
    [
        ("abc", "a", 1, 1.0, 1.0, 1.0),
        ("abc", "c", 2, 0.0, 0.0, 1 / 3),
        ("abc", "bz", 5, 0.5, (1 / math.log2(3)) / (1 + 1 / math.log2(3)), 0.5),
        ("aab", "b", 2, 1.0, 1 / math.log2(3), 0.5),
        ("abc", "abc", 1, 1 / 3, 1.0, 1.0),
        ("", "a", 5, 0.0, 0.0, 0.0),
        ("abc", "z", 5, 0.0, 0.0, 0.0),
    ],
)
def test_retrieval(ranking: str, relevant: str, k: int, recall: float, ndcg: float, rr: float) -> None:
    assert recall_at(ranking, set(relevant), k) == pytest.approx(recall)
    assert ndcg_at(ranking, set(relevant), k) == pytest.approx(ndcg)
    assert reciprocal_rank(ranking, set(relevant)) == pytest.approx(rr)


def test_retrieval_without_anything_relevant_does_not_apply() -> None:
    assert math.isnan(recall_at("abc", set(), 5))
    assert math.isnan(all_found_at("abc", set(), 5))
    assert math.isnan(ndcg_at("abc", set(), 5))
    assert math.isnan(reciprocal_rank("abc", set()))


def test_all_gold_must_be_found() -> None:
    cases = {
        ("abc", "ca", 3): 1.0,
        ("abc", "ca", 2): 0.0,
        # A repeated item takes one rank.
        ("aab", "ab", 2): 1.0,
        ("abc", "abc", 2): 0.0,
        ("", "a", 5): 0.0,
    }
    assert {(ranking, relevant, k): all_found_at(ranking, set(relevant), k) for ranking, relevant, k in cases} == cases


@pytest.mark.parametrize("measure", [recall_at, all_found_at, ndcg_at])
def test_a_cut_below_one_is_refused(measure: object) -> None:
    with pytest.raises(ValueError, match="k must be at least 1, not 0"):
        measure("abc", {"a"}, 0)  # type: ignore[operator]


@given(RANKINGS, RELEVANT, st.integers(1, 12))
def test_retrieval_metrics_lie_between_0_and_1(ranking: list[int], relevant: frozenset[int], k: int) -> None:
    recall, ndcg, rr = (
        recall_at(ranking, relevant, k),
        ndcg_at(ranking, relevant, k),
        reciprocal_rank(ranking, relevant),
    )
    assert 0.0 <= recall <= 1.0
    assert 0.0 <= ndcg <= 1.0 + 1e-12
    assert 0.0 <= rr <= 1.0
    assert recall <= recall_at(ranking, relevant, k + 1)
    assert (recall > 0) == (ndcg > 0)


def test_section_recall_needs_a_gold_section() -> None:
    values = score(replace(QUESTION, gold=(Gold("Spin"),)), ANSWER, evidence(SPIN))
    assert all(math.isnan(value) for name, value in values.items() if name.startswith("section_"))
    assert values["recall@1"] == 1.0


def test_pieces_of_one_section_count_once() -> None:
    pieces = [replace(WORK, section_id=f"Max Planck#{n}") for n in range(1, 9)]
    assert score(QUESTION, ANSWER, evidence(*pieces, KIEL))["section_recall@5"] == 1.0
