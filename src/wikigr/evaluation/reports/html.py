"""The report as one HTML file: no network, readable without JavaScript, and all that it is made from is untrusted."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
_VOID = frozenset({"input", "meta"})
_NONE = "–"
_NBSP = "\N{NO-BREAK SPACE}"
# What a browser shows of one answer or quote: a model that rambles must not make the report unreadable.
_LONGEST = 2_000
_MARKS = {"improved": "✓", "regressed": "✗", "equivalent": "≈", "inconclusive": "?"}
_STATES = {
    "right": ("✓", "right"),
    "partly": ("◐", "partly right"),
    "wrong": ("✗", "wrong"),
    "none": (_NONE, "not scored"),
    "error": ("!", "error"),
}
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25)

Document = Mapping[str, Any]


class _Html(str):
    """Markup that was made here. Any other string is text, and is escaped where it is put into markup."""

    __slots__ = ()


def html_report(document: Mapping[str, Any]) -> str:
    """Return the report on ``document``, as ``report_document`` makes it, as one self-contained HTML file.

    The same document gives the same bytes. Numbers that are missing or not finite are shown as a dash.
    """
    body = _el(
        "body",
        _header(document),
        _el(
            "main",
            _verdicts(document),
            _warnings(document),
            _metrics(document),
            _differences(document),
            _abstention(document),
            _repeats(document),
            _flips(document),
            _questions(document),
            _latency(document),
            _usage(document),
            _making(document),
        ),
        _data(document),
        _el("script", _asset("report.js")),
    )
    page = f"<!DOCTYPE html>\n{_el('html', _head(document), body, lang='en')}\n"
    # Half a surrogate pair can stand in JSON, but not in UTF-8.
    return page.encode("utf-8", "replace").decode("utf-8")


# Markup


def _el(name: str, /, *children: object, **attributes: str | int | bool) -> _Html:
    """Return an element. Children that are not markup are escaped, ``None`` is left out; ``class_`` is ``class``."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(str(value))}"')
        for key, value in attributes.items()
        if value is not False and (key, value) != ("class_", "")
    )
    start = f"<{name}{written}>"
    return _Html(start) if name in _VOID else _Html(f"{start}{_join(children)}</{name}>")


def _join(children: Iterable[object]) -> _Html:
    return _Html(
        "".join(
            child if isinstance(child, _Html) else escape(str(child), quote=False)
            for child in children
            if child is not None
        )
    )


