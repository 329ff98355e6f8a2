"""The report as one HTML file: no network, readable without JavaScript, and all that it is made from is untrusted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from wikigr.evaluation.reports.html_figures import (
    NBSP,
    NO_FIGURE,
    Document,
    ScaledResult,
    as_share,
    as_whole,
    clipped,
    count_of,
    finite,
    fixed_point,
    less_is_better,
    metric_name,
    p_in_words,
    verdict_chip,
    verdict_of,
)
from wikigr.evaluation.reports.html_forest import differences
from wikigr.evaluation.reports.html_markup import (
    Html,
    description_list,
    el,
    html_section,
    html_table,
    join_html,
    wrapping_name,
)

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
_STATES = {
    "right": ("✓", "right"),
    "partly": ("◐", "partly right"),
    "wrong": ("✗", "wrong"),
    "none": (NO_FIGURE, "not scored"),
    "error": ("!", "error"),
}


def html_report(document: Mapping[str, Any]) -> str:
    """Return the report on ``document``, as ``report_document`` makes it, as one self-contained HTML file.

    The same document gives the same bytes. Numbers that are missing or not finite are shown as a dash.
    """
    body = el(
        "body",
        _header(document),
        el(
            "main",
            _verdicts(document),
            _warnings(document),
            _metrics(document),
            differences(document),
            _abstention(document),
            _repeats(document),
            _flips(document),
            _questions(document),
            _latency(document),
            _usage(document),
            _making(document),
        ),
        _data(document),
        el("script", _asset("report.js")),
    )
    page = f"<!DOCTYPE html>\n{el('html', _head(document), body, lang='en')}\n"
    # Half a surrogate pair can stand in JSON, but not in UTF-8.
    return page.encode("utf-8", "replace").decode("utf-8")


def _asset(name: str) -> Html:
    return Html("\n" + files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _head(document: Document) -> Html:
    pack = document["run"]["pack"]
    return el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", f"Evaluation of {pack.get('name')}: wikigr"),
        el("style", _asset("report.css")),
    )


def _header(document: Document) -> Html:
    run = document["run"]
    pack, questions = run["pack"], run["questions"]
    split = f", split {questions['split']}" if questions.get("split") else ""
    facts = [
        ("Pack", join_html([f"{pack.get('name')} {pack.get('version', '')}", _code(pack.get("digest"))])),
        (
            "Questions",
            join_html(
                [
                    f"{as_whole(questions.get('count'))} of {questions.get('path')}{split}",
                    _code(questions.get("hash")),
                ]
            ),
        ),
        ("wikigr", join_html([run.get("wikigr_version"), _code(_commit(run))])),
        ("Primary metric", join_html([document["primary"], el("small", f"margin ±{_points(document['margin'])}")])),
        ("Seed", join_html([run.get("seed"), el("small", f"{as_whole(run.get('repeat'))} × each question")])),
        (
            "Judge",
            join_html([run.get("judge"), el("small", "offline" if run.get("offline") else "models may be asked")]),
        ),
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
    return el(
        "header",
        el("p", "wikigr · evaluation", class_="kicker"),
        el("h1", pack.get("name")),
        description_list(facts, "facts"),
        el("nav", *(el("a", part.capitalize(), href=f"#{part}") for part in parts), aria_label="Parts of the report"),
    )


def _code(value: object) -> Html:
    return el("code", value or NO_FIGURE)


def _commit(run: Document) -> str:
    known = str(run.get("commit") or "unknown commit")
    return f"{known} + uncommitted changes" if run.get("dirty") else known


def _points(value: object) -> str:
    number = finite(value)
    return NO_FIGURE if number is None else f"{fixed_point(number * 100, trim=True)} points"


def _primary(comparison: Document) -> Document | None:
    return next((r for r in comparison["results"] if r["metric"] == comparison["primary"]), None)


def _sentence(comparison: Document, lower: bool) -> str:
    """Say in plain words what a comparison found on its primary metric."""
    first, second, metric = comparison["first"], comparison["second"], comparison["primary"]
    result = _primary(comparison)
    if result is None:
        return f"{first} and {second} have no question in common that {metric} applies to."
    scaled, verdict = ScaledResult(result), verdict_of(result)
    by = f"{scaled.text(scaled.difference, trim=True)}{scaled.unit}"
    evidence = f"({scaled.level}{NBSP}% interval {scaled.interval(trim=True)}), {p_in_words(result.get('p'))}, "
    evidence += count_of(result.get("n"), "question")
    if verdict == "equivalent":
        margin = _points(comparison["margin"])
        return f"{second} equals {first} on {metric} within ±{margin}: {by} {evidence}."
    if verdict == "inconclusive":
        return f"It is not clear whether {second} changes {metric}: {by} {evidence}."
    note = "; less is better" if lower else ""
    return f"{second} {'improved' if verdict == 'improved' else 'worsened'} {metric} by {by} {evidence}{note}."


def _verdicts(document: Document) -> Html:
    cards = [
        _card(comparison, less_is_better(document, comparison["primary"])) for comparison in document["comparisons"]
    ]
    if not cards:
        name = document["profiles"][0]["name"] if document["profiles"] else None
        text = "No profile has samples." if name is None else f"Only {name} was run: there is nothing to compare."
        if len(document["profiles"]) > 1:
            text = "No question was answered by two profiles: there is nothing to compare."
        cards.append(el("p", text, class_="quiet"))
    return html_section("verdicts", "Verdicts", *cards)


def _card(comparison: Document, lower: bool) -> Html:
    result = _primary(comparison)
    verdict = "inconclusive" if result is None else verdict_of(result)
    return el(
        "article",
        verdict_chip(verdict),
        el("p", _sentence(comparison, lower), class_="sentence"),
        None if result is None else el("p", _counts(comparison, result), class_="quiet"),
        class_=f"card {verdict}",
    )


def _counts(comparison: Document, result: Document) -> str:
    scaled = ScaledResult(result)
    means = [as_share(result.get(key)) for key in ("mean_first", "mean_second")]
    wins, ties, losses = (as_whole(result.get(key)) for key in ("wins", "ties", "losses"))
    told = f"{comparison['first']} {means[0]} → {comparison['second']} {means[1]}, with {wins} wins, {ties} ties and "
    told += f"{losses} losses."
    mde = finite(result.get("mde"))
    if mde is None:
        return told
    detectable = scaled.text(mde, sign=False, trim=True)
    return f"{told} Four times in five, so many questions would show a difference of {detectable}{scaled.unit}."


def _warnings(document: Document) -> Html:
    found = [*_profile_warnings(document), *_run_warnings(document)]
    if not found:
        return el("p", "No answer failed, none was degraded, and no few-shot example leaks a question.", class_="calm")
    items = el("ul", *(el("li", item) for item in found))
    return el("aside", el("h2", "Before you trust this"), items, class_="warnings", id="warnings")


def _profile_warnings(document: Document) -> list[Html]:
    found = []
    for profile in document["profiles"]:
        name, samples = profile["name"], as_whole(profile.get("samples"))
        if profile.get("errors"):
            text = f"{name}: {as_whole(profile['errors'])} of {samples} answers failed; they count as neither right "
            text += "nor wrong."
            found.append(join_html([text, _errors(document, name)]))
        if profile.get("degraded"):
            text = (
                f"{name}: {as_whole(profile['degraded'])} of {samples} answers were made without a stage that failed."
            )
            found.append(join_html([text]))
    return found


def _errors(document: Document, profile: object) -> Html | None:
    """List the most frequent messages of a profile's failures."""
    by_profile = (question["by_profile"].get(profile) or {} for question in document["questions"])
    messages = Counter(str(sample["error"]) for sample in by_profile if sample.get("error") is not None)
    if not messages:
        return None
    most = sorted(messages.items(), key=lambda item: (-item[1], item[0]))[:5]
    return el("ul", *(el("li", f"{count} × {clipped(message)}") for message, count in most))


