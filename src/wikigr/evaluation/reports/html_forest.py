"""The differences of an evaluation as a forest plot: an interval a metric, on one axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wikigr.evaluation.reports.html_figures import (
    NBSP,
    Document,
    ScaledResult,
    as_p,
    as_share,
    as_whole,
    finite,
    fixed_point,
    less_is_better,
    metric_name,
    verdict_chip,
    verdict_of,
)
from wikigr.evaluation.reports.html_markup import Html, el, html_section, html_table

_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25)


def differences(document: Document) -> Html:
    """Return the section of the page that draws every comparison."""
    primary = document["primary"]
    declared = document["run"].get("primary", primary) == primary
    note = (
        "Each line is the interval of a difference, its mark the difference itself; the band is the margin within "
        f"which two profiles are as good as each other. The primary metric was {'declared' if declared else 'chosen'} "
        f"{'before' if declared else 'after'} the run; the p of the others is corrected for their number (Holm)."
    )
    plots = [_forest(comparison, document) for comparison in document["comparisons"]]
    if not plots:
        return html_section("differences", "Differences", el("p", "One profile, no differences.", class_="quiet"))
    return html_section("differences", "Differences", el("p", note, class_="quiet"), *plots)


def _forest(comparison: Document, document: Document) -> Html:
    results = sorted(comparison["results"], key=lambda result: result["metric"] != comparison["primary"])
    scaled = [ScaledResult(result) for result in results]
    step, widest = _scale(scaled, finite(comparison["margin"]) or 0.0)
    first, second = comparison["first"], comparison["second"]
    ends = el("span", el("span", f"← {first} higher"), el("span", f"{second} higher →"), class_="ends")
    head = [
        "Metric",
        el("th", ends, _axis(step, widest), scope="col", class_="plot"),
        el("th", "Difference, points", scope="col", class_="number"),
        el("th", "p", scope="col", class_="number"),
        el("th", "Wins / ties / losses", scope="col", class_="number"),
        el("th", "Detectable", scope="col", class_="number"),
        "Verdict",
    ]
    rows = [
        _forest_row(comparison, result, figures, (step, widest), less_is_better(document, result["metric"]))
        for result, figures in zip(results, scaled, strict=True)
    ]
    caption = el("figcaption", el("h3", f"{second} against {first}"))
    return el("figure", caption, html_table(head, rows, "forest"))


def _scale(scaled: Sequence[ScaledResult], margin: float) -> tuple[float, float]:
    """Return the distance of the ticks, and the largest difference on the axis, a multiple of it."""
    ends = [
        abs(end) for figures in scaled if figures.drawable for end in (figures.low, figures.high) if end is not None
    ]
    reach = min(1.0, max([*ends, 1.5 * margin, 0.01]))
    step = next((step for step in _STEPS if reach <= 4 * step + 1e-9), _STEPS[-1])
    return step, step * math.ceil(reach / step - 1e-9)


def _x(value: float, widest: float) -> str:
    """Return where a difference stands on the axis; percentages, so that text keeps its size at any width."""
    return f"{50.0 + 46.0 * max(-1.0, min(1.0, value / widest)):.2f}%"


def _axis(step: float, widest: float) -> Html:
    ticks = round(widest / step)
    labels = [
        el(
            "text",
            fixed_point(tick * step * 100, 0, sign=True),
            x=_x(tick * step, widest),
            y="12",
            text_anchor="middle",
        )
        for tick in range(-ticks, ticks + 1)
    ]
    return el("svg", *labels, class_="axis", aria_hidden="true")


def _forest_row(
    comparison: Document, result: Document, scaled: ScaledResult, axis: tuple[float, float], lower: bool
) -> Html:
    metric, primary, verdict = result["metric"], comparison["primary"], verdict_of(result)
    means = (
        f"{as_share(result.get('mean_first'))} → {as_share(result.get('mean_second'))}, n = {as_whole(result.get('n'))}"
    )
    p = result.get("p") if result.get("p_adjusted") is None else result["p_adjusted"]
    counts = " / ".join(as_whole(result.get(key)) for key in ("wins", "ties", "losses"))
    return el(
        "tr",
        metric_name(metric, primary, lower, el("small", means)),
        el("td", _plot(comparison, result, scaled, axis, lower), class_="plot"),
        el(
            "td",
            el("span", scaled.text(scaled.difference), class_="value"),
            " ",
            el("small", scaled.interval(), class_="range"),
            class_="number",
        ),
        el("td", el("span", "p ", class_="label"), as_p(p), class_="number"),
        el("td", el("span", "wins / ties / losses ", class_="label"), counts, class_="number"),
        el(
            "td",
            el("span", "detectable ", class_="label"),
            scaled.text(finite(result.get("mde")), sign=False),
            class_="number",
        ),
        el("td", verdict_chip(verdict)),
        class_=f"{verdict} primary" if metric == primary else verdict,
    )


def _plot(comparison: Document, result: Document, scaled: ScaledResult, axis: tuple[float, float], lower: bool) -> Html:
    step, widest = axis
    metric, verdict = result["metric"], verdict_of(result)
    title = el("title", f"{metric}: {scaled.text(scaled.difference)}{scaled.unit}, {verdict}")
    described = el(
        "desc",
        f"{comparison['second']} minus {comparison['first']}, {scaled.level}{NBSP}% interval {scaled.interval()}",
        scaled.unit,
        "; less is better" if lower else "",
    )
    margin = min(finite(comparison["margin"]) or 0.0, widest)
    ticks = round(widest / step)
    lines = [
        el("line", x1=x, x2=x, y1="0", y2="100%", class_="zero" if tick == 0 else "tick")
        for tick in range(-ticks, ticks + 1)
        for x in [_x(tick * step, widest)]
    ]
    band = el("rect", x=_x(-margin, widest), y="0", width=f"{92.0 * margin / widest:.2f}%", height="100%")
    shown = _mark(scaled, widest, metric == comparison["primary"]) if scaled.drawable else _off_scale(scaled)
    return el("svg", title, described, el("g", band, class_="band"), *lines, shown, role="img", class_="row")


def _mark(scaled: ScaledResult, widest: float, primary: bool) -> Html:
    """Draw an interval with its ends; the difference is a diamond for the primary metric, else a dot."""
    low, high, middle = (_x(value or 0.0, widest) for value in (scaled.low, scaled.high, scaled.difference))
    whiskers = [el("svg", el("path", d="M0 -4V4"), x=end, y="50%", class_="at") for end in dict.fromkeys((low, high))]
    shape = el("path", d="M0 -7L7 0L0 7L-7 0Z") if primary else el("circle", r="4")
    return el(
        "g",
        el("line", x1=low, x2=high, y1="50%", y2="50%"),
        *whiskers,
        el("svg", shape, x=middle, y="50%", class_="at"),
        class_="interval",
    )


def _off_scale(scaled: ScaledResult) -> Html:
    text = "no figure" if scaled.in_points else "not on this scale"
    return el("text", text, x="50%", y="50%", dy="0.35em", text_anchor="middle", class_="off")
