"""The table of metrics: every report, test and gate reads it, so a new metric is one function and one row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wikigr.answer.answer import Answer
from wikigr.errors import UsageError
from wikigr.evaluation.metrics import accuracy
from wikigr.evaluation.metrics.answered import ARTICLES, PASSAGES, SECTIONS, AnsweredQuestion, Granularity
from wikigr.evaluation.metrics.citations import citation_precision, citation_recall, verified_share
from wikigr.evaluation.metrics.hallucination import measure_hallucination
from wikigr.evaluation.metrics.ranking import all_found_at, ndcg_at, over, recall_at, reciprocal_rank
from wikigr.evaluation.questions import GoldQuestion
from wikigr.index.candidate import Evidence
from wikigr.suggestions import did_you_mean, nearest


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


def _rankings(level: Granularity[Any]) -> Iterator[Metric]:
    """Yield the metrics of the ranking by ``level``; those of articles have no prefix."""
    items, prefix = f"{level.name}s", "" if level is ARTICLES else f"{level.name}_"
    of_items = "" if level is ARTICLES else f" {items}"
    for k in (1, 2, 5, 10):
        place = "that rank first" if k == 1 else f"among the first {k}{of_items}"
        yield Metric(
            f"{prefix}recall@{k}", over(level, recall_at, k), f"share of the {items} that the answer needs {place}"
        )
    yield Metric(
        f"{prefix}ndcg@10", over(level, ndcg_at, 10), f"normalized discounted cumulative gain of the first 10 {items}"
    )
    yield Metric(
        f"{prefix}mrr", over(level, reciprocal_rank), f"reciprocal rank of the first {level.name} that the answer needs"
    )
    for k in (5, 10):
        found = f"whether every {level.name} that the answer needs is among the first {k} {items}"
        yield Metric(f"{prefix}all_found@{k}", over(level, all_found_at, k), found, binary=True)


_TABLE = (
    Metric(
        "accuracy",
        accuracy.matched(accuracy.accuracy, lambda asked: asked.text),
        "an accepted answer occurs in the text; for an unanswerable question, the pack abstains",
        binary=True,
    ),
    Metric(
        "exact_match",
        accuracy.matched(accuracy.exact_match, lambda asked: asked.short_text),
        "the short answer (the whole text if there is none) is an accepted answer and nothing else",
        binary=True,
    ),
    Metric(
        "f1",
        accuracy.matched(accuracy.token_f1, lambda asked: asked.short_text),
        "token F1 of the short answer (the whole text if there is none) against the closest accepted answer",
    ),
    *_rankings(ARTICLES),
    *_rankings(PASSAGES),
    *_rankings(SECTIONS),
    Metric(
        "citation_precision",
        lambda asked: citation_precision(asked.answer.citations, asked.gold),
        "share of the citations that point to where the answer is",
    ),
    Metric(
        "citation_recall",
        lambda asked: citation_recall(asked.answer.citations, asked.gold),
        "share of the places of the answer that are cited",
    ),
    Metric(
        "verified",
        # A claim that failed verification counts as a failed citation.
        lambda asked: verified_share(asked.answer.citations, asked.stored, failed=len(asked.answer.unverified)),
        "share of the citations whose quotation is the stored text",
    ),
    Metric(
        "hallucination",
        measure_hallucination,
        "share of the sentences that no cited section supports",
        higher_is_better=False,
    ),
    Metric(
        "abstention_correct",
        lambda asked: float(asked.answer.abstained != asked.question.answerable),
        "answers answerable questions and abstains from unanswerable ones",
        binary=True,
    ),
    # A judge may grade the answer later (``evaluation.judge``).
    Metric("judged", lambda _: math.nan, "the judge's grade: 1 correct, 0.5 partly, 0 incorrect"),
)
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _TABLE}
"""Every metric by name, in the order of the reports."""


def known_metric(name: str) -> str:
    """Return ``name`` if it is the name of a metric; otherwise raise ``UsageError``."""
    if name not in METRICS:
        hint = did_you_mean(nearest(name, METRICS), f"Choose from {', '.join(METRICS)}.")
        raise UsageError(f"There is no metric {name!r}.", hint=hint)
    return name


def score(question: GoldQuestion, answer: Answer, retrieved: Sequence[Evidence]) -> dict[str, float]:
    """Return the value of every metric for one question, in the order of ``METRICS``.

    ``retrieved`` holds the retrieved sections, best first. The answer may use only some of them.
    """
    answered = AnsweredQuestion(question, answer, tuple(retrieved))
    return {metric.name: metric.measure(answered) for metric in METRICS.values()}
