from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.index.candidate import Hit
from wikigr.retrieval.fusion import reciprocal_rank_fusion, weighted_fusion


def run(*pairs: tuple[str, float]) -> list[Hit]:
    return [Hit(section_id, score) for section_id, score in pairs]


DENSE = run(("a", 0.9), ("b", 0.6), ("c", 0.3))
LEXICAL = run(("b", 12.0), ("d", 4.0))


def test_reciprocal_rank_fusion_by_hand() -> None:
    fused = reciprocal_rank_fusion({"dense": DENSE, "lexical": LEXICAL})
    assert [(c.section_id, c.score) for c in fused] == [  # type: ignore[comparison-overlap]
        ("b", pytest.approx(1 / 62 + 1 / 61)),
        ("a", pytest.approx(1 / 61)),
        ("d", pytest.approx(1 / 62)),
        ("c", pytest.approx(1 / 63)),
    ]


def test_weighted_fusion_by_hand() -> None:
    fused = weighted_fusion({"dense": DENSE, "lexical": LEXICAL}, {"dense": 0.5, "lexical": 0.5})
    assert [(c.section_id, c.score) for c in fused] == [
        ("b", pytest.approx(0.75)), ("a", pytest.approx(0.5)), ("c", 0.0), ("d", 0.0),
    ]  # fmt: skip


def test_each_candidate_knows_its_scores_and_ranks() -> None:
    best = weighted_fusion({"dense": DENSE, "lexical": LEXICAL}, {"dense": 0.5, "lexical": 0.5})[0]
    assert best.scores == {"dense": 0.6, "dense_rank": 2, "lexical": 12.0, "lexical_rank": 1}


def test_ties_go_by_section_id_and_empty_runs_count_for_nothing() -> None:
    tied = run(("z", 1.0), ("m", 1.0), ("a", 1.0))
    fused = weighted_fusion({"dense": tied, "lexical": []}, {"dense": 1.0, "lexical": 1.0})
    assert [c.section_id for c in fused] == ["a", "m", "z"]
    assert reciprocal_rank_fusion({"dense": [], "lexical": []}) == []


@given(
    st.dictionaries(st.text(min_size=1, max_size=3), st.floats(-1, 1), max_size=8),
    st.dictionaries(st.text(min_size=1, max_size=3), st.floats(0, 50), max_size=8),
)
def test_weighted_scores_lie_in_the_unit_interval_and_every_hit_is_kept(
    dense: dict[str, float], lexical: dict[str, float]
) -> None:
    runs = {
        "dense": [Hit(k, v) for k, v in sorted(dense.items(), key=lambda item: -item[1])],
        "lexical": [Hit(k, v) for k, v in sorted(lexical.items(), key=lambda item: -item[1])],
    }
    fused = weighted_fusion(runs, {"dense": 0.5, "lexical": 0.5})
    assert {c.section_id for c in fused} == set(dense) | set(lexical)
    assert all(-1e-9 <= c.score <= 1 + 1e-9 for c in fused)
    assert fused == sorted(fused, key=lambda c: (-c.score, c.section_id))


def test_deeper_runs_do_not_change_the_first_places() -> None:
    dense = [Hit(f"s{n:03}", 1.0 - n / 400) for n in range(300)]
    lexical = [Hit(f"s{(n * 7) % 300:03}", 30.0 - n / 10) for n in range(300)]
    weights = {"dense": 0.5, "lexical": 0.5}
    shallow = weighted_fusion({"dense": dense[:100], "lexical": lexical[:100]}, weights)[:10]
    deep = weighted_fusion({"dense": dense, "lexical": lexical}, weights)[:10]
    assert [(c.section_id, c.score) for c in shallow] == [(c.section_id, c.score) for c in deep]
