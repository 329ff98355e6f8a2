"""The figures on confidence in the HTML report: the reliability diagram and the risk–coverage curve of a profile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wikigr.answer.presentation import LEVEL_WORDS
from wikigr.evaluation.reports.html_figures import as_points, as_share, as_whole, fixed_point
from wikigr.evaluation.statistics.wording import count_of, finite

Document = Mapping[str, Any]

# The plot area in the units of the view box; both axes go from 0 to 1.
_LEFT, _TOP, _SIZE = 46.0, 8.0, 240.0
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
# Rows of the table under a risk–coverage curve.
_TABLE_ROWS = 10


def confidence_figures(profile: Document) -> dict[str, Any]:
    """Return the two figures of one profile, None for one it lacks; what a figure draws is also there as a table.

    Each figure has the positions of what it draws (``frame``, and ``marks`` or ``answered`` and ``withheld``), a
    ``title``, a ``description`` and the ``rows`` of its table.
    """
    ranked, scored = profile.get("risk_coverage"), profile.get("reliability")
    return {
        "name": profile["name"],
        "reliability": _reliability_diagram(profile["name"], scored) if scored else None,
        "risk_coverage": _risk_coverage_curve(profile["name"], ranked) if ranked else None,
    }


def accuracy_rows(profiles: Sequence[Document]) -> list[tuple[str, list[Document | None]]]:
    """Return the accuracies at each coverage: the coverage in percent, and the estimate of each profile."""
    found: dict[str, list[Document | None]] = {}
    for place, profile in enumerate(profiles):
        ranked = profile.get("risk_coverage") or {}
        for each in ranked.get("accuracy", ()):
            row = found.setdefault(as_share(each["coverage"]).replace(".0%", "%"), [None] * len(profiles))
            row[place] = {**each, "bound": _exceeds(each["coverage"], ranked.get("coverage"))}
    return list(found.items())


def level_rows(profiles: Sequence[Document]) -> list[tuple[str, list[Document | None]]]:
    """Return the precision by level: the level in words, and that level of each profile, None if it has no levels."""
    found: dict[str, list[Document | None]] = {}
    for place, profile in enumerate(profiles):
        for each in profile.get("levels") or ():
            words = LEVEL_WORDS.get(each["level"], str(each["level"]))
            found.setdefault(words, [None] * len(profiles))[place] = each
    return list(found.items())


def _exceeds(coverage: object, answered: object) -> bool:
    return (finite(coverage) or 0.0) > (finite(answered) or 0.0)


def _x(value: object) -> float:
    return round(_LEFT + _SIZE * max(0.0, min(1.0, finite(value) or 0.0)), 1)


def _y(value: object) -> float:
    return round(_TOP + _SIZE * (1.0 - max(0.0, min(1.0, finite(value) or 0.0))), 1)


def _frame(horizontal: str, vertical: str) -> dict[str, Any]:
    return {
        "left": _LEFT,
        "top": _TOP,
        "right": _LEFT + _SIZE,
        "bottom": _TOP + _SIZE,
        "middle": _TOP + _SIZE / 2,
        "center": _LEFT + _SIZE / 2,
        "ticks": [{"label": as_points(tick), "x": _x(tick), "y": _y(tick)} for tick in _TICKS],
        "horizontal": horizontal,
        "vertical": vertical,
    }


def _reliability_diagram(name: str, scored: Document) -> dict[str, Any]:
    bins = []
    for each in scored["bins"]:
        accuracy = each["accuracy"]
        row = {
            "range": f"{as_share(each['from'])} to {as_share(each['to'])}",
            "answers": as_whole(each["answers"]),
            "confidence": as_share(each["confidence"]),
            "accuracy": as_share(accuracy["value"]),
            "interval": f"{as_share(accuracy['low'])} to {as_share(accuracy['high'])}",
        }
        drawable = None not in map(finite, (each["confidence"], accuracy["value"], accuracy["low"], accuracy["high"]))
        mark = {
            "x": _x(each["confidence"]),
            "y": _y(accuracy["value"]),
            "low": _y(accuracy["low"]),
            "high": _y(accuracy["high"]),
            "title": f"{count_of(each['answers'], 'answer')} with a mean confidence of {row['confidence']}: "
            f"{row['accuracy']} right ({row['interval']})",
        }
        bins.append({"row": row, "mark": mark if drawable else None})
    return {
        "frame": _frame("Mean confidence, %", "Accuracy, %"),
        "title": f"Reliability diagram of {name}",
        "description": f"Accuracy against mean confidence in {count_of(len(bins), 'bin')} of "
        f"{count_of(scored['answers'], 'answer')}. The expected calibration error is "
        f"{fixed_point(scored['ece']['value'], 3)}.",
        "marks": [each["mark"] for each in bins if each["mark"]],
        "rows": [each["row"] for each in bins],
    }


def _risk_coverage_curve(name: str, ranked: Document) -> dict[str, Any]:
    points = [
        (coverage, risk)
        for coverage, risk in ((finite(each["coverage"]), finite(each["risk"])) for each in ranked["curve"])
        if coverage is not None and risk is not None
    ]
    answered = [point for point in points if not _exceeds(point[0], ranked["coverage"])]
    # The second line starts where the first one ends.
    withheld = points[max(0, len(answered) - 1) :] if len(answered) < len(points) else []
    numbers = range(1, _TABLE_ROWS + 1)
    chosen = dict.fromkeys(-(-len(points) * number // _TABLE_ROWS) - 1 for number in numbers) if points else ()
    return {
        "frame": _frame("Coverage, %", "Risk, %"),
        "title": f"Risk–coverage curve of {name}",
        "description": f"Error rate among the most confident of {count_of(ranked['samples'], 'question')}, by the "
        f"share covered; {as_whole(ranked['answered'])} were answered. The area under the curve is "
        f"{fixed_point(ranked['aurc']['value'], 3)}.",
        "answered": _path(answered),
        "withheld": _path(withheld),
        "rows": [
            {
                "coverage": as_share(points[place][0]),
                "risk": as_share(points[place][1]),
                "bound": _exceeds(points[place][0], ranked["coverage"]),
            }
            for place in chosen
        ],
    }


def _path(points: Iterable[tuple[float, float]]) -> str:
    """Return the points of a line; a single one is drawn as a short line."""
    places = [f"{_x(coverage)},{_y(risk)}" for coverage, risk in points]
    return " ".join(places * 2 if len(places) == 1 else places)
