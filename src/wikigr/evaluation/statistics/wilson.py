"""The score interval of a proportion."""

from __future__ import annotations

import math
from statistics import NormalDist

from wikigr.evaluation.statistics.bootstrap import Interval


def wilson_interval(share: float, trials: int, *, level: float = 0.95) -> Interval:
    """Return the interval of a proportion whose estimate from ``trials`` independent trials is ``share``.

    Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference". Unlike a bootstrap interval,
    it has a width if all trials have the same outcome. Raises ``ValueError`` unless ``share`` is in [0, 1], ``trials``
    is at least 1 and ``level`` is in (0, 1).
    """
    if not 0.0 <= share <= 1.0 or trials < 1 or not 0.0 < level < 1.0:
        raise ValueError(f"no proportion has an interval for share={share}, trials={trials}, level={level}")
    squared = NormalDist().inv_cdf((1.0 + level) / 2.0) ** 2
    middle = (share + squared / (2 * trials)) / (1.0 + squared / trials)
    half = math.sqrt(squared * (share * (1.0 - share) + squared / (4 * trials)) / trials) / (1.0 + squared / trials)
    return Interval(max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)), level, "wilson")
