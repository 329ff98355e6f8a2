from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu
from tests.evaluation.metrics.examples import ABSTAINED, ANSWER, IMPOSSIBLE, KIEL, QUESTION, evidence

from wikigr.answer.answer import Answer
from wikigr.evaluation.metrics import score
from wikigr.evaluation.metrics.abstention import auroc

SCORES = st.lists(st.tuples(st.integers(-3, 3).map(lambda n: n / 3), st.booleans()), min_size=1, max_size=30)


@given(SCORES)
def test_auroc_is_the_statistic_of_mann_and_whitney(pairs: list[tuple[float, bool]]) -> None:
    values, labels = [v for v, _ in pairs], [label for _, label in pairs]
    area = auroc(values, labels)
    true, false = [v for v, label in pairs if label], [v for v, label in pairs if not label]
    if not true or not false:
        assert math.isnan(area)
        return
    assert area == pytest.approx(mannwhitneyu(true, false).statistic / (len(true) * len(false)))
    assert area == pytest.approx(np.mean([(t > f) + 0.5 * (t == f) for t in true for f in false]))
    assert area + auroc([-v for v in values], labels) == pytest.approx(1.0)


def test_auroc_by_hand() -> None:
    assert auroc([0.1, 0.4, 0.35, 0.8], [False, False, True, True]) == 0.75
    assert auroc([0.5, 0.5], [True, False]) == 0.5
    assert math.isnan(auroc([], []))
    with pytest.raises(ValueError, match="NaN"):
        auroc([math.nan, 0.5], [True, False])
    with pytest.raises(ValueError, match="shorter"):
        auroc([0.5, 0.1], [True])


def test_who_abstains_has_not_answered() -> None:
    values = score(QUESTION, ABSTAINED, evidence(KIEL))
    assert [values[name] for name in ("accuracy", "exact_match", "f1", "abstention_correct")] == [0.0] * 4
    assert values["citation_recall"] == 0.0
    assert all(math.isnan(values[name]) for name in ("citation_precision", "verified", "hallucination"))


@pytest.mark.parametrize(("answer", "right"), [(ABSTAINED, 1.0), (ANSWER, 0.0)])
def test_an_unanswerable_question_is_for_abstaining(answer: Answer, right: float) -> None:
    values = score(IMPOSSIBLE, answer, evidence(KIEL))
    assert [values[name] for name in ("accuracy", "exact_match", "f1", "abstention_correct")] == [right] * 4
    for name in ("recall@1", "ndcg@10", "mrr", "section_recall@5", "citation_precision", "citation_recall"):
        assert math.isnan(values[name])