def _run_warnings(document: Document) -> list[Html]:
    run = document["run"]
    found = [str(notice) for notice in document.get("notices", ())]
    found += [
        f"{comparison['first']} and {comparison['second']}: {count_of(comparison['unpaired'], 'question')} that only "
        "one of them answered are left out."
        for comparison in document["comparisons"]
        if comparison.get("unpaired")
    ]
    found += [
        f"Few-shot example {leak.get('example')} gives the question {leak.get('question_id')} away (similarity "
        f"{fixed_point(leak.get('similarity'), 2)}); it was taken out of every prompt."
        for leak in run.get("leaks", ())
    ]
    if run.get("dirty"):
        found.append("The code had uncommitted changes: its commit does not say what ran.")
    return [join_html([text]) for text in found]


def _metrics(document: Document) -> Html:
    profiles, primary = document["profiles"], document["primary"]
    names = dict.fromkeys(name for profile in profiles for name in profile["metrics"])
    ordered = sorted(names, key=lambda name: name != primary)
    head = [
        "Metric",
        *(el("th", wrapping_name(profile["name"]), scope="col", class_="number") for profile in profiles),
        el("th", "Questions", scope="col", class_="number"),
    ]
    rows = [_metric_row(name, profiles, primary, less_is_better(document, name)) for name in ordered]
    note = (
        f"Means over questions, with their 95{NBSP}% bootstrap intervals. Intervals that overlap do not say that two "
        "profiles are alike: the differences below are paired by question."
    )
    return html_section("metrics", "Metrics", el("p", note, class_="quiet"), html_table(head, rows, "metrics pinned"))