def _asset(name: str) -> _Html:
    return _Html("\n" + files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _section(id_: str, title: str, *children: object) -> _Html:
    return _el("section", _el("h2", title), *children, id=id_)


def _table(head: Sequence[object], rows: Iterable[_Html], class_: str = "") -> _Html:
    header = _el("tr", *(cell if isinstance(cell, _Html) else _el("th", cell, scope="col") for cell in head))
    table = _el("table", _el("thead", header), _el("tbody", *rows), class_=class_)
    return _el("div", table, class_="scroll", tabindex="0")


def _wrapping(name: object) -> _Html:
    """Return a name that may be broken after its hyphens and underscores."""
    return _Html(escape(str(name), quote=False).replace("-", "-<wbr>").replace("_", "_<wbr>"))


def _list_of(pairs: Iterable[tuple[str, object]], class_: str) -> _Html:
    return _el("dl", *(_el("div", _el("dt", key), _el("dd", value)) for key, value in pairs), class_=class_)


# Numbers and words


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _fixed(value: object, digits: int = 1, *, sign: bool = False, trim: bool = False) -> str:
    """Return a number with a real minus sign; ``trim`` leaves out zeros at the end."""
    number = _finite(value)
    if number is None:
        return _NONE
    text = f"{abs(number):,.{digits}f}"
    zero = float(text.replace(",", "")) == 0.0
    if trim and "." in text:
        text = text.rstrip("0").rstrip(".")
    prefix = "" if zero else "−" if number < 0 else "+" if sign else ""
    return prefix + text


def _share(value: object) -> str:
    """Return a metric's value: a share of 1 as a percentage, anything else as it is."""
    number = _finite(value)
    if number is None:
        return _NONE
    return f"{_fixed(number * 100)}{_NBSP}%" if -1.0 <= number <= 1.0 else _fixed(number, 2)


def _whole(value: object) -> str:
    return _fixed(value, 0)


def _p(value: object) -> str:
    number = _finite(value)
    if number is None:
        return _NONE
    return "< 0.0001" if number < 0.0001 else f"{number:.4f}" if number < 0.01 else f"{number:.3f}"


def _p_in_words(value: object) -> str:
    text = _p(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _count(number: object, noun: str) -> str:
    return f"{_whole(number)} {noun}{'' if number == 1 else 's'}"


def _clip(text: object) -> str:
    whole = str(text)
    if len(whole) <= _LONGEST:
        return whole
    return f"{whole[:_LONGEST]} … ({len(whole) - _LONGEST:,} more characters)"


def _lower(document: Document, metric: object) -> bool:
    """Whether of ``metric`` less is better, as the document says."""
    return (document["metrics"].get(metric) or {}).get("higher_is_better") is False


def _verdict(result: Document) -> str:
    """Return the verdict's name where it is one that is known, so that it can be a class."""
    found = str(result.get("verdict"))
    return found if found in _MARKS else "inconclusive"


def _verdict_chip(verdict: str) -> _Html:
    return _el("span", _el("span", _MARKS[verdict], aria_hidden="true"), f" {verdict}", class_=f"chip {verdict}")


class _Scaled:
    """The figures of one paired result in points where its metric is a share of 1, and as they are where not."""

    def __init__(self, result: Document) -> None:
        interval = result.get("interval") or {}
        means = (_finite(result.get("mean_first")), _finite(result.get("mean_second")))
        self.difference = _finite(result.get("difference"))
        self.low, self.high = _finite(interval.get("low")), _finite(interval.get("high"))
        self.level = _fixed((_finite(interval.get("level")) or 0.95) * 100, trim=True)
        self.in_points = all(mean is None or -1.0 <= mean <= 1.0 for mean in means)
        self._factor = 100.0 if self.in_points else 1.0
        self.unit = " points" if self.in_points else ""

    def text(self, value: float | None, *, sign: bool = True, trim: bool = False) -> str:
        return _NONE if value is None else _fixed(value * self._factor, 1, sign=sign, trim=trim)

    def interval(self, *, trim: bool = False) -> str:
        return f"{self.text(self.low, trim=trim)} to {self.text(self.high, trim=trim)}"

    @property
    def drawable(self) -> bool:
        return self.in_points and None not in (self.difference, self.low, self.high)


# The parts


def _head(document: Document) -> _Html:
    pack = document["run"]["pack"]
    return _el(
        "head",
        _el("meta", charset="utf-8"),
        _el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        _el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        _el("meta", name="color-scheme", content="light dark"),
        _el("title", f"Evaluation of {pack.get('name')}: wikigr"),
        _el("style", _asset("report.css")),
    )


def _header(document: Document) -> _Html:
    run = document["run"]
    pack, questions = run["pack"], run["questions"]
    split = f", split {questions['split']}" if questions.get("split") else ""
    facts = [
        ("Pack", _join([f"{pack.get('name')} {pack.get('version', '')}", _code(pack.get("digest"))])),
        (
            "Questions",
            _join(
                [
                    f"{_whole(questions.get('count'))} of {questions.get('path')}{split}",
                    _code(questions.get("hash")),
                ]
            ),
        ),
        ("wikigr", _join([run.get("wikigr_version"), _code(_commit(run))])),
        ("Primary metric", _join([document["primary"], _el("small", f"margin ±{_points(document['margin'])}")])),
        ("Seed", _join([run.get("seed"), _el("small", f"{_whole(run.get('repeat'))} × each question")])),
        ("Judge", _join([run.get("judge"), _el("small", "offline" if run.get("offline") else "models may be asked")])),
    ]
    parts = [
        part
        for part, there in (
            ("verdicts", True),
            ("metrics", True),
            ("differences", True),
            ("abstention", _having(document, "abstention")),
            ("repeats", _having(document, "repeats")),
            ("flips", True),
            ("questions", True),
            ("latency", True),
            ("usage", True),
            ("making", True),
        )
        if there
    ]
    return _el(
        "header",
        _el("p", "wikigr · evaluation", class_="kicker"),
        _el("h1", pack.get("name")),
        _list_of(facts, "facts"),
        _el("nav", *(_el("a", part.capitalize(), href=f"#{part}") for part in parts), aria_label="Parts of the report"),
    )


def _code(value: object) -> _Html:
    return _el("code", value or _NONE)


def _commit(run: Document) -> str:
    known = str(run.get("commit") or "unknown commit")
    return f"{known} + uncommitted changes" if run.get("dirty") else known


def _points(value: object) -> str:
    number = _finite(value)
    return _NONE if number is None else f"{_fixed(number * 100, trim=True)} points"


def _primary(comparison: Document) -> Document | None:
    return next((r for r in comparison["results"] if r["metric"] == comparison["primary"]), None)


def _sentence(comparison: Document, lower: bool) -> str:
    """Say in plain words what a comparison found on its primary metric."""
    first, second, metric = comparison["first"], comparison["second"], comparison["primary"]
    result = _primary(comparison)
    if result is None:
        return f"{first} and {second} have no question in common that {metric} applies to."
    scaled, verdict = _Scaled(result), _verdict(result)
    by = f"{scaled.text(scaled.difference, trim=True)}{scaled.unit}"
    evidence = f"({scaled.level}{_NBSP}% interval {scaled.interval(trim=True)}), {_p_in_words(result.get('p'))}, "
    evidence += _count(result.get("n"), "question")
    if verdict == "equivalent":
        margin = _points(comparison["margin"])
        return f"{second} equals {first} on {metric} within ±{margin}: {by} {evidence}."
    if verdict == "inconclusive":
        return f"It is not clear whether {second} changes {metric}: {by} {evidence}."
    note = "; less is better" if lower else ""
    return f"{second} {'improved' if verdict == 'improved' else 'worsened'} {metric} by {by} {evidence}{note}."


def _verdicts(document: Document) -> _Html:
    cards = [_card(comparison, _lower(document, comparison["primary"])) for comparison in document["comparisons"]]
    if not cards:
        name = document["profiles"][0]["name"] if document["profiles"] else None
        text = "No profile has samples." if name is None else f"Only {name} was run: there is nothing to compare."
        if len(document["profiles"]) > 1:
            text = "No question was answered by two profiles: there is nothing to compare."
        cards.append(_el("p", text, class_="quiet"))
    return _section("verdicts", "Verdicts", *cards)


def _card(comparison: Document, lower: bool) -> _Html:
    result = _primary(comparison)
    verdict = "inconclusive" if result is None else _verdict(result)
    return _el(
        "article",
        _verdict_chip(verdict),
        _el("p", _sentence(comparison, lower), class_="sentence"),
        None if result is None else _el("p", _counts(comparison, result), class_="quiet"),
        class_=f"card {verdict}",
    )


def _counts(comparison: Document, result: Document) -> str:
    scaled = _Scaled(result)
    means = [_share(result.get(key)) for key in ("mean_first", "mean_second")]
    wins, ties, losses = (_whole(result.get(key)) for key in ("wins", "ties", "losses"))
    told = f"{comparison['first']} {means[0]} → {comparison['second']} {means[1]}, with {wins} wins, {ties} ties and "
    told += f"{losses} losses."
    mde = _finite(result.get("mde"))
    if mde is None:
        return told
    detectable = scaled.text(mde, sign=False, trim=True)
    return f"{told} Four times in five, so many questions would show a difference of {detectable}{scaled.unit}."


def _warnings(document: Document) -> _Html:
    found = [*_profile_warnings(document), *_run_warnings(document)]
    if not found:
        return _el("p", "No answer failed, none was degraded, and no few-shot example leaks a question.", class_="calm")
    items = _el("ul", *(_el("li", item) for item in found))
    return _el("aside", _el("h2", "Before you trust this"), items, class_="warnings", id="warnings")


def _profile_warnings(document: Document) -> list[_Html]:
    found = []
    for profile in document["profiles"]:
        name, samples = profile["name"], _whole(profile.get("samples"))
        if profile.get("errors"):
            text = f"{name}: {_whole(profile['errors'])} of {samples} answers failed; they count as neither right "
            text += "nor wrong."
            found.append(_join([text, _errors(document, name)]))
        if profile.get("degraded"):
            text = f"{name}: {_whole(profile['degraded'])} of {samples} answers were made without a stage that failed."
            found.append(_join([text]))
    return found


def _errors(document: Document, profile: object) -> _Html | None:
    """List the most frequent messages of a profile's failures."""
    by_profile = (question["by_profile"].get(profile) or {} for question in document["questions"])
    messages = Counter(str(sample["error"]) for sample in by_profile if sample.get("error") is not None)
    if not messages:
        return None
    most = sorted(messages.items(), key=lambda item: (-item[1], item[0]))[:5]
    return _el("ul", *(_el("li", f"{count} × {_clip(message)}") for message, count in most))


def _run_warnings(document: Document) -> list[_Html]:
    run = document["run"]
    found = [str(notice) for notice in document.get("notices", ())]
    found += [
        f"{comparison['first']} and {comparison['second']}: {_count(comparison['unpaired'], 'question')} that only "
        "one of them answered are left out."
        for comparison in document["comparisons"]
        if comparison.get("unpaired")
    ]
    found += [
        f"Few-shot example {leak.get('example')} gives the question {leak.get('question_id')} away (similarity "
        f"{_fixed(leak.get('similarity'), 2)}); it was taken out of every prompt."
        for leak in run.get("leaks", ())
    ]
    if run.get("dirty"):
        found.append("The code had uncommitted changes: its commit does not say what ran.")
    return [_join([text]) for text in found]


def _metrics(document: Document) -> _Html:
    profiles, primary = document["profiles"], document["primary"]
    names = dict.fromkeys(name for profile in profiles for name in profile["metrics"])
    ordered = sorted(names, key=lambda name: name != primary)
    head = [
        "Metric",
        *(_el("th", _wrapping(profile["name"]), scope="col", class_="number") for profile in profiles),
        _el("th", "Questions", scope="col", class_="number"),
    ]
    rows = [_metric_row(name, profiles, primary, _lower(document, name)) for name in ordered]
    note = (
        f"Means over questions, with their 95{_NBSP}% bootstrap intervals. Intervals that overlap do not say that two "
        "profiles are alike: the differences below are paired by question."
    )
    return _section("metrics", "Metrics", _el("p", note, class_="quiet"), _table(head, rows, "metrics pinned"))


def _metric_row(name: str, profiles: Sequence[Document], primary: str, lower: bool) -> _Html:
    values = [profile["metrics"].get(name) or {} for profile in profiles]
    cells = (
        _el(
            "td",
            _el("span", _share(value.get("mean")), class_="value"),
            " ",
            _el("small", f"{_share_range(value)}", class_="range") if value else None,
            class_="number",
        )
        for value in values
    )
    counts = sorted({_finite(value.get("questions")) or 0.0 for value in values if value})
    count = _NONE if not counts else "–".join(_whole(count) for count in dict.fromkeys((counts[0], counts[-1])))
    class_ = "primary" if name == primary else ""
    return _el("tr", _metric_name(name, primary, lower), *cells, _el("td", count, class_="number quiet"), class_=class_)


def _share_range(value: Document) -> str:
    unit = f"{_NBSP}%"
    low, high = (_share(value.get(end)).removesuffix(unit) for end in ("low", "high"))
    return f"{low} to {high}"


def _metric_name(name: str, primary: str, lower: bool, below: object = None) -> _Html:
    tags = [
        _el("span", "primary", class_="tag") if name == primary else None,
        _el("span", "less is better", class_="tag soft") if lower else None,
    ]
    return _el("th", _el("span", _wrapping(name), class_="name"), " ", *tags, below, scope="row")


def _differences(document: Document) -> _Html:
    primary = document["primary"]
    declared = document["run"].get("primary", primary) == primary
    note = (
        "Each line is the interval of a difference, its mark the difference itself; the band is the margin within "
        f"which two profiles are as good as each other. The primary metric was {'declared' if declared else 'chosen'} "
        f"{'before' if declared else 'after'} the run; the p of the others is corrected for their number (Holm)."
    )
    plots = [_forest(comparison, document) for comparison in document["comparisons"]]
    if not plots:
        return _section("differences", "Differences", _el("p", "One profile, no differences.", class_="quiet"))
    return _section("differences", "Differences", _el("p", note, class_="quiet"), *plots)


def _forest(comparison: Document, document: Document) -> _Html:
    results = sorted(comparison["results"], key=lambda result: result["metric"] != comparison["primary"])
    scaled = [_Scaled(result) for result in results]
    step, widest = _scale(scaled, _finite(comparison["margin"]) or 0.0)
    first, second = comparison["first"], comparison["second"]
    ends = _el("span", _el("span", f"← {first} higher"), _el("span", f"{second} higher →"), class_="ends")
    head = [
        "Metric",
        _el("th", ends, _axis(step, widest), scope="col", class_="plot"),
        _el("th", "Difference, points", scope="col", class_="number"),
        _el("th", "p", scope="col", class_="number"),
        _el("th", "Wins / ties / losses", scope="col", class_="number"),
        _el("th", "Detectable", scope="col", class_="number"),
        "Verdict",
    ]
    rows = [
        _forest_row(comparison, result, figures, (step, widest), _lower(document, result["metric"]))
        for result, figures in zip(results, scaled, strict=True)
    ]
    caption = _el("figcaption", _el("h3", f"{second} against {first}"))
    return _el("figure", caption, _table(head, rows, "forest"))


def _scale(scaled: Sequence[_Scaled], margin: float) -> tuple[float, float]:
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


def _axis(step: float, widest: float) -> _Html:
    ticks = round(widest / step)
    labels = [
        _el("text", _fixed(tick * step * 100, 0, sign=True), x=_x(tick * step, widest), y="12", text_anchor="middle")
        for tick in range(-ticks, ticks + 1)
    ]
    return _el("svg", *labels, class_="axis", aria_hidden="true")


def _forest_row(
    comparison: Document, result: Document, scaled: _Scaled, axis: tuple[float, float], lower: bool
) -> _Html:
    metric, primary, verdict = result["metric"], comparison["primary"], _verdict(result)
    means = f"{_share(result.get('mean_first'))} → {_share(result.get('mean_second'))}, n = {_whole(result.get('n'))}"
    p = result.get("p") if result.get("p_adjusted") is None else result["p_adjusted"]
    counts = " / ".join(_whole(result.get(key)) for key in ("wins", "ties", "losses"))
    return _el(
        "tr",
        _metric_name(metric, primary, lower, _el("small", means)),
        _el("td", _plot(comparison, result, scaled, axis, lower), class_="plot"),
        _el(
            "td",
            _el("span", scaled.text(scaled.difference), class_="value"),
            " ",
            _el("small", scaled.interval(), class_="range"),
            class_="number",
        ),
        _el("td", _el("span", "p ", class_="label"), _p(p), class_="number"),
        _el("td", _el("span", "wins / ties / losses ", class_="label"), counts, class_="number"),
        _el(
            "td",
            _el("span", "detectable ", class_="label"),
            scaled.text(_finite(result.get("mde")), sign=False),
            class_="number",
        ),
        _el("td", _verdict_chip(verdict)),
        class_=f"{verdict} primary" if metric == primary else verdict,
    )


def _plot(comparison: Document, result: Document, scaled: _Scaled, axis: tuple[float, float], lower: bool) -> _Html:
    step, widest = axis
    metric, verdict = result["metric"], _verdict(result)
    title = _el("title", f"{metric}: {scaled.text(scaled.difference)}{scaled.unit}, {verdict}")
    described = _el(
        "desc",
        f"{comparison['second']} minus {comparison['first']}, {scaled.level}{_NBSP}% interval {scaled.interval()}",
        scaled.unit,
        "; less is better" if lower else "",
    )
    margin = min(_finite(comparison["margin"]) or 0.0, widest)
    ticks = round(widest / step)
    lines = [
        _el("line", x1=x, x2=x, y1="0", y2="100%", class_="zero" if tick == 0 else "tick")
        for tick in range(-ticks, ticks + 1)
        for x in [_x(tick * step, widest)]
    ]
    band = _el("rect", x=_x(-margin, widest), y="0", width=f"{92.0 * margin / widest:.2f}%", height="100%")
    shown = _mark(scaled, widest, metric == comparison["primary"]) if scaled.drawable else _off_scale(scaled)
    return _el("svg", title, described, _el("g", band, class_="band"), *lines, shown, role="img", class_="row")


def _mark(scaled: _Scaled, widest: float, primary: bool) -> _Html:
    """Draw an interval with its ends; the difference is a diamond for the primary metric, else a dot."""
    low, high, middle = (_x(value or 0.0, widest) for value in (scaled.low, scaled.high, scaled.difference))
    whiskers = [_el("svg", _el("path", d="M0 -4V4"), x=end, y="50%", class_="at") for end in dict.fromkeys((low, high))]
    shape = _el("path", d="M0 -7L7 0L0 7L-7 0Z") if primary else _el("circle", r="4")
    return _el(
        "g",
        _el("line", x1=low, x2=high, y1="50%", y2="50%"),
        *whiskers,
        _el("svg", shape, x=middle, y="50%", class_="at"),
        class_="interval",
    )


def _off_scale(scaled: _Scaled) -> _Html:
    text = "no figure" if scaled.in_points else "not on this scale"
    return _el("text", text, x="50%", y="50%", dy="0.35em", text_anchor="middle", class_="off")


def _having(document: Document, part: str) -> list[Document]:
    """Return the profiles that ``part`` applies to."""
    return [profile for profile in document["profiles"] if profile.get(part)]


def _abstention(document: Document) -> _Html | None:
    profiles = _having(document, "abstention")
    if not profiles:
        return None
    note = (
        "Abstaining seen as a search for the unanswerable questions: precision is the share of the abstentions that "
        "were right, recall the share of the unanswerable questions that were abstained from. AUROC is the chance "
        "that an answerable question has more confidence than an unanswerable one, wherever the threshold lies: 0.5 "
        f"tells nothing, 1 parts them. With 95{_NBSP}% bootstrap intervals over questions."
    )
    head = ["", *(_el("th", _wrapping(profile["name"]), scope="col", class_="number") for profile in profiles)]
    found = [profile["abstention"] for profile in profiles]

    def row(name: str, cells: Iterable[_Html]) -> _Html:
        return _el("tr", _el("th", name, scope="row"), *(_el("td", cell, class_="number") for cell in cells))

    rows = [
        row("Precision", (_estimate(item.get("precision"), _share) for item in found)),
        row("Recall", (_estimate(item.get("recall"), _share) for item in found)),
        row("AUROC", (_estimate(item.get("auroc"), lambda value: _fixed(value, 3)) for item in found)),
        row("Abstained, of which rightly", (_pair(item, "abstained", "abstained_rightly") for item in found)),
        row("Answerable, unanswerable", (_pair(item, "answerable", "unanswerable") for item in found)),
    ]
    return _section(
        "abstention", "Abstention", _el("p", note, class_="quiet"), _table(head, rows, "metrics pinned abstention")
    )


def _estimate(estimate: Document | None, written: Callable[[object], str]) -> _Html:
    if not estimate:
        return _Html(_NONE)
    unit = f"{_NBSP}%"
    low, high = (written(estimate.get(end)).removesuffix(unit) for end in ("low", "high"))
    value = _el("span", written(estimate.get("value")), class_="value")
    return _join([value, " ", _el("small", f"{low} to {high}", class_="range")])


def _pair(item: Document, first: str, second: str) -> _Html:
    return _join([f"{_whole(item.get(first))}, {_whole(item.get(second))}"])


def _repeats(document: Document) -> _Html | None:
    profiles = _having(document, "repeats")
    if not profiles:
        return None
    primary = document["primary"]
    note = (
        f"What asking {_whole(document['run'].get('repeat'))} times changed: the standard deviation, in points, "
        f"between the means of the repeats, and the questions whose {primary} was not the same in all of them. "
        "Questions that failed in a repeat are left out."
    )
    head = ["Metric", *(_el("th", _wrapping(profile["name"]), scope="col", class_="number") for profile in profiles)]
    found = [profile["repeats"] for profile in profiles]
    names = sorted(dict.fromkeys(name for item in found for name in item["deviations"]), key=lambda n: n != primary)
    rows = [
        _el(
            "tr",
            # Whichever way is better, less deviation is.
            _metric_name(name, primary, False),
            *(_el("td", _deviation(item["deviations"].get(name)), class_="number") for item in found),
            class_="primary" if name == primary else "",
        )
        for name in names
    ]
    unstable = (_el("td", _unstable(item), class_="number") for item in found)
    rows.append(_el("tr", _el("th", "Unstable questions", scope="row"), *unstable))
    table = _table(head, rows, "metrics pinned")
    return _section("repeats", "Repeats", _el("p", note, class_="quiet"), table, *map(_unstable_ids, profiles))


def _deviation(value: object) -> str:
    number = _finite(value)
    return _NONE if number is None else _fixed(number * 100, 2)


def _unstable(item: Document) -> str:
    return f"{_whole(len(item['unstable']))} of {_whole(item.get('judged'))} ({_share(item.get('unstable_share'))})"


def _unstable_ids(profile: Document) -> _Html | None:
    ids = profile["repeats"]["unstable"]
    if not ids:
        return None
    listed = _el("p", *(part for id_ in ids for part in (_code(id_), " ")))
    return _el("details", _el("summary", f"Unstable under {profile['name']}"), listed)


def _flips(document: Document) -> _Html:
    parts = [_flips_of(comparison, document) for comparison in document["comparisons"]]
    if not parts:
        parts = [_el("p", "One profile, nothing that changed.", class_="quiet")]
    return _section("flips", "Flips", *parts)


def _flips_of(comparison: Document, document: Document) -> _Html:
    found = document["flips"].get(comparison["second"], [])
    lower = _lower(document, document["primary"])
    worse = sum(_is_worse(flip, lower) for flip in found)
    title = f"{comparison['second']} against {comparison['first']}"
    counts = f"{_count(len(found) - worse, 'question')} got better, {worse} got worse on {document['primary']}."
    if not found:
        counts = f"{document['primary']} is the same for every question."
    entries = [_flip(flip, document["primary"], lower, place == 0) for place, flip in enumerate(found)]
    return _el("div", _el("h3", title), _el("p", counts, class_="quiet"), *entries, class_="flips")


def _is_worse(flip: Document, lower: bool) -> bool:
    return ((_finite(flip.get("difference")) or 0.0) < 0.0) != lower


def _flip(flip: Document, primary: str, lower: bool, is_open: bool) -> _Html:
    worse = _is_worse(flip, lower)
    difference = _finite(flip.get("difference"))
    change = f"{primary} {_points_signed(difference)}"
    if difference is not None and abs(difference) == 1.0:
        change = "right → wrong" if worse else "wrong → right"
    sides = flip["sides"]
    everywhere = [set(map(str, side["ranking"])) for side in sides]
    shared = set.intersection(*everywhere) if everywhere else set()
    return _el(
        "details",
        _el(
            "summary",
            _el("span", change, class_=f"chip {'regressed' if worse else 'improved'}"),
            _el("span", flip.get("question") or flip["question_id"], class_="question"),
        ),
        _list_of([("Expected", _expected(flip["answers"])), ("Id", _code(flip["question_id"]))], "inline"),
        _el("div", *(_side(side, shared) for side in sides), class_="sides"),
        open=is_open,
    )


def _points_signed(value: float | None) -> str:
    return _NONE if value is None else f"{_fixed(value * 100, sign=True, trim=True)} points"


def _expected(answers: Sequence[object]) -> str:
    return " · ".join(map(str, answers)) if answers else "no answer: the pack cannot know"


def _side(side: Document, shared: set[str]) -> _Html:
    citations = [_citation(citation) for citation in side["citations"]]
    ranking = [_ranked(section, shared) for section in side["ranking"]]
    return _el(
        "div",
        _el("h4", side["profile"], " ", _el("small", _manner(side))),
        _answer(side.get("answer")),
        _el("h5", "Citations"),
        *(citations or [_el("p", "None.", class_="quiet")]),
        _el("h5", "Ranking"),
        _el("ol", *ranking) if ranking else _el("p", "Nothing was found.", class_="quiet"),
        _el("h5", "Reproduce"),
        _el("pre", side.get("command")),
        class_="side",
    )


def _answer(text: object) -> _Html:
    return _el("p", _clip(text), class_="answer") if text else _el("p", "No answer.", class_="answer quiet")


def _manner(sample: Document) -> str:
    return f"{sample.get('query_type') or 'unknown'}, confidence {_fixed(sample.get('confidence'), 2)}"


def _citation(citation: Document) -> _Html:
    place = f"{citation.get('section_id')} [{citation.get('start')}:{citation.get('end')}]"
    source = _el("footer", _el("cite", citation.get("title")), " ", _el("code", place))
    return _el("blockquote", _el("p", _clip(citation.get("quote"))), source)


def _ranked(section: object, shared: set[str]) -> _Html:
    only = None if str(section) in shared else _el("span", "only here", class_="tag soft")
    return _el("li", _el("code", section), " ", only)


def _state(sample: Document | None, primary: str, lower: bool) -> str:
    """Return what a profile made of a question: a key of ``_STATES``."""
    if sample is None:
        return "none"
    if sample.get("error") is not None:
        return "error"
    value = _finite(sample["metrics"].get(primary))
    if value is None:
        return "none"
    if lower:
        value = 1.0 - value
    return "right" if value >= 1.0 else "wrong" if value <= 0.0 else "partly"


def _questions(document: Document) -> _Html:
    names = [profile["name"] for profile in document["profiles"]]
    head = [
        "Question",
        "Type",
        *(_el("th", _wrapping(name), scope="col", class_="state") for name in names),
    ]
    primary = document["primary"]
    lower = _lower(document, primary)
    rows = [_question(question, names, primary, lower) for question in document["questions"]]
    note = f"By {document['primary']}"
    if _finite(document["run"].get("repeat")) not in (None, 1.0):
        note += ", as the first of the repeats had it"
    note += ". Open a question to see what was answered."
    table = _table(head, rows, "questions")
    return _section("questions", "Questions", _el("p", note, class_="quiet"), _filters(), table)


def _filters() -> _Html:
    """The form is filled and shown by the script; without it there is nothing to filter with."""
    verdicts = [_el("option", "any verdict", value="")]
    verdicts += [_el("option", words, value=key) for key, (_, words) in _STATES.items()]
    any_profile = _el("option", "any profile", value="")
    return _el(
        "form",
        _el("label", "Text", _el("input", type="search", name="text", autocomplete="off")),
        _el("label", "Type", _el("select", _el("option", "any type", value=""), name="type")),
        _el("label", "Profile", _el("select", any_profile, name="profile")),
        _el("label", "Verdict", _el("select", *verdicts, name="verdict")),
        _el("label", _el("input", type="checkbox", name="changed"), "Only changed", class_="check"),
        _el("button", "Reset", type="reset"),
        _el("output", name="count", aria_live="polite"),
        id="filters",
        hidden=True,
    )


def _question(question: Document, names: Sequence[str], primary: str, lower: bool) -> _Html:
    asked = question["by_profile"]
    meta = [
        ("Expected", _expected(question["answers"])),
        ("Id", _join([_code(question.get("id")), f" line {_whole(question.get('line'))}"])),
    ]
    details = _el(
        "details",
        _el("summary", question["question"]),
        _list_of(meta, "inline"),
        *(_asked(name, asked[name]) for name in names if name in asked),
    )
    states = (_state_cell(name, _state(asked.get(name), primary, lower)) for name in names)
    return _el("tr", _el("td", details), _el("td", question["type"], class_="type quiet"), *states)


def _state_cell(name: str, state: str) -> _Html:
    mark, words = _STATES[state]
    return _el(
        "td",
        _el("span", name, class_="label"),
        _el("span", mark, aria_hidden="true"),
        " ",
        _el("span", words, class_="words"),
        class_=f"state {state}",
    )


def _asked(name: str, sample: Document) -> _Html:
    failed = sample.get("error") is not None
    metrics = " · ".join(f"{metric} {_fixed(value, 3, trim=True)}" for metric, value in sample["metrics"].items())
    return _el(
        "div",
        _el("h4", name, " ", _el("small", "failed" if failed else _manner(sample))),
        _el("p", _clip(sample["error"]), class_="answer failed") if failed else _answer(sample.get("answer")),
        _el("p", metrics, class_="figures") if metrics else None,
        class_="asked",
    )


def _latency(document: Document) -> _Html:
    columns = [
        (profile["name"], kind, times)
        for profile in document["profiles"]
        for kind, times in (("", profile["latency"]), ("cached", profile.get("latency_cached")))
        if times
    ]
    stages = dict.fromkeys(stage for _, _, times in columns for stage in times)
    if not stages:
        return _section("latency", "Latency", _el("p", "No answer was timed.", class_="quiet"))
    ordered = sorted(stages, key=lambda stage: stage == "total")
    head = [
        "Stage",
        *(
            _el(
                "th",
                _wrapping(name),
                _el("small", f" {kind}{', ' if kind else ''}p50 / p95"),
                scope="col",
                class_="number",
            )
            for name, kind, _ in columns
        ),
    ]
    rows = [
        _el(
            "tr",
            _el("th", stage, scope="row"),
            *(_el("td", _times(times.get(stage) or {}), class_="number") for _, _, times in columns),
            class_="primary" if stage == "total" else "",
        )
        for stage in ordered
    ]
    note = "Milliseconds: half of the answers took p50 or less, 95 in 100 took p95 or less."
    if any(kind for _, kind, _ in columns):
        note += " Answers whose model's reply came from a cache are counted apart."
    return _section("latency", "Latency", _el("p", note, class_="quiet"), _table(head, rows, "pinned"))


def _times(stage: Document) -> _Html:
    slow = _el("span", _milliseconds(stage.get("p95")), class_="second")
    return _join([_el("span", _milliseconds(stage.get("p50"))), _el("span", " / ", class_="quiet"), slow])


def _milliseconds(value: object) -> str:
    number = _finite(value)
    return _NONE if number is None else _fixed(number, 0 if abs(number) >= 100 else 1)


def _usage(document: Document) -> _Html:
    columns = ("Samples", "Errors", "Degraded", "Abstained", "Cached", "Calls", "Tokens in", "Tokens out", "Cost, USD")
    head = ["Profile", *(_el("th", column, scope="col", class_="number") for column in columns)]
    rows = [
        _el(
            "tr",
            _el("th", profile["name"], scope="row"),
            *(_el("td", text, class_="number") for text in _used(profile)),
        )
        for profile in document["profiles"]
    ]
    return _section("usage", "Usage and cost", _table(head, rows, "pinned"))


def _used(profile: Document) -> list[str]:
    usage = profile.get("usage") or {}
    cost = _finite(usage.get("cost_usd"))
    counts = [_whole(profile.get(key)) for key in ("samples", "errors", "degraded", "abstained")]
    counts += [_whole(usage.get(key)) for key in ("cached", "calls", "input_tokens", "output_tokens")]
    return [*counts, "unknown" if cost is None else _fixed(cost, 4)]


def _making(document: Document) -> _Html:
    run = document["run"]
    rows = [
        ("Command", _el("code", " ".join(["wikigr", *map(str, run.get("argv", ()))]))),
        ("Encoder", _el("code", _words(run.get("encoder") or {}))),
        ("Versions", _el("code", _words(run.get("versions") or {}))),
    ]
    profiles = [
        _el("details", _el("summary", f"Profile {name}"), _el("pre", _pretty(values)))
        for name, values in run["profiles"].items()
    ]
    return _section("making", "Making", _list_of(rows, "rows"), *profiles)


def _words(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())


def _pretty(values: object) -> str:
    return json.dumps(values, ensure_ascii=False, indent=2, default=str)


def _data(document: Document) -> _Html:
    """Return what the filters work on, a list for each row of the table of questions."""
    names = [str(profile["name"]) for profile in document["profiles"]]
    types = sorted({str(question["type"]) for question in document["questions"]})
    primary = document["primary"]
    lower = _lower(document, primary)
    rows = []
    for question in document["questions"]:
        asked = [question["by_profile"].get(name) for name in names]
        states = [_state(sample, primary, lower) for sample in asked]
        rows.append([types.index(str(question["type"])), int(_changed(asked, states, primary)), states])
    text = json.dumps({"profiles": names, "types": types, "rows": rows}, separators=(",", ":"))
    return _el("script", _Html(text.replace("<", "\\u003c")), type="application/json", id="data")


def _changed(asked: Sequence[Document | None], states: Sequence[str], primary: str) -> bool:
    """Whether two profiles that both have a figure differ in it."""
    values = {
        _finite(sample["metrics"].get(primary))
        for sample, state in zip(asked, states, strict=True)
        if sample is not None and state not in ("none", "error")
    }
    return len(values) > 1
