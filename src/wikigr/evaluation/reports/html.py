"""The report as one self-contained HTML file, readable without a network and without JavaScript.

The templates are in ``templates``. Jinja2 escapes all values in the document, which are untrusted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

from wikigr.evaluation.reports.plots import forest, percent, points, reliability_diagram
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
