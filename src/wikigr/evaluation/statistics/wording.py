"""The wording of differences, intervals and p-values of metrics in [0, 1], in points of 100."""

from __future__ import annotations

from wikigr.evaluation.statistics.bootstrap import Interval

TOO_FEW_CHANGED = "The interval excludes 0, but p is above 0.05: too few questions changed to rule out chance."


def points(difference: float) -> str:
    """Return a signed difference: ``+23.3 points``."""
    return f"{100 * difference:+.1f} points"


def in_points(size: float) -> str:
    """Return a size without a sign: ``2.0 points``."""
    return f"{100 * size:.1f} points"


def interval_in_points(interval: Interval) -> str:
    """Return an interval of a difference: ``+14.6 to +33.0``."""
    return f"{100 * interval.low:+.1f} to {100 * interval.high:+.1f}"


def p_value(p: float) -> str:
    """Return a p-value: ``p = 0.0312``, or ``p < 0.0001``."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"
