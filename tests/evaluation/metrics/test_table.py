from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.evaluation.metrics.examples import ABSTAINED, ANSWER, IMPOSSIBLE, KIEL, QUESTION, SPIN, WORK, evidence

from wikigr.answer.answer import Answer
from wikigr.evaluation.metrics import METRICS, score
from wikigr.evaluation.questions import GoldQuestion


def test_all_metrics_of_a_right_answer() -> None:
    values = score(QUESTION, ANSWER, evidence(WORK, KIEL, SPIN))
    assert list(values) == list(METRICS)
    assert values == pytest.approx(
        {
            "accuracy": 1.0,
            "exact_match": 0.0,
            "f1": 2 / 8,
            "recall@1": 0.5,
            "recall@2": 1.0,
            "recall@5": 1.0,
            "recall@10": 1.0,
            "ndcg@10": 1.0,
            "mrr": 1.0,
            "all_found@5": 1.0,
            "all_found@10": 1.0,
            # The question names no passage.
            "passage_recall@1": math.nan,
            "passage_recall@2": math.nan,
            "passage_recall@5": math.nan,
            "passage_recall@10": math.nan,
            "passage_ndcg@10": math.nan,
            "passage_mrr": math.nan,
            "passage_all_found@5": math.nan,
            "passage_all_found@10": math.nan,
            "section_recall@1": 0.0,
            "section_recall@2": 1.0,
            "section_recall@5": 1.0,
            "section_recall@10": 1.0,
            "section_ndcg@10": 1 / math.log2(3),
            "section_mrr": 0.5,
            "section_all_found@5": 1.0,
            "section_all_found@10": 1.0,
            "citation_precision": 1.0,
            "citation_recall": 0.5,
            "verified": 1.0,
            "hallucination": 0.0,
            "abstention_correct": 1.0,
            "judged": math.nan,
        },
        nan_ok=True,
    )


@pytest.mark.parametrize("question", [QUESTION, IMPOSSIBLE, replace(QUESTION, gold=())])
@pytest.mark.parametrize("answer", [ANSWER, ABSTAINED, replace(ANSWER, text="", citations=())])
def test_every_metric_is_in_range_and_binary_where_it_says_so(question: GoldQuestion, answer: Answer) -> None:
    values = score(question, answer, evidence(SPIN, KIEL))
    assert values.keys() == METRICS.keys()
    for name, value in values.items():
        assert math.isnan(value) or 0.0 <= value <= 1.0
        if METRICS[name].binary:
            # A question without gold locations has nothing to find.
            assert value in (0.0, 1.0) or ("all_found" in name and math.isnan(value))
