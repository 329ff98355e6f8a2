"""The wording of verdicts, differences, intervals and p-values of metrics in [0, 1], in points of 100.

The functions take results and comparisons as plain values, as reports store them. Missing and infinite numbers are
dashes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from wikigr.evaluation.statistics.intervals import wilson_interval

NO_FIGURE = "–"
VERDICT_WORDS = {
    "improved": "better",
    "regressed": "worse",
    "equivalent": "as good",
    "inconclusive": "unclear",
}
# With fewer questions, no paired test can reach 0.05.
MIN_QUESTIONS = 6


def finite(value: object) -> float | None:
    """Return ``value`` as a float, or ``None`` if it is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def in_points(size: object, *, sign: bool = False) -> str:
    """Return a size as ``2.0 points``, or a difference with its sign: ``+23.3 points``."""
    number = finite(size)
    return f"{NO_FIGURE} points" if number is None else f"{100 * number:{'+' if sign else ''}.1f} points"


def interval_in_points(interval: Mapping[str, Any]) -> str:
    """Return an interval of a difference: ``+14.6 to +33.0``."""
    return " to ".join(in_points(interval[end], sign=True).removesuffix(" points") for end in ("low", "high"))


def p_value(p: object) -> str:
    """Return a p-value: ``p = 0.0312``, or ``p < 0.0001``."""
    number = finite(p)
    return f"p = {NO_FIGURE}" if number is None else "p < 0.0001" if number < 0.0001 else f"p = {number:.4f}"


def count_of(number: object, noun: str) -> str:
    """Return a count with its noun: "1 question", "2 questions"."""
    count = finite(number)
    return f"{NO_FIGURE if count is None else f'{count:,.0f}'} {noun}{'' if number == 1 else 's'}"


def figures(result: Mapping[str, Any]) -> str:
    """Return the figures behind the verdict of a paired result."""
    interval = interval_in_points(result["interval"])
    return (
        f"{in_points(result['difference'], sign=True)} (95% interval {interval}), {p_value(result['p'])}, "
        f"{count_of(result['n'], 'question')}"
    )


def verdict_in_words(result: Mapping[str, Any]) -> str:
    """Return the verdict on a paired result: what was measured, and whether it may be chance."""
    if result["verdict"] != "inconclusive":
        return VERDICT_WORDS[result["verdict"]]
    way = _way(result)
    return f"{way}, but that may be chance" if way else "no difference shown"


def _way(result: Mapping[str, Any]) -> str:
    """Return which way a difference points, or an empty string if there is none."""
    difference = finite(result["difference"])
    return ("higher" if difference > 0 else "lower") if difference else ""


def why_unclear(result: Mapping[str, Any]) -> str:
    """Return the reason of a verdict that the interval alone does not explain, or an empty string.

    A difference is shown only if the interval excludes 0, the test agrees, and there are enough questions.
    """
    if result["verdict"] != "inconclusive":
        return ""
    units, counted = (result["n"], "questions") if result["clusters"] is None else (result["clusters"], "clusters")
    if units < MIN_QUESTIONS:
        return f"Fewer than {MIN_QUESTIONS} {counted} cannot show a difference."
    low, high = (finite(result["interval"][end]) or 0.0 for end in ("low", "high"))
    if low <= 0.0 <= high:
        is_shown = (finite(result["p"]) or 0.0) <= 0.05 and _way(result)
        return "p is at most 0.05, but the interval contains 0: both have to agree." if is_shown else ""
    # The bootstrap takes the questions that changed for all that could change.
    changed = result["wins"] + result["losses"]
    return (
        f"The interval excludes 0, but it is too narrow if so few questions change ({changed} of {result['n']}); the "
        "test decides, and its p is above 0.05."
    )


def primary_result(comparison: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the result of the primary metric, or None if it applies to no question that both sides answered."""
    return next((result for result in comparison["results"] if result["metric"] == comparison["primary"]), None)


def headline(comparison: Mapping[str, Any]) -> str:
    """Return a comparison in one sentence."""
    first, second, primary = comparison["first"], comparison["second"], comparison["primary"]
    result = primary_result(comparison)
    if result is None:
        return f"{second} cannot be compared with {first}: {primary} applies to no question that both answered."
    said = f"No difference shown between {second} and {first} in {primary}"
    if result["verdict"] in ("improved", "regressed"):
        said = f"{second} is {VERDICT_WORDS[result['verdict']]} than {first} in {primary}"
    elif result["verdict"] == "equivalent":
        said = f"{second} is as good as {first} in {primary}, within {in_points(comparison['margin'])}"
    elif way := _way(result):
        said = f"{second} scored {way} than {first} in {primary}, but that may be chance"
    return f"{said}: {figures(result)}. {why_unclear(result)}".rstrip()


def what_so_few_show(questions: int) -> str:
    """Return a sentence about what a run over so few questions can show of one profile and of a change."""
    if questions < MIN_QUESTIONS:
        return f"{count_of(questions, 'question')} cannot show a change: that takes at least {MIN_QUESTIONS}."
    right = round(0.8 * questions)
    interval = wilson_interval(right / questions, questions)
    return (
        f"{count_of(questions, 'question')} show large differences only: {right} right of {questions} mean an accuracy "
        f"between {interval.low:.0%} and {interval.high:.0%}, and a change has to win {MIN_QUESTIONS} of them and lose "
        "none before it is more than chance."
    )


def detectable(result: Mapping[str, Any]) -> str:
    """Return a sentence about the minimal detectable effect of a compared metric."""
    return f"This many questions detect a difference of {in_points(result['mde'])} or more with 80% power."
