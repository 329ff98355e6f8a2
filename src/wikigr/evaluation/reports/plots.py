"""The two plots of the HTML report: the forest plot of a comparison, and the reliability diagram of a profile."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

Document = Mapping[str, Any]

_TICK_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25)
# The plot area of the diagram in the units of its view box; both axes go from 0 to 1.
_LEFT, _TOP, _SIZE = 46.0, 8.0, 240.0


def percent(share: float) -> str:
    """Return a share as a percentage with one decimal."""
    return f"{share:.1%}"


def points(difference: float | None) -> str:
    """Return a difference of shares in points of 100 with its sign, or a dash without one."""
    return "–" if difference is None else f"{100 * difference:+.1f}"


def forest(comparison: Document) -> dict[str, Any]:
    """Return the forest plot of a comparison: its axis, and one row per metric with its figures.

    Positions are percentages of the width, so that text keeps its size at any width.
    """
    results, margin = comparison["results"], comparison["margin"]
    reach = max(abs(end) for result in results for end in (result["interval"]["low"], result["interval"]["high"]))
    step, widest = axis(max(reach, 1.5 * margin, 0.01))

    def x(value: float) -> str:
        return f"{50.0 + 46.0 * max(-1.0, min(1.0, value / widest)):.2f}%"

    ticks = range(-round(widest / step), round(widest / step) + 1)
    band = min(margin, widest)
    return {
        "comparison": comparison,
        "ticks": [{"x": x(tick * step), "label": f"{100 * tick * step:+.0f}", "zero": tick == 0} for tick in ticks],
        "band": {"x": x(-band), "width": f"{92.0 * band / widest:.2f}%"},
        "rows": [
            {
                "result": result,
                "means": f"{percent(result['mean_first'])} → {percent(result['mean_second'])}, n = {result['n']:,}",
                "interval": f"{points(result['interval']['low'])} to {points(result['interval']['high'])}",
                "p": result["p"] if result["p_adjusted"] is None else result["p_adjusted"],
                "counts": f"{result['wins']} / {result['ties']} / {result['losses']}",
                "mark": [
                    x(value) for value in (result["interval"]["low"], result["difference"], result["interval"]["high"])
                ],
            }
            for result in results
        ],
    }


def axis(reach: float) -> tuple[float, float]:
    """Return the distance between ticks and the end of the axis, a multiple of it."""
    reach = min(1.0, reach)
    step = next((step for step in _TICK_STEPS if reach <= 4 * step + 1e-9), _TICK_STEPS[-1])
    return step, step * math.ceil(reach / step - 1e-9)


def reliability_diagram(profile: Document) -> dict[str, Any]:
    """Return the reliability diagram of a profile: the positions of its marks, and the rows of its table."""
    scored = profile["reliability"]

    def x(value: float) -> float:
        return round(_LEFT + _SIZE * value, 1)

    def y(value: float) -> float:
        return round(_TOP + _SIZE * (1.0 - value), 1)

    return {
        "name": profile["name"],
        "description": f"Accuracy against mean confidence in {len(scored['bins'])} bins of {scored['answers']:,} "
        f"answers. The expected calibration error is {scored['ece']['value']:.3f}.",
        "frame": {"left": _LEFT, "top": _TOP, "right": _LEFT + _SIZE, "bottom": _TOP + _SIZE},
        "ticks": [{"label": tick, "x": x(tick / 100), "y": y(tick / 100)} for tick in (0, 25, 50, 75, 100)],
        "bins": [
            {
                "x": x(each["confidence"]),
                **{part: y(each["accuracy"][end]) for part, end in (("y", "value"), ("low", "low"), ("high", "high"))},
                "cells": (
                    f"{percent(each['from'])} to {percent(each['to'])}",
                    f"{each['answers']:,}",
                    percent(each["confidence"]),
                    percent(each["accuracy"]["value"]),
                    f"{percent(each['accuracy']['low'])} to {percent(each['accuracy']['high'])}",
                ),
            }
            for each in scored["bins"]
        ],
    }