def _metric_row(name: str, profiles: Sequence[Document], primary: str, lower: bool) -> Html:
    values = [profile["metrics"].get(name) or {} for profile in profiles]
    cells = (
        el(
            "td",
            el("span", as_share(value.get("mean")), class_="value"),
            " ",
            el("small", f"{_share_range(value)}", class_="range") if value else None,
            class_="number",
        )
        for value in values
    )
    counts = sorted({finite(value.get("questions")) or 0.0 for value in values if value})
    count = NO_FIGURE if not counts else "–".join(as_whole(count) for count in dict.fromkeys((counts[0], counts[-1])))
    class_ = "primary" if name == primary else ""
    return el("tr", metric_name(name, primary, lower), *cells, el("td", count, class_="number quiet"), class_=class_)


def _share_range(value: Document) -> str:
    unit = f"{NBSP}%"
    low, high = (as_share(value.get(end)).removesuffix(unit) for end in ("low", "high"))
    return f"{low} to {high}"


def _having(document: Document, part: str) -> list[Document]:
    """Return the profiles that ``part`` applies to."""
    return [profile for profile in document["profiles"] if profile.get(part)]


def _abstention(document: Document) -> Html | None:
    profiles = _having(document, "abstention")
    if not profiles:
        return None
    note = (
        "Abstaining seen as a search for the unanswerable questions: precision is the share of the abstentions that "
        "were right, recall the share of the unanswerable questions that were abstained from. AUROC is the chance "
        "that an answerable question has more confidence than an unanswerable one, wherever the threshold lies: 0.5 "
        f"tells nothing, 1 parts them. With 95{NBSP}% bootstrap intervals over questions."
    )
    head = ["", *(el("th", wrapping_name(profile["name"]), scope="col", class_="number") for profile in profiles)]
    found = [profile["abstention"] for profile in profiles]

    def row(name: str, cells: Iterable[Html]) -> Html:
        return el("tr", el("th", name, scope="row"), *(el("td", cell, class_="number") for cell in cells))

    rows = [
        row("Precision", (_estimate(item.get("precision"), as_share) for item in found)),
        row("Recall", (_estimate(item.get("recall"), as_share) for item in found)),
        row("AUROC", (_estimate(item.get("auroc"), lambda value: fixed_point(value, 3)) for item in found)),
        row("Abstained, of which rightly", (_pair(item, "abstained", "abstained_rightly") for item in found)),
        row("Answerable, unanswerable", (_pair(item, "answerable", "unanswerable") for item in found)),
    ]
    return html_section(
        "abstention", "Abstention", el("p", note, class_="quiet"), html_table(head, rows, "metrics pinned abstention")
    )


def _estimate(estimate: Document | None, written: Callable[[object], str]) -> Html:
    if not estimate:
        return Html(NO_FIGURE)
    unit = f"{NBSP}%"
    low, high = (written(estimate.get(end)).removesuffix(unit) for end in ("low", "high"))
    value = el("span", written(estimate.get("value")), class_="value")
    return join_html([value, " ", el("small", f"{low} to {high}", class_="range")])


def _pair(item: Document, first: str, second: str) -> Html:
    return join_html([f"{as_whole(item.get(first))}, {as_whole(item.get(second))}"])


