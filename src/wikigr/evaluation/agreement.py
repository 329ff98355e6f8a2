"""Human labels for a judge's grades, and the agreement of judge and humans."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from wikigr.errors import SourceError, UsageError
from wikigr.evaluation.abstention import share
from wikigr.evaluation.judge import SCORES
from wikigr.evaluation.samples import Sample
from wikigr.evaluation.statistics.clusters import Floats
from wikigr.evaluation.statistics.intervals import bootstrap_estimate
from wikigr.sources.jsonl import JsonlSource
from wikigr.validation import NO_OTHER_KEYS, InvalidError, validated


@dataclass(frozen=True, slots=True)
class Label:
    """A person's grade of one answer: a step of the rubric."""

    question_id: str
    profile: str
    repeat: int = 0
    label: str = ""

    __pydantic_config__: ClassVar = NO_OTHER_KEYS

    @property
    def key(self) -> tuple[str, str, int]:
        """The key of the graded sample."""
        return self.profile, self.question_id, self.repeat


def read_labels(
    path: Path | str, *, questions: Collection[str], profiles: Collection[str], repeats: int
) -> list[Label]:
    """Read human grades: JSON Lines of ``{question_id, profile, repeat?, label}``; ``repeat`` defaults to 0.

    Raises ``UsageError`` for a file that cannot be read. Raises it with the line number for an invalid label, an
    unknown question, profile or repeat, and a second label for the same answer.
    """
    found: dict[tuple[str, str, int], int] = {}
    labels = []
    try:
        for record in JsonlSource(path).records():
            where = f"{path}, line {record.line}"
            try:
                label = validated(Label, record.data)
            except InvalidError as error:
                raise UsageError(f"{where}: {error}.") from error
            for value, known, name in (
                (label.question_id, questions, "question"),
                (label.profile, profiles, "profile"),
                (label.repeat, range(repeats), "repeat"),
            ):
                if value not in known:
                    raise UsageError(f"{where}: the run has no {name} {value!r}.")
            if label.label not in SCORES:
                raise UsageError(f"{where}: {label.label!r} is not a label.", hint=f"Use {', '.join(SCORES)}.")
            first = found.setdefault(label.key, record.line)
            if first != record.line:
                raise UsageError(f"{where}: the same answer already has a label on line {first}.")
            labels.append(label)
    except SourceError as error:
        raise UsageError(f"Cannot read the labels: {error.message}", hint=error.hint) from error
    return labels


def agreement(
    samples: Sequence[Sample], labels: Sequence[Label], *, seed: int, resamples: int = 9999
) -> dict[str, Any]:
    """Return the agreement of the judge and the human labels on the answers that both graded.

    ``items`` is the number of these answers. ``kappa`` is Cohen's unweighted kappa, or ``None`` if it is undefined (no
    items, or both gave every answer the same grade). ``interval`` is its 95% bootstrap interval over whole questions,
    or ``None`` if the items do not vary.
    """
    judged = {s.key: str(s.judgment["verdict"]) for s in samples if s.judgment is not None}
    both = [label for label in labels if judged.get(label.key) in SCORES]
    undefined = {"items": len(both), "kappa": None, "interval": None}
    if not both:
        return undefined
    tables = _tables([judged[label.key] for label in both], [label.label for label in both])
    found = bootstrap_estimate(
        lambda weights: _kappas(weights @ tables),
        len(both),
        seed=seed,
        resamples=resamples,
        clusters=[label.question_id for label in both],
    )
    kappa, interval = found.value, found.interval
    if math.isnan(kappa):
        return undefined
    ends = None if interval.method == "degenerate" else [interval.low, interval.high]
    return {"items": len(both), "kappa": kappa, "interval": ends}


def cohens_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Return the agreement of two raters beyond chance, in [-1, 1]: Cohen (1960), "A Coefficient of Agreement".

    ``(observed - expected) / (1 - expected)``, with the agreement expected of raters who use each label as often as
    these do, but at random. NaN if both raters give every item the same label. Raises ``ValueError`` for empty or
    unequally long labels.
    """
    if not first or len(first) != len(second):
        raise ValueError(f"{len(first)} labels do not pair with {len(second)}")
    return float(_kappas(_tables(first, second).sum(axis=0))[0])


def _tables(first: Sequence[Hashable], second: Sequence[Hashable]) -> Floats:
    """Return the contingency table of each item alone, of shape ``(n, labels * labels)``."""
    numbers = {label: number for number, label in enumerate(dict.fromkeys((*first, *second)))}
    tables = np.zeros((len(first), len(numbers), len(numbers)))
    for place, (one, other) in enumerate(zip(first, second, strict=True)):
        tables[place, numbers[one], numbers[other]] = 1.0
    return tables.reshape(len(first), -1)


def _kappas(counts: Floats) -> Floats:
    """Return Cohen's kappa of each row of ``counts``, of shape ``(k, labels * labels)``; NaN where it is undefined."""
    labels = math.isqrt(counts.shape[-1])
    tables = counts.reshape(-1, labels, labels)
    n = tables.sum(axis=(1, 2))
    # Both agreements are multiplied by n * n, which makes them integers.
    observed = np.trace(tables, axis1=1, axis2=2) * n
    expected = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    return share(observed - expected, n * n - expected)
