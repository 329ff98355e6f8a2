"""Figures and verdicts as the HTML report writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from wikigr.evaluation.reports.html_markup import Html, el, wrapping_name

NO_FIGURE = "–"
NBSP = "\N{NO-BREAK SPACE}"
# What a browser shows of one answer or quote: a model that rambles must not make the report unreadable.
_LONGEST = 2_000
MARKS = {"improved": "✓", "regressed": "✗", "equivalent": "≈", "inconclusive": "?"}

Document = Mapping[str, Any]


def finite(value: object) -> float | None:
    """Return ``value`` as a number, or ``None`` where it is no finite one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def fixed_point(value: object, digits: int = 1, *, sign: bool = False, trim: bool = False) -> str:
    """Return a number with a real minus sign; ``trim`` leaves out zeros at the end."""
    number = finite(value)
    if number is None:
        return NO_FIGURE
    text = f"{abs(number):,.{digits}f}"
    zero = float(text.replace(",", "")) == 0.0
    if trim and "." in text:
        text = text.rstrip("0").rstrip(".")
    prefix = "" if zero else "−" if number < 0 else "+" if sign else ""
    return prefix + text


def as_share(value: object) -> str:
    """Return a metric's value: a share of 1 as a percentage, anything else as it is."""
    number = finite(value)
    if number is None:
        return NO_FIGURE
    return f"{fixed_point(number * 100)}{NBSP}%" if -1.0 <= number <= 1.0 else fixed_point(number, 2)


def as_whole(value: object) -> str:
    """Return a number without decimals."""
    return fixed_point(value, 0)


def as_p(value: object) -> str:
    """Return a p-value with as many digits as say something."""
    number = finite(value)
    if number is None:
        return NO_FIGURE
    return "< 0.0001" if number < 0.0001 else f"{number:.4f}" if number < 0.01 else f"{number:.3f}"


def p_in_words(value: object) -> str:
    """Return a p-value as part of a sentence: "p = 0.035", "p < 0.0001"."""
    text = as_p(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def count_of(number: object, noun: str) -> str:
    """Return how many there are: "1 question", "2 questions"."""
    return f"{as_whole(number)} {noun}{'' if number == 1 else 's'}"


def clipped(text: object) -> str:
    """Return the beginning of a long text, and how much of it is left out."""
    whole = str(text)
    if len(whole) <= _LONGEST:
        return whole
    return f"{whole[:_LONGEST]} … ({len(whole) - _LONGEST:,} more characters)"


def less_is_better(document: Document, metric: object) -> bool:
    """Tell whether of ``metric`` less is better, as the document says."""
    return (document["metrics"].get(metric) or {}).get("higher_is_better") is False


def verdict_of(result: Document) -> str:
    """Return the verdict's name where it is one that is known, so that it can be a class."""
    found = str(result.get("verdict"))
    return found if found in MARKS else "inconclusive"


def verdict_chip(verdict: str) -> Html:
    """Return a verdict with its mark."""
    return el("span", el("span", MARKS[verdict], aria_hidden="true"), f" {verdict}", class_=f"chip {verdict}")


class ScaledResult:
    """The figures of one paired result in points where its metric is a share of 1, and as they are where not."""

    def __init__(self, result: Document) -> None:
        interval = result.get("interval") or {}
        means = (finite(result.get("mean_first")), finite(result.get("mean_second")))
        self.difference = finite(result.get("difference"))
        self.low, self.high = finite(interval.get("low")), finite(interval.get("high"))
        self.level = fixed_point((finite(interval.get("level")) or 0.95) * 100, trim=True)
        self.in_points = all(mean is None or -1.0 <= mean <= 1.0 for mean in means)
        self._factor = 100.0 if self.in_points else 1.0
        self.unit = " points" if self.in_points else ""

    def text(self, value: float | None, *, sign: bool = True, trim: bool = False) -> str:
        return NO_FIGURE if value is None else fixed_point(value * self._factor, 1, sign=sign, trim=trim)

    def interval(self, *, trim: bool = False) -> str:
        return f"{self.text(self.low, trim=trim)} to {self.text(self.high, trim=trim)}"

    @property
    def drawable(self) -> bool:
        return self.in_points and None not in (self.difference, self.low, self.high)


def metric_name(name: str, primary: str, lower: bool, below: object = None) -> Html:
    """Return the heading of a metric's row: its name, what sets it apart, and what stands ``below``."""
    tags = [
        el("span", "primary", class_="tag") if name == primary else None,
        el("span", "less is better", class_="tag soft") if lower else None,
    ]
    return el("th", el("span", wrapping_name(name), class_="name"), " ", *tags, below, scope="row")