def _repeats(document: Document) -> Html | None:
    profiles = _having(document, "repeats")
    if not profiles:
        return None
    primary = document["primary"]
    note = (
        f"What asking {as_whole(document['run'].get('repeat'))} times changed: the standard deviation, in points, "
        f"between the means of the repeats, and the questions whose {primary} was not the same in all of them. "
        "Questions that failed in a repeat are left out."
    )
    head = ["Metric", *(el("th", wrapping_name(profile["name"]), scope="col", class_="number") for profile in profiles)]
    found = [profile["repeats"] for profile in profiles]
    names = sorted(dict.fromkeys(name for item in found for name in item["deviations"]), key=lambda n: n != primary)
    rows = [
        el(
            "tr",
            # Whichever way is better, less deviation is.
            metric_name(name, primary, False),
            *(el("td", _deviation(item["deviations"].get(name)), class_="number") for item in found),
            class_="primary" if name == primary else "",
        )
        for name in names
    ]
    unstable = (el("td", _unstable(item), class_="number") for item in found)
    rows.append(el("tr", el("th", "Unstable questions", scope="row"), *unstable))
    table = html_table(head, rows, "metrics pinned")
    return html_section("repeats", "Repeats", el("p", note, class_="quiet"), table, *map(_unstable_ids, profiles))


def _deviation(value: object) -> str:
    number = finite(value)
    return NO_FIGURE if number is None else fixed_point(number * 100, 2)


def _unstable(item: Document) -> str:
    return (
        f"{as_whole(len(item['unstable']))} of {as_whole(item.get('judged'))} ({as_share(item.get('unstable_share'))})"
    )


def _unstable_ids(profile: Document) -> Html | None:
    ids = profile["repeats"]["unstable"]
    if not ids:
        return None
    listed = el("p", *(part for id_ in ids for part in (_code(id_), " ")))
    return el("details", el("summary", f"Unstable under {profile['name']}"), listed)


def _flips(document: Document) -> Html:
    parts = [_flips_of(comparison, document) for comparison in document["comparisons"]]
    if not parts:
        parts = [el("p", "One profile, nothing that changed.", class_="quiet")]
    return html_section("flips", "Flips", *parts)


def _flips_of(comparison: Document, document: Document) -> Html:
    found = document["flips"].get(comparison["second"], [])
    lower = less_is_better(document, document["primary"])
    worse = sum(_is_worse(flip, lower) for flip in found)
    title = f"{comparison['second']} against {comparison['first']}"
    counts = f"{count_of(len(found) - worse, 'question')} got better, {worse} got worse on {document['primary']}."
    if not found:
        counts = f"{document['primary']} is the same for every question."
    entries = [_flip(flip, document["primary"], lower, place == 0) for place, flip in enumerate(found)]
    return el("div", el("h3", title), el("p", counts, class_="quiet"), *entries, class_="flips")


def _is_worse(flip: Document, lower: bool) -> bool:
    return ((finite(flip.get("difference")) or 0.0) < 0.0) != lower


def _flip(flip: Document, primary: str, lower: bool, is_open: bool) -> Html:
    worse = _is_worse(flip, lower)
    difference = finite(flip.get("difference"))
    change = f"{primary} {_points_signed(difference)}"
    if difference is not None and abs(difference) == 1.0:
        change = "right → wrong" if worse else "wrong → right"
    sides = flip["sides"]
    everywhere = [set(map(str, side["ranking"])) for side in sides]
    shared = set.intersection(*everywhere) if everywhere else set()
    return el(
        "details",
        el(
            "summary",
            el("span", change, class_=f"chip {'regressed' if worse else 'improved'}"),
            el("span", flip.get("question") or flip["question_id"], class_="question"),
        ),
        description_list([("Expected", _expected(flip["answers"])), ("Id", _code(flip["question_id"]))], "inline"),
        el("div", *(_side(side, shared) for side in sides), class_="sides"),
        open=is_open,
    )


def _points_signed(value: float | None) -> str:
    return NO_FIGURE if value is None else f"{fixed_point(value * 100, sign=True, trim=True)} points"


def _expected(answers: Sequence[object]) -> str:
    return " · ".join(map(str, answers)) if answers else "no answer: the pack cannot know"


def _side(side: Document, shared: set[str]) -> Html:
    citations = [_citation(citation) for citation in side["citations"]]
    ranking = [_ranked(section, shared) for section in side["ranking"]]
    return el(
        "div",
        el("h4", side["profile"], " ", el("small", _manner(side))),
        _answer(side.get("answer")),
        el("h5", "Citations"),
        *(citations or [el("p", "None.", class_="quiet")]),
        el("h5", "Ranking"),
        el("ol", *ranking) if ranking else el("p", "Nothing was found.", class_="quiet"),
        el("h5", "Reproduce"),
        el("pre", side.get("command")),
        class_="side",
    )


