from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.evaluation.metrics.examples import ABSTAINED, ANSWER, IMPOSSIBLE, KIEL, QUESTION, evidence

from wikigr.answer.answer import Answer
from wikigr.evaluation.metrics import score
from wikigr.evaluation.reliability import abstention
from wikigr.evaluation.samples import Sample
from wikigr.evaluation.statistics.intervals import Estimate


def sample(question: str, confidence: float, *, abstained: bool = False, repeat: int = 0, **fields: Any) -> Sample:
    kind = "abstained" if abstained else "extractive"
    return Sample("p", question, repeat, query_type=kind, confidence=confidence, **fields)


def judged(samples: list[Sample], **options: Any) -> dict[str, Any]:
    """Questions whose id starts with ``u`` are unanswerable."""
    answerable = {each.question_id: not each.question_id.startswith("u") for each in samples}
    found = abstention(samples, answerable, **{"seed": 0, "resamples": 199, **options})
    assert found is not None
    return found


SEVEN = [
    sample("a1", 0.9),
    sample("a2", 0.8),
    sample("a3", 0.4),
    sample("a4", 0.3, abstained=True),
    sample("u1", 0.5),
    sample("u2", 0.4, abstained=True),
    sample("u3", 0.1, abstained=True),
]


def value(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.value


def test_figures_worked_by_hand() -> None:
    found = judged(SEVEN)
    assert (found["questions"], found["answerable"], found["unanswerable"]) == (7, 4, 3)
    assert (found["abstained"], found["abstained_rightly"]) == (3, 2)
    assert value(found["precision"]) == pytest.approx(2 / 3)
    assert value(found["recall"]) == pytest.approx(2 / 3)
    # Of the 12 pairs: a1 and a2 above all three (6), a3 above u3 and level with u2 (1.5), a4 above u3 (1).
    assert value(found["auroc"]) == pytest.approx(8.5 / 12)


def test_what_does_not_apply() -> None:
    assert abstention([sample("a1", 0.9)], {"a1": True}, seed=0) is None
    assert abstention([sample("u1", 0.9, error="down")], {"u1": False}, seed=0) is None
    assert judged([sample("a1", 0.9), sample("u1", 0.2)])["precision"] is None
    assert judged([sample("u1", 0.2, abstained=True)])["auroc"] is None


def test_failed_samples_are_left_out_and_repeats_are_rows() -> None:
    again = [sample(each.question_id, each.confidence, repeat=1) for each in SEVEN]
    failed = [sample("u4", 0.0, error="down", abstained=True)]
    found = judged([*SEVEN, *again, *failed])
    assert (found["questions"], found["unanswerable"], found["abstained"]) == (7, 6, 3)
    assert value(found["recall"]) == pytest.approx(2 / 6)


def test_intervals_are_over_questions_not_over_repeats() -> None:
    draw = np.random.default_rng(0)
    once = [
        sample(f"{'ua'[n % 2]}{n}", draw.random(), abstained=bool(draw.random() < 0.3 + 0.4 * (n % 2 == 0)))
        for n in range(60)
    ]
    four = [
        Sample("p", s.question_id, r, query_type=s.query_type, confidence=s.confidence) for s in once for r in range(4)
    ]
    for name in ("precision", "recall", "auroc"):
        single, fourfold = judged(once)[name], judged(four)[name]
        assert single.low < single.value < single.high
        assert fourfold == single
    assert judged(once) == judged(once) != judged(once, seed=1)
    # The two halves of a cluster go together: fewer independent questions, a wider interval.
    clusters = {s.question_id: f"c{n // 10}" for n, s in enumerate(once)}
    assert judged(once, clusters=clusters)["auroc"] != judged(once)["auroc"]


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
