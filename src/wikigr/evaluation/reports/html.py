"""The report with its two plots as one self-contained HTML file, readable without a network and without JavaScript.

The templates are in ``templates``. Jinja2 escapes all values in the document, which are untrusted.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

from wikigr.evaluation.reports.text import further_tables, metric_table

Document = Mapping[str, Any]

# Longer answers and quotations are cut, so that a rambling model does not make the report unreadable.
_MAX_TEXT_LENGTH = 2_000
_VERDICT_MARKS = {"improved": "✓", "regressed": "✗", "equivalent": "≈", "inconclusive": "?"}
# The state of a sample by the primary metric: its mark and its name.
_STATES = {
    "right": ("✓", "right"),
    "partly": ("◐", "partly right"),
    "wrong": ("✗", "wrong"),
    "none": ("–", "not scored"),
    "error": ("!", "error"),
}


def html_report(document: Document) -> str:
    """Return the report on ``document``, made by ``report_document``, as one self-contained HTML file.

    The same document gives the same bytes.
    """
    profiles = document["profiles"]
    names = [profile["name"] for profile in profiles]
    upward = document["metrics"][document["primary"]]["higher_is_better"]
    states = [
        [_state(question["by_profile"].get(name), document["primary"], upward) for name in names]
        for question in document["questions"]
    ]
    page = (
        _environment()
        .get_template("report.html.j2")
        .render(
            document,
            warnings=list(_warnings(document)),
            metric_table=metric_table(document),
            further_tables=list(further_tables(document)),
            forests=[forest(comparison) for comparison in document["comparisons"] if comparison["results"]],
            diagrams=[reliability_diagram(profile) for profile in profiles if profile["reliability"]],
            states=states,
            filter_data=_filter_data(document, names, states),
        )
    )
    # JSON may contain half a surrogate pair, which UTF-8 cannot encode.
    return page.encode("utf-8", "replace").decode("utf-8")


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__ or "", "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.globals |= {"STATES": _STATES, "VERDICT_MARKS": _VERDICT_MARKS}
    environment.filters |= {
        "breakable": _breakable,
        "clip": _clipped,
        "percent": percent,
        "points": points,
        "pretty": partial(json.dumps, ensure_ascii=False, indent=2),
    }
    return environment


def _breakable(name: str) -> Markup:
    """Return a name that may wrap after its hyphens and underscores."""
    return Markup(str(escape(name)).replace("-", "-<wbr>").replace("_", "_<wbr>"))  # noqa: S704 - the name is escaped


def _clipped(text: str) -> str:
    """Return ``text``, cut with a note on the number of characters cut."""
    if len(text) <= _MAX_TEXT_LENGTH:
        return text
    return f"{text[:_MAX_TEXT_LENGTH]} … ({len(text) - _MAX_TEXT_LENGTH:,} more characters)"


def _warnings(document: Document) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """Yield a warning for everything that makes the figures less trustworthy, with the most frequent error messages."""
    for profile in document["profiles"]:
        name, samples = profile["name"], profile["samples"]
        if profile["errors"]:
            asked = (question["by_profile"].get(name) for question in document["questions"])
            errors = Counter(sample["error"] for sample in asked if sample and sample["error"] is not None)
            yield (
                f"{name}: {profile['errors']:,} of {samples:,} answers failed; they count as neither right nor wrong.",
                sorted(errors.items(), key=lambda item: (-item[1], item[0]))[:5],
            )
        if profile["degraded"]:
            yield f"{name}: {profile['degraded']:,} of {samples:,} answers were made without a stage that failed.", []
    for notice in document["notices"]:
        yield notice, []
    for comparison in document["comparisons"]:
        if comparison["unpaired"]:
            both = f"{comparison['first']} and {comparison['second']}"
            yield f"{both}: questions that only one of them answered are left out ({comparison['unpaired']:,}).", []
    if document["run"]["dirty"]:
        yield "The code had uncommitted changes, so its commit does not identify what ran.", []


def _state(sample: Document | None, primary: str, upward: bool) -> str:
    """Return the state of a sample: a key of ``_STATES``."""
    if sample is None:
        return "none"
    if sample["error"] is not None:
        return "error"
    value = sample["metrics"].get(primary)
    if value is None:
        return "none"
    return {1.0: "right", 0.0: "wrong"}.get(value if upward else 1.0 - value, "partly")


def _filter_data(document: Document, names: list[str], states: list[list[str]]) -> dict[str, Any]:
    """Return the data of the filters: for each question the number of its type, whether it changed, and its states."""
    types = sorted({question["type"] for question in document["questions"]})
    rows = []
    for question, found in zip(document["questions"], states, strict=True):
        values = {
            question["by_profile"][name]["metrics"][document["primary"]]
            for name, state in zip(names, found, strict=True)
            if state not in ("none", "error")
        }
        rows.append([types.index(question["type"]), int(len(values) > 1), found])
    return {"profiles": names, "types": types, "rows": rows}


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