def _answer(text: object) -> Html:
    return el("p", clipped(text), class_="answer") if text else el("p", "No answer.", class_="answer quiet")


def _manner(sample: Document) -> str:
    return f"{sample.get('query_type') or 'unknown'}, confidence {fixed_point(sample.get('confidence'), 2)}"


def _citation(citation: Document) -> Html:
    place = f"{citation.get('section_id')} [{citation.get('start')}:{citation.get('end')}]"
    source = el("footer", el("cite", citation.get("title")), " ", el("code", place))
    return el("blockquote", el("p", clipped(citation.get("quote"))), source)


def _ranked(section: object, shared: set[str]) -> Html:
    only = None if str(section) in shared else el("span", "only here", class_="tag soft")
    return el("li", el("code", section), " ", only)


def _state(sample: Document | None, primary: str, lower: bool) -> str:
    """Return what a profile made of a question: a key of ``_STATES``."""
    if sample is None:
        return "none"
    if sample.get("error") is not None:
        return "error"
    value = finite(sample["metrics"].get(primary))
    if value is None:
        return "none"
    if lower:
        value = 1.0 - value
    return "right" if value >= 1.0 else "wrong" if value <= 0.0 else "partly"


def _questions(document: Document) -> Html:
    names = [profile["name"] for profile in document["profiles"]]
    head = [
        "Question",
        "Type",
        *(el("th", wrapping_name(name), scope="col", class_="state") for name in names),
    ]
    primary = document["primary"]
    lower = less_is_better(document, primary)
    rows = [_question(question, names, primary, lower) for question in document["questions"]]
    note = f"By {document['primary']}"
    if finite(document["run"].get("repeat")) not in (None, 1.0):
        note += ", as the first of the repeats had it"
    note += ". Open a question to see what was answered."
    table = html_table(head, rows, "questions")
    return html_section("questions", "Questions", el("p", note, class_="quiet"), _filters(), table)


def _filters() -> Html:
    """The form is filled and shown by the script; without it there is nothing to filter with."""
    verdicts = [el("option", "any verdict", value="")]
    verdicts += [el("option", words, value=key) for key, (_, words) in _STATES.items()]
    any_profile = el("option", "any profile", value="")
    return el(
        "form",
        el("label", "Text", el("input", type="search", name="text", autocomplete="off")),
        el("label", "Type", el("select", el("option", "any type", value=""), name="type")),
        el("label", "Profile", el("select", any_profile, name="profile")),
        el("label", "Verdict", el("select", *verdicts, name="verdict")),
        el("label", el("input", type="checkbox", name="changed"), "Only changed", class_="check"),
        el("button", "Reset", type="reset"),
        el("output", name="count", aria_live="polite"),
        id="filters",
        hidden=True,
    )


def _question(question: Document, names: Sequence[str], primary: str, lower: bool) -> Html:
    asked = question["by_profile"]
    meta = [
        ("Expected", _expected(question["answers"])),
        ("Id", join_html([_code(question.get("id")), f" line {as_whole(question.get('line'))}"])),
    ]
    details = el(
        "details",
        el("summary", question["question"]),
        description_list(meta, "inline"),
        *(_asked(name, asked[name]) for name in names if name in asked),
    )
    states = (_state_cell(name, _state(asked.get(name), primary, lower)) for name in names)
    return el("tr", el("td", details), el("td", question["type"], class_="type quiet"), *states)


def _state_cell(name: str, state: str) -> Html:
    mark, words = _STATES[state]
    return el(
        "td",
        el("span", name, class_="label"),
        el("span", mark, aria_hidden="true"),
        " ",
        el("span", words, class_="words"),
        class_=f"state {state}",
    )


def _asked(name: str, sample: Document) -> Html:
    failed = sample.get("error") is not None
    metrics = " · ".join(f"{metric} {fixed_point(value, 3, trim=True)}" for metric, value in sample["metrics"].items())
    return el(
        "div",
        el("h4", name, " ", el("small", "failed" if failed else _manner(sample))),
        el("p", clipped(sample["error"]), class_="answer failed") if failed else _answer(sample.get("answer")),
        el("p", metrics, class_="figures") if metrics else None,
        class_="asked",
    )


