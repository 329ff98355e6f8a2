"""The forest plot of the HTML report: the figures and the geometry of one comparison, an interval per metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from wikigr.evaluation.reports.html_figures import as_p, as_points, as_share, as_whole, fixed_point
from wikigr.evaluation.statistics.wording import detectable, finite, headline, primary_result

Document = Mapping[str, Any]

VERDICT_MARKS = {"improved": "✓", "regressed": "✗", "equivalent": "≈", "inconclusive": "?"}
_TICK_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25)


def verdict_of(result: Document | None) -> str:
    """Return the verdict of a result; an unknown one is inconclusive, because verdicts become CSS classes."""
    found = "" if result is None else str(result.get("verdict"))
    return found if found in VERDICT_MARKS else "inconclusive"


def verdict_card(comparison: Document) -> dict[str, Any]:
    """Return the verdict of a comparison on its primary metric: a sentence and the counts."""
    first, second, result = comparison["first"], comparison["second"], primary_result(comparison)
    counts = None
    if result is not None:
        wins, ties, losses = (as_whole(result[key]) for key in ("wins", "ties", "losses"))
        counts = (
            f"{first} {as_share(result['mean_first'])} → {second} {as_share(result['mean_second'])}, "
            f"with {wins} wins, {ties} ties and {losses} losses."
        )
        if finite(result["mde"]) is not None:
            counts += f" {detectable(result)}"
    return {"verdict": verdict_of(result), "sentence": headline(comparison), "counts": counts}


def forest(comparison: Document, lower_is_better: set[str]) -> dict[str, Any]:
    """Return the forest plot of a comparison: its axis and one row per metric, the primary metric first.

    Positions are percentages of the width, so that text keeps its size at any width.
    """
    results = sorted(comparison["results"], key=lambda result: result["metric"] != comparison["primary"])
    margin = finite(comparison["margin"]) or 0.0
    step, widest = _axis([_mark(result) for result in results], margin)
    count = round(widest / step)
    band = min(margin, widest)
    return {
        "first": comparison["first"],
        "second": comparison["second"],
        "ticks": [
            {"x": _x(tick * step, widest), "label": fixed_point(tick * step * 100, 0, sign=True), "zero": tick == 0}
            for tick in range(-count, count + 1)
        ],
        "band": {"x": _x(-band, widest), "width": f"{92.0 * band / widest:.2f}%"},
        "rows": [_row(comparison, result, widest, result["metric"] in lower_is_better) for result in results],
    }


def _mark(result: Document) -> list[float]:
    """Return the low end, the difference and the high end of a result, or nothing if one of them is missing."""
    interval = result["interval"]
    ends = [finite(value) for value in (interval["low"], result["difference"], interval["high"])]
    return [end for end in ends if end is not None] if None not in ends else []


def _axis(marks: Sequence[Sequence[float]], margin: float) -> tuple[float, float]:
    """Return the distance between ticks and the end of the axis, a multiple of it."""
    ends = [abs(end) for mark in marks for end in mark[::2]]
    reach = min(1.0, max([*ends, 1.5 * margin, 0.01]))
    step = next((step for step in _TICK_STEPS if reach <= 4 * step + 1e-9), _TICK_STEPS[-1])
    return step, step * math.ceil(reach / step - 1e-9)


def _x(value: float, widest: float) -> str:
    return f"{50.0 + 46.0 * max(-1.0, min(1.0, value / widest)):.2f}%"


def _row(comparison: Document, result: Document, widest: float, lower_is_better: bool) -> dict[str, Any]:
    metric, verdict = result["metric"], verdict_of(result)
    low, difference, high = (
        as_points(value, sign=True, trim=False)
        for value in (result["interval"]["low"], result["difference"], result["interval"]["high"])
    )
    means = f"{as_share(result['mean_first'])} → {as_share(result['mean_second'])}"
    return {
        "metric": metric,
        "lower": lower_is_better,
        "verdict": verdict,
        "means": f"{means}, n = {as_whole(result['n'])}",
        "difference": difference,
        "interval": f"{low} to {high}",
        "p": as_p(result["p"] if result["p_adjusted"] is None else result["p_adjusted"]),
        "counts": " / ".join(as_whole(result[key]) for key in ("wins", "ties", "losses")),
        "detectable": as_points(result["mde"], trim=False),
        "title": f"{metric}: {difference} points, {verdict}",
        "description": f"{comparison['second']} minus {comparison['first']}, 95% interval {low} to {high} points"
        f"{'; lower is better' if lower_is_better else ''}",
        "mark": [_x(value, widest) for value in _mark(result)],
    }
