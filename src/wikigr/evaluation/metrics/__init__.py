"""The table of metrics: every report, test and gate reads it, so a new metric is one function and one row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial

from wikigr.answer.answer import Answer
from wikigr.errors import UsageError
from wikigr.evaluation.metrics import abstention, accuracy, citations, hallucination, ranking
from wikigr.evaluation.metrics.answered import AnsweredQuestion
from wikigr.evaluation.questions import GoldQuestion
from wikigr.index.candidate import Evidence


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its function, what it measures, whether higher is better, and whether every value is 0 or 1.

    The function returns a value in [0, 1], or NaN if the metric does not apply to the question. Means leave NaN out.
    """

    name: str
    measure: Callable[[AnsweredQuestion], float]
    description: str
    higher_is_better: bool = True
    binary: bool = False


def _ungraded(_: AnsweredQuestion) -> float:
    """Return NaN: a judge may grade the answer later (``evaluation.judge``)."""
    return math.nan


def _all_found(name: str, measure: Callable[..., float], level: str) -> tuple[Metric, ...]:
    """Return the metric of a level for the first 5 and the first 10 of a ranking."""
    return tuple(
        Metric(
            f"{name}@{k}",
            partial(measure, k=k),
            f"whether every gold {level} is among the first {k} {level}s",
            binary=True,
        )
        for k in (5, 10)
    )


def _below_articles(
    level: str,
    recall: Callable[..., float],
    ndcg: Callable[..., float],
    reciprocal_rank: Callable[[AnsweredQuestion], float],
    all_found: Callable[..., float],
) -> tuple[Metric, ...]:
    """Return the metrics of a ranking by ``level``: by passage or by section."""
    among = tuple(
        Metric(f"{level}_recall@{k}", partial(recall, k=k), f"share of the gold {level}s among the first {k} {level}s")
        for k in (2, 5, 10)
    )
    return (
        Metric(f"{level}_recall@1", partial(recall, k=1), f"share of the gold {level}s that rank first"),
        *among,
        Metric(
            f"{level}_ndcg@10",
            partial(ndcg, k=10),
            f"normalized discounted cumulative gain of the first 10 {level}s",
        ),
        Metric(f"{level}_mrr", reciprocal_rank, f"reciprocal rank of the first gold {level}"),
        *_all_found(f"{level}_all_found", all_found, level),
    )


_TABLE = (
    Metric(
        "accuracy",
        accuracy.measure_accuracy,
        "an accepted answer occurs in the text; for an unanswerable question, the pack abstains",
        binary=True,
    ),
    Metric(
        "exact_match",
        accuracy.measure_exact_match,
        "the short answer (the whole text if there is none) is an accepted answer and nothing else",
        binary=True,
    ),
    Metric(
        "f1",
        accuracy.measure_f1,
        "token F1 of the short answer (the whole text if there is none) against the closest accepted answer",
    ),
    Metric("recall@1", partial(ranking.measure_recall, k=1), "share of the gold articles that rank first"),
    Metric("recall@2", partial(ranking.measure_recall, k=2), "share of the gold articles among the first 2"),
    Metric("recall@5", partial(ranking.measure_recall, k=5), "share of the gold articles among the first 5"),
    Metric("recall@10", partial(ranking.measure_recall, k=10), "share of the gold articles among the first 10"),
    Metric(
        "ndcg@10",
        partial(ranking.measure_ndcg, k=10),
        "normalized discounted cumulative gain of the first 10 articles",
    ),
    Metric("mrr", ranking.measure_reciprocal_rank, "reciprocal rank of the first gold article"),
    *_all_found("all_found", ranking.measure_all_found, "article"),
    *_below_articles(
        "passage",
        ranking.measure_passage_recall,
        ranking.measure_passage_ndcg,
        ranking.measure_passage_reciprocal_rank,
        ranking.measure_passage_all_found,
    ),
    *_below_articles(
        "section",
        ranking.measure_section_recall,
        ranking.measure_section_ndcg,
        ranking.measure_section_reciprocal_rank,
        ranking.measure_section_all_found,
    ),
    Metric("citation_precision", citations.measure_precision, "share of the citations that point to a gold location"),
    Metric("citation_recall", citations.measure_recall, "share of the gold locations that are cited"),
    Metric("verified", citations.measure_verified, "share of the citations whose quotation is the stored text"),
    Metric(
        "hallucination",
        hallucination.measure_hallucination,
        "share of the sentences that no cited section supports",
        higher_is_better=False,
    ),
    Metric(
        "abstention_correct",
        abstention.measure_abstention,
        "answers answerable questions and abstains from unanswerable ones",
        binary=True,
    ),
    Metric("judged", _ungraded, "the judge's grade: 1 correct, 0.5 partly, 0 incorrect"),
)
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _TABLE}
"""Every metric by name, in the order of the reports."""


def known_metric(name: str) -> str:
    """Return ``name`` if it is the name of a metric; otherwise raise ``UsageError``."""
    if name not in METRICS:
        near = get_close_matches(name, METRICS, n=1)
        raise UsageError(
            f"There is no metric {name!r}.",
            hint=f"Did you mean {near[0]!r}?" if near else f"Choose from {', '.join(METRICS)}.",
        )
    return name


def score(question: GoldQuestion, answer: Answer, retrieved: Sequence[Evidence]) -> dict[str, float]:
    """Return the value of every metric for one question, in the order of ``METRICS``.

    ``retrieved`` holds the retrieved sections, best first. The answer may use only some of them.
    """
    answered = AnsweredQuestion(question, answer, tuple(retrieved))
    return {metric.name: metric.measure(answered) for metric in METRICS.values()}
