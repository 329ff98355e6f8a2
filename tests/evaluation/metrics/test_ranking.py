from __future__ import annotations

import math
from collections.abc import Sequence
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


@given(RANKINGS, RELEVANT, st.integers(1, 12))
def test_all_is_found_where_the_recall_is_1(ranking: list[int], relevant: frozenset[int], k: int) -> None:
    assert all_found_at(ranking, relevant, k) == float(recall_at(ranking, relevant, k) == 1.0)


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


@given(RELEVANT, st.lists(ITEMS, max_size=8), st.integers(1, 12), st.randoms())
def test_a_perfect_ranking_is_1_in_whatever_order(
    relevant: frozenset[int], rest: list[int], k: int, random: object
) -> None:
    first = sorted(relevant)
    random.shuffle(first)  # type: ignore[attr-defined]
    ranking = first + rest
    assert ndcg_at(ranking, relevant, k) == pytest.approx(1.0)
    assert reciprocal_rank(ranking, relevant) == 1.0
    assert recall_at(ranking, relevant, max(k, len(relevant))) == 1.0


@given(RANKINGS, RELEVANT, st.permutations(range(13)), st.integers(1, 12))
def test_names_do_not_matter(ranking: list[int], relevant: frozenset[int], names: Sequence[int], k: int) -> None:
    renamed, again = [names[i] for i in ranking], {names[i] for i in relevant}
    assert recall_at(renamed, again, k) == recall_at(ranking, relevant, k)
    assert ndcg_at(renamed, again, k) == ndcg_at(ranking, relevant, k)
    assert reciprocal_rank(renamed, again) == reciprocal_rank(ranking, relevant)


def test_section_recall_needs_a_gold_section() -> None:
    values = score(replace(QUESTION, gold=(Gold("Spin"),)), ANSWER, evidence(SPIN))
    assert all(math.isnan(value) for name, value in values.items() if name.startswith("section_"))
    assert values["recall@1"] == 1.0


def test_pieces_of_one_section_count_once() -> None:
    pieces = [replace(WORK, section_id=f"Max Planck#{n}") for n in range(1, 9)]
    assert score(QUESTION, ANSWER, evidence(*pieces, KIEL))["section_recall@5"] == 1.0
