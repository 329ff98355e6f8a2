"""The forest plot of the HTML report: the figures and the geometry of one comparison, an interval per metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from wikigr.evaluation.reports.html_figures import (
    NO_FIGURE,
    as_p,
    as_points,
    as_share,
    as_whole,
    count_of,
    finite,
    fixed_point,
)

Document = Mapping[str, Any]

VERDICT_MARKS = {"improved": "✓", "regressed": "✗", "equivalent": "≈", "inconclusive": "?"}
_TICK_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25)


def verdict_of(result: Document | None) -> str:
    """Return the verdict of a result; an unknown one is inconclusive, because verdicts become CSS classes."""
    found = "" if result is None else str(result.get("verdict"))
    return found if found in VERDICT_MARKS else "inconclusive"


class ScaledResult:
    """The figures of one paired result: in points if the metric is a share, otherwise in its own unit."""

    def __init__(self, result: Document) -> None:
        interval = result.get("interval") or {}
        means = (finite(result.get("mean_first")), finite(result.get("mean_second")))
        self.difference = finite(result.get("difference"))
        self.low, self.high = finite(interval.get("low")), finite(interval.get("high"))
        self.level = fixed_point((finite(interval.get("level")) or 0.95) * 100, trim=True)
        self.in_points = all(mean is None or -1.0 <= mean <= 1.0 for mean in means)
        self.unit = " points" if self.in_points else ""

    def text(self, value: object, *, sign: bool = True, trim: bool = False) -> str:
        number = finite(value)
        if number is None:
            return NO_FIGURE
        return fixed_point(number * (100.0 if self.in_points else 1.0), sign=sign, trim=trim)

    def interval(self, *, trim: bool = False) -> str:
        return f"{self.text(self.low, trim=trim)} to {self.text(self.high, trim=trim)}"

    @property
    def drawable(self) -> bool:
        return self.in_points and None not in (self.difference, self.low, self.high)


def verdict_card(comparison: Document, lower_is_better: bool) -> dict[str, Any]:
    """Return the verdict of a comparison on its primary metric: a sentence and the counts."""
    first, second, metric = comparison["first"], comparison["second"], comparison["primary"]
    result = next((r for r in comparison["results"] if r["metric"] == metric), None)
    verdict = verdict_of(result)
    if result is None:
        sentence = f"{first} and {second} have no question in common that {metric} applies to."
        return {"verdict": verdict, "sentence": sentence, "counts": None}
    scaled, p = ScaledResult(result), as_p(result.get("p"))
    evidence = (
        f"{scaled.text(scaled.difference, trim=True)}{scaled.unit} "
        f"({scaled.level}% interval {scaled.interval(trim=True)}), "
        f"{'p' if p.startswith('<') else 'p ='} {p}, {count_of(result.get('n'), 'question')}"
    )
    if verdict == "equivalent":
        sentence = f"{second} equals {first} on {metric} within ±{as_points(comparison['margin'])} points: {evidence}."
    elif verdict == "inconclusive":
        sentence = f"It is not clear whether {second} changes {metric}: {evidence}."
    else:
        verb = "improved" if verdict == "improved" else "worsened"
        sentence = f"{second} {verb} {metric} by {evidence}{'; lower is better' if lower_is_better else ''}."
    wins, ties, losses = (as_whole(result.get(key)) for key in ("wins", "ties", "losses"))
    counts = (
        f"{first} {as_share(result.get('mean_first'))} → {second} {as_share(result.get('mean_second'))}, "
        f"with {wins} wins, {ties} ties and {losses} losses."
    )
    if finite(result.get("mde")) is not None:
        detectable = scaled.text(result["mde"], sign=False, trim=True)
        counts += f" This many questions detect a difference of {detectable}{scaled.unit} with 80% power."
    return {"verdict": verdict, "sentence": sentence, "counts": counts}


def forest(comparison: Document, lower_is_better: set[str]) -> dict[str, Any]:
    """Return the forest plot of a comparison: its axis and one row per metric, the primary metric first.

    Positions are percentages of the width, so that text keeps its size at any width.
    """
    results = sorted(comparison["results"], key=lambda result: result["metric"] != comparison["primary"])
    scaled = [ScaledResult(result) for result in results]
    margin = finite(comparison["margin"]) or 0.0
    step, widest = _axis(scaled, margin)
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
        "rows": [
            _row(comparison, result, figures, widest, result["metric"] in lower_is_better)
            for result, figures in zip(results, scaled, strict=True)
        ],
    }


def _axis(scaled: Sequence[ScaledResult], margin: float) -> tuple[float, float]:
    """Return the distance between ticks and the end of the axis, a multiple of it."""
    ends = [
        abs(end) for figures in scaled if figures.drawable for end in (figures.low, figures.high) if end is not None
    ]
    reach = min(1.0, max([*ends, 1.5 * margin, 0.01]))
    step = next((step for step in _TICK_STEPS if reach <= 4 * step + 1e-9), _TICK_STEPS[-1])
    return step, step * math.ceil(reach / step - 1e-9)


def _x(value: float, widest: float) -> str:
    return f"{50.0 + 46.0 * max(-1.0, min(1.0, value / widest)):.2f}%"


def _row(
    comparison: Document, result: Document, scaled: ScaledResult, widest: float, lower_is_better: bool
) -> dict[str, Any]:
    metric, verdict = result["metric"], verdict_of(result)
    difference = scaled.text(scaled.difference)
    means = f"{as_share(result.get('mean_first'))} → {as_share(result.get('mean_second'))}"
    return {
        "metric": metric,
        "lower": lower_is_better,
        "verdict": verdict,
        "means": f"{means}, n = {as_whole(result.get('n'))}",
        "difference": difference,
        "interval": scaled.interval(),
        "p": as_p(result.get("p") if result.get("p_adjusted") is None else result["p_adjusted"]),
        "counts": " / ".join(as_whole(result.get(key)) for key in ("wins", "ties", "losses")),
        "detectable": scaled.text(result.get("mde"), sign=False),
        "title": f"{metric}: {difference}{scaled.unit}, {verdict}",
        "description": f"{comparison['second']} minus {comparison['first']}, "
        f"{scaled.level}% interval {scaled.interval()}{scaled.unit}"
        f"{'; lower is better' if lower_is_better else ''}",
        "mark": [_x(value or 0.0, widest) for value in (scaled.low, scaled.difference, scaled.high)]
        if scaled.drawable
        else None,
        "no_mark": "no figure" if scaled.in_points else "not on this scale",
    }