def _latency(document: Document) -> Html:
    columns = [
        (profile["name"], kind, times)
        for profile in document["profiles"]
        for kind, times in (("", profile["latency"]), ("cached", profile.get("latency_cached")))
        if times
    ]
    stages = dict.fromkeys(stage for _, _, times in columns for stage in times)
    if not stages:
        return html_section("latency", "Latency", el("p", "No answer was timed.", class_="quiet"))
    ordered = sorted(stages, key=lambda stage: stage == "total")
    head = [
        "Stage",
        *(
            el(
                "th",
                wrapping_name(name),
                el("small", f" {kind}{', ' if kind else ''}p50 / p95"),
                scope="col",
                class_="number",
            )
            for name, kind, _ in columns
        ),
    ]
    rows = [
        el(
            "tr",
            el("th", stage, scope="row"),
            *(el("td", _times(times.get(stage) or {}), class_="number") for _, _, times in columns),
            class_="primary" if stage == "total" else "",
        )
        for stage in ordered
    ]
    note = "Milliseconds: half of the answers took p50 or less, 95 in 100 took p95 or less."
    if any(kind for _, kind, _ in columns):
        note += " Answers whose model's reply came from a cache are counted apart."
    return html_section("latency", "Latency", el("p", note, class_="quiet"), html_table(head, rows, "pinned"))


def _times(stage: Document) -> Html:
    slow = el("span", _milliseconds(stage.get("p95")), class_="second")
    return join_html([el("span", _milliseconds(stage.get("p50"))), el("span", " / ", class_="quiet"), slow])


def _milliseconds(value: object) -> str:
    number = finite(value)
    return NO_FIGURE if number is None else fixed_point(number, 0 if abs(number) >= 100 else 1)


def _usage(document: Document) -> Html:
    columns = ("Samples", "Errors", "Degraded", "Abstained", "Cached", "Calls", "Tokens in", "Tokens out", "Cost, USD")
    head = ["Profile", *(el("th", column, scope="col", class_="number") for column in columns)]
    rows = [
        el(
            "tr",
            el("th", profile["name"], scope="row"),
            *(el("td", text, class_="number") for text in _used(profile)),
        )
        for profile in document["profiles"]
    ]
    return html_section("usage", "Usage and cost", html_table(head, rows, "pinned"))


def _used(profile: Document) -> list[str]:
    usage = profile.get("usage") or {}
    cost = finite(usage.get("cost_usd"))
    counts = [as_whole(profile.get(key)) for key in ("samples", "errors", "degraded", "abstained")]
    counts += [as_whole(usage.get(key)) for key in ("cached", "calls", "input_tokens", "output_tokens")]
    return [*counts, "unknown" if cost is None else fixed_point(cost, 4)]


def _making(document: Document) -> Html:
    run = document["run"]
    rows = [
        ("Command", el("code", " ".join(["wikigr", *map(str, run.get("argv", ()))]))),
        ("Encoder", el("code", _words(run.get("encoder") or {}))),
        ("Versions", el("code", _words(run.get("versions") or {}))),
    ]
    profiles = [
        el("details", el("summary", f"Profile {name}"), el("pre", _pretty(values)))
        for name, values in run["profiles"].items()
    ]
    return html_section("making", "Making", description_list(rows, "rows"), *profiles)


def _words(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())


def _pretty(values: object) -> str:
    return json.dumps(values, ensure_ascii=False, indent=2, default=str)


def _data(document: Document) -> Html:
    """Return what the filters work on, a list for each row of the table of questions."""
    names = [str(profile["name"]) for profile in document["profiles"]]
    types = sorted({str(question["type"]) for question in document["questions"]})
    primary = document["primary"]
    lower = less_is_better(document, primary)
    rows = []
    for question in document["questions"]:
        asked = [question["by_profile"].get(name) for name in names]
        states = [_state(sample, primary, lower) for sample in asked]
        rows.append([types.index(str(question["type"])), int(_changed(asked, states, primary)), states])
    text = json.dumps({"profiles": names, "types": types, "rows": rows}, separators=(",", ":"))
    return el("script", Html(text.replace("<", "\\u003c")), type="application/json", id="data")


def _changed(asked: Sequence[Document | None], states: Sequence[str], primary: str) -> bool:
    """Whether two profiles that both have a figure differ in it."""
    values = {
        finite(sample["metrics"].get(primary))
        for sample, state in zip(asked, states, strict=True)
        if sample is not None and state not in ("none", "error")
    }
    return len(values) > 1
