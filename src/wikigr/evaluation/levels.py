"""Precision by level: whether the words for how sure an answer is are true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wikigr.answer.answer import ABSTAINED
from wikigr.answer.probability import LEVELS, Level
from wikigr.evaluation.risk_coverage import RIGHT
from wikigr.evaluation.samples import Sample, cluster_keys
from wikigr.evaluation.statistics.bootstrap import Estimate
from wikigr.evaluation.statistics.wilson import wilson_interval


@dataclass(frozen=True, slots=True)
class LevelPrecision:
    """The answers of one level: their number, and the share of them that are right, or None without answers.

    The interval is the Wilson interval of the share. Dependent answers (repeats, clusters) count as one trial.
    """

    level: Level
    answers: int
    precision: Estimate | None


def level_precision(
    samples: Sequence[Sample], *, clusters: Mapping[str, str] | None = None
) -> tuple[LevelPrecision, ...] | None:
    """Measure the precision of the answers of each level, the surest first.

    Failed samples, abstentions, answers from a model's memory and samples without ``RIGHT`` are left out. Returns None
    if no sample has a level, as in older runs.
    """
    good = [s for s in samples if s.error is None and s.query_type != ABSTAINED and s.level and RIGHT in s.metrics]
    if not good:
        return None
    found = []
    for level in LEVELS[:-1]:
        own = [sample for sample in good if sample.level == level]
        estimate = None
        if own:
            share = sum(sample.metrics[RIGHT] for sample in own) / len(own)
            estimate = Estimate(share, wilson_interval(share, len(set(cluster_keys(own, clusters)))))
        found.append(LevelPrecision(level, len(own), estimate))
    return tuple(found)
