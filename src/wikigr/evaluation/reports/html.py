"""The report as one self-contained HTML file, readable without a network and without JavaScript.

The templates are in ``templates``. All values in the document are untrusted, and Jinja2 escapes them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from jinja2 import Environment, PackageLoader

from wikigr.evaluation.groups import hop_rows, type_rows
from wikigr.evaluation.reports import html_figures as figures
from wikigr.evaluation.reports.html_confidence import accuracy_rows, confidence_figures, level_rows
from wikigr.evaluation.reports.html_figures import as_whole, fixed_point
from wikigr.evaluation.reports.html_forest import VERDICT_MARKS, forest, verdict_card
from wikigr.evaluation.statistics.wording import NO_FIGURE, count_of, finite

Document = Mapping[str, Any]

# The state of a sample by the primary metric: its mark and its name.
_STATES = {
    "right": ("✓", "right"),
    "partly": ("◐", "partly right"),
    "wrong": ("✗", "wrong"),
    "none": (NO_FIGURE, "not scored"),
    "error": ("!", "error"),
}


def html_report(document: Mapping[str, Any]) -> str:
    """Return the report on ``document``, made by ``report_document``, as one self-contained HTML file.

    The same document gives the same bytes. Missing and infinite numbers become a dash.
    """
    primary, profiles = document["primary"], document["profiles"]
    latencies = [
        {"name": profile["name"], "kind": kind, "stages": stages}
        for profile in profiles
        for kind, stages in (("", profile["latency"]), ("cached", profile.get("latency_cached")))
        if stages
    ]
    repeated = [profile for profile in profiles if profile.get("repeats")]
    confident = [profile for profile in profiles if profile.get("risk_coverage") or profile.get("reliability")]
    lower = {name for name, metric in document["metrics"].items() if metric.get("higher_is_better") is False}
    page = (
        _environment()
        .get_template("report.html.j2")
        .render(
            document,
            cards=[verdict_card(comparison) for comparison in document["comparisons"]],
            warnings=[*_profile_warnings(document), *_run_warnings(document)],
            metric_names=_primary_first((name for profile in profiles for name in profile["metrics"]), primary),
            lower_is_better=lower,
            groups=[
                (name, rows) for name, rows in (("Hops", hop_rows(document)), ("Type", type_rows(document))) if rows
            ],
            forests=[forest(comparison, lower) for comparison in document["comparisons"]],
            abstaining=[profile for profile in profiles if profile.get("abstention")],
            confident=confident,
            accuracy_rows=accuracy_rows(confident),
            level_rows=level_rows(confident),
            confidence_figures=[confidence_figures(profile) for profile in confident],
            repeated=repeated,
            repeated_metrics=_primary_first(
                (name for profile in repeated for name in profile["repeats"]["deviations"]), primary
            ),
            state_of=partial(_state, primary=primary, lower=primary in lower),
            in_all_rankings=lambda flip, section: all(section in side["ranking"] for side in flip["sides"]),
            latencies=latencies,
            stages=sorted(
                dict.fromkeys(stage for column in latencies for stage in column["stages"]),
                key=lambda stage: stage == "total",
            ),
            filter_data=_filter_data(document, primary in lower),
        )
    )
    # JSON may contain half a surrogate pair, which UTF-8 cannot encode.
    return page.encode("utf-8", "replace").decode("utf-8")


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__ or "", "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.globals |= {"NO_FIGURE": NO_FIGURE, "STATES": _STATES, "VERDICT_MARKS": VERDICT_MARKS}
    environment.filters |= {
        "breakable": figures.breakable,
        "clip": figures.clipped,
        "count_of": count_of,
        "fixed": fixed_point,
        "milliseconds": figures.as_milliseconds,
        "number": finite,
        "points": figures.as_points,
        "pretty": partial(json.dumps, ensure_ascii=False, indent=2, default=str),
        "share": figures.as_share,
        "whole": as_whole,
        "without_unit": figures.without_unit,
    }
    return environment


def _primary_first(names: Iterable[str], primary: str) -> list[str]:
    return sorted(dict.fromkeys(names), key=lambda name: name != primary)


def _profile_warnings(document: Document) -> list[dict[str, Any]]:
    """Return a warning for each profile with failed or degraded answers; failures list their frequent messages."""
    found: list[dict[str, Any]] = []
    for profile in document["profiles"]:
        name, samples = profile["name"], as_whole(profile.get("samples"))
        if profile.get("errors"):
            by_profile = (question["by_profile"].get(name) or {} for question in document["questions"])
            messages = Counter(str(sample["error"]) for sample in by_profile if sample.get("error") is not None)
            found.append(
                {
                    "text": f"{name}: {as_whole(profile['errors'])} of {samples} answers failed; they count as neither "
                    "right nor wrong.",
                    "errors": sorted(messages.items(), key=lambda item: (-item[1], item[0]))[:5],
                }
            )
        if profile.get("degraded"):
            text = (
                f"{name}: {as_whole(profile['degraded'])} of {samples} answers were made without a stage that failed."
            )
            found.append({"text": text})
    return found


def _run_warnings(document: Document) -> list[dict[str, Any]]:
    run = document["run"]
    found = [str(notice) for notice in document.get("notices", ())]
    found += [
        f"{comparison['first']} and {comparison['second']}: {count_of(comparison['unpaired'], 'question')} that only "
        "one of them answered are left out."
        for comparison in document["comparisons"]
        if comparison.get("unpaired")
    ]
    found += [
        f"Few-shot example {leak.get('example')} leaks the question {leak.get('question_id')} (similarity "
        f"{fixed_point(leak.get('similarity'), 2)}); no prompt used it."
        for leak in run.get("leaks", ())
    ]
    if run.get("dirty"):
        found.append("The code had uncommitted changes, so its commit does not identify what ran.")
    return [{"text": text} for text in found]


def _state(sample: Document | None, *, primary: str, lower: bool) -> str:
    """Return the state of a sample: a key of ``_STATES``."""
    if not sample:
        return "none"
    if sample.get("error") is not None:
        return "error"
    value = finite(sample["metrics"].get(primary))
    if value is None:
        return "none"
    if lower:
        value = 1.0 - value
    return "right" if value >= 1.0 else "wrong" if value <= 0.0 else "partly"


def _filter_data(document: Document, lower: bool) -> dict[str, Any]:
    """Return the data of the filters: for each question the number of its type, whether it changed, and its states."""
    names = [str(profile["name"]) for profile in document["profiles"]]
    types = sorted({str(question["type"]) for question in document["questions"]})
    primary = document["primary"]
    rows = []
    for question in document["questions"]:
        asked = [question["by_profile"].get(name) for name in names]
        states = [_state(sample, primary=primary, lower=lower) for sample in asked]
        rows.append([types.index(str(question["type"])), int(_is_changed(asked, states, primary)), states])
    return {"profiles": names, "types": types, "rows": rows}


def _is_changed(asked: Sequence[Document | None], states: Sequence[str], primary: str) -> bool:
    """Return whether two profiles have different values of the primary metric."""
    values = {
        finite(sample["metrics"].get(primary))
        for sample, state in zip(asked, states, strict=True)
        if sample is not None and state not in ("none", "error")
    }
    return len(values) > 1
