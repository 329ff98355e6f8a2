"""Text reports: tables for the terminal, Markdown, GitHub annotations and JUnit XML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from xml.etree import ElementTree

from wikigr.answer.presentation import LEVEL_WORDS
from wikigr.evaluation.gate import GateResult
from wikigr.evaluation.groups import SHOWN, GroupRow, hop_rows, type_rows
from wikigr.evaluation.statistics.wording import headline

Document = Mapping[str, Any]
Rows = list[list[str]]
Table = tuple[list[str], Rows]
"""The headings of a table and its rows; the first cell of a row is its name."""

_NONE = "—"


def profile_rows(document: Document) -> Table:
    """Return the table of metrics: one column per profile, one row per metric, with means and intervals."""
    profiles = document["profiles"]
    rows = [
        [
            _label(metric, document["primary"], document["metrics"].get(metric, {}).get("higher_is_better", True)),
            *(_estimate(profile["metrics"].get(metric), "mean") for profile in profiles),
        ]
        for metric in dict.fromkeys(metric for profile in profiles for metric in profile["metrics"])
    ]
    return ["metric", *(profile["name"] for profile in profiles)], rows


def legend(document: Document) -> str:
    """Return the legend of the table of metrics."""
    shown = {metric for profile in document["profiles"] for metric in profile["metrics"]}
    lower = any(not document["metrics"].get(metric, {}).get("higher_is_better", True) for metric in shown)
    return f"Means with 95% intervals; * the primary metric{'; ↓ lower is better' if lower else ''}."


def _label(metric: str, primary: str, higher_is_better: bool) -> str:
    return metric + ("" if higher_is_better else " ↓") + (" *" if metric == primary else "")


def _estimate(found: Mapping[str, Any] | None, key: str = "value", *, of: int | None = None) -> str:
    """Return a figure with its interval, of ``of`` answers, or a dash without a figure."""
    if found is None:
        return _NONE
    return f"{found[key]:.3f} [{found['low']:.3f}, {found['high']:.3f}]{'' if of is None else f' of {of}'}"


@dataclass(frozen=True, slots=True)
class LabeledTable:
    """A table of a report with its title and, unless empty, its legend."""

    title: str
    table: Table
    legend: str = ""


def further_tables(document: Document) -> list[LabeledTable]:
    """Return the tables that follow the metrics and the comparisons; those without rows are left out."""
    profiles = document["profiles"]
    repeats = f"Standard deviation between the means of {document['run']['repeat']} repeats; unstable: "
    repeats += f"{document['primary']} differed between repeats."
    found = (
        ("Hops", "by hops", profiles, _group_rows(hop_rows(document)), _GROUPS_LEGEND),
        ("Types", "by type", profiles, _group_rows(type_rows(document)), _GROUPS_LEGEND),
        ("Abstention", "abstention", *_with(profiles, "abstention", _abstention_rows), _ABSTENTION_LEGEND),
        ("Confidence", "confidence", *_with(profiles, "risk_coverage", _confidence_rows), _CONFIDENCE_LEGEND),
        # Runs of older versions have no levels.
        ("Levels", "by level", *_with(profiles, "levels", _level_rows), _LEVEL_LEGEND),
        (
            "Repeats",
            "between repeats",
            *_with(profiles, "repeats", partial(_repeat_rows, primary=document["primary"])),
            repeats,
        ),
    )
    tables = [
        LabeledTable(title, ([name, *(profile["name"] for profile in shown)], rows), legend)
        for title, name, shown, rows, legend in found
        if rows
    ]
    latency = _latency_table(profiles)
    return tables if latency is None else [*tables, LabeledTable("Latency", latency)]


def _with(
    profiles: Sequence[Document], part: str, rows: Callable[[Sequence[Document]], Rows]
) -> tuple[Sequence[Document], Rows]:
    """Return the profiles that have ``part``, and their rows."""
    shown = [profile for profile in profiles if profile.get(part)]
    return shown, rows(shown) if shown else []


def _group_rows(rows: Sequence[GroupRow]) -> Rows:
    return [
        [f"{row.group} ({row.questions}), {row.metric}", *(_estimate(figure, "mean") for figure in row.figures)]
        for row in rows
    ]


_GROUPS_LEGEND = (
    f"{SHOWN[0]}: the answer is right; {SHOWN[1]}: every gold article (passage, section) is among the first 5. "
    "The number of questions is in parentheses."
)


def _abstention_rows(profiles: Sequence[Document]) -> Rows:
    found = [profile["abstention"] for profile in profiles]
    return [
        *(
            [label, *(_estimate(item[name]) for item in found)]
            for label, name in (("precision", "precision"), ("recall", "recall"), ("AUROC", "auroc"))
        ),
        ["abstained", *(f"{item['abstained']}, {item['abstained_rightly']} rightly" for item in found)],
        ["unanswerable", *(f"{item['unanswerable']} of {item['unanswerable'] + item['answerable']}" for item in found)],
    ]


_ABSTENTION_LEGEND = (
    "Precision: abstentions that were right. Recall: unanswerable questions abstained from. "
    "AUROC: higher confidence in answerable than in unanswerable questions (0.5 is chance)."
)


def _confidence_rows(profiles: Sequence[Document]) -> Rows:
    ranked = [profile["risk_coverage"] for profile in profiles]
    # A profile that only abstained has no reliability.
    scored = [profile["reliability"] or {"ece": None, "noise": None} for profile in profiles]
    return [
        *(
            [f"accuracy at {each['coverage']:.0%}", *(_accuracy_at(item, place) for item in ranked)]
            for place, each in enumerate(ranked[0]["accuracy"])
        ),
        ["AURC ↓", *(_estimate(item["aurc"]) for item in ranked)],
        ["ECE ↓", *(_estimate(item["ece"]) for item in scored)],
        ["ECE by chance", *(_NONE if item["noise"] is None else f"{item['noise']:.3f}" for item in scored)],
        ["answered", *(f"{item['answered']} of {item['samples']}" for item in ranked)],
    ]


def _accuracy_at(ranked: Document, place: int) -> str:
    estimate = ranked["accuracy"][place]
    return ("≥ " if estimate["coverage"] > ranked["coverage"] else "") + _estimate(estimate)


def _level_rows(profiles: Sequence[Document]) -> Rows:
    return [
        [
            LEVEL_WORDS[levels[0]["level"]].lower(),
            *(_estimate(each["precision"], of=each["answers"]) for each in levels),
        ]
        for levels in zip(*(profile["levels"] for profile in profiles), strict=True)
    ]


_LEVEL_LEGEND = "The share of the answers of each level that are right, and their number."


_CONFIDENCE_LEGEND = (
    "Accuracy at 50%: among the most confident half of the questions. Abstentions come last and count as wrong (≥). "
    "AURC: mean error rate over all coverages. ECE: mean gap between confidence and accuracy of the answers. "
    "ECE by chance: that of answers as often right as their confidence says."
)


def _latency_table(profiles: Sequence[Document]) -> Table | None:
    """Return the latencies in milliseconds: whole answers, then stage medians; cached answers separately."""
    columns = [
        (profile["name"] + suffix, profile[key])
        for profile in profiles
        for suffix, key in (("", "latency"), (" (cached)", "latency_cached"))
        if profile[key]
    ]
    stages = sorted({stage for _, times in columns for stage in times} - {"total"})
    rows = [
        [f"{stage}, {figure}", *(f"{times[stage][figure]:,.1f}" if stage in times else _NONE for _, times in columns)]
        for stage, figure in (("total", "p50"), ("total", "p95"), *((stage, "p50") for stage in stages))
    ]
    return (["milliseconds", *(name for name, _ in columns)], rows) if columns else None


def _repeat_rows(profiles: Sequence[Document], *, primary: str) -> Rows:
    found = [profile["repeats"] for profile in profiles]
    return [
        *(
            [
                # A smaller deviation is better for every metric.
                _label(metric, primary, True),
                *(f"{item['deviations'][metric]:.4f}" if metric in item["deviations"] else _NONE for item in found),
            ]
            for metric in dict.fromkeys(metric for item in found for metric in item["deviations"])
        ),
        ["unstable questions", *(_unstable(item) for item in found)],
    ]


def _unstable(item: Mapping[str, Any]) -> str:
    share = item["unstable_share"]
    return _NONE if share is None else f"{len(item['unstable'])} of {item['judged']} ({100 * share:.1f}%)"


def comparison_rows(comparison: Mapping[str, Any], *, compact: bool = False) -> Table:
    """Return the table of one comparison: difference, interval, p-value, wins and losses, and the verdict.

    The ``compact`` table fits into 80 columns; it leaves out the minimal detectable effect.
    """
    rows = []
    for result in comparison["results"]:
        p = result["p"] if result["p_adjusted"] is None else result["p_adjusted"]
        interval = result["interval"]
        rows.append(
            [
                _label(result["metric"], comparison["primary"], result["higher_is_better"]),
                f"{result['difference']:+.3f}",
                f"[{interval['low']:+.3f}, {interval['high']:+.3f}]",
                f"{p:.4f}",
                f"{result['wins']}/{result['ties']}/{result['losses']}",
                f"{result['mde']:.3f}" if result["mde"] else _NONE,
                result["verdict"],
            ]
        )
    head = ["metric", "difference", "95% interval", "p", "win/tie/loss", "smallest effect", "verdict"]
    if compact:
        rows = [[*row[:5], row[6]] for row in rows]
        head = ["metric", "diff.", "95% interval", "p", "w/t/l", "verdict"]
    return head, rows


def judge_line(document: Document) -> str | None:
    """Return one line about the judge, or None for a run without a judge."""
    judge = document["judge"]
    if judge is None:
        return None
    cost = "price unknown" if judge["cost_usd"] is None else f"${judge['cost_usd']:.4f}"
    agreed = judge["agreement"]
    if agreed is None:
        trust = "advisory: its agreement with human labels is unknown"
    elif judge["advisory"]:
        trust = f"advisory: {agreed['items']} labels give no kappa"
    else:
        ends = agreed["interval"]
        interval = "" if ends is None else f" [{ends[0]:.2f}, {ends[1]:.2f}]"
        trust = f"kappa {agreed['kappa']:.2f}{interval} over {agreed['items']} labels"
    return f"Judge {judge['model']}: {judge['judged']} judged, {judge['errors']} errors, {cost}; {trust}."


def markdown_report(document: Document) -> str:
    """Return the report in Markdown."""
    run = document["run"]
    parts = [
        f"# {_inline(run['pack']['name'])}: {run['questions']['count']} questions",
        f"Pack {run['pack']['digest'][:16]}, questions {run['questions']['hash'][:16]}, seed {run['seed']}, wikigr "
        f"{run['wikigr_version']} {run['commit'][:12]}{' (with changes)' if run['dirty'] else ''}.",
        *(_inline(notice) for notice in document["notices"]),
        *(_inline(headline(comparison)) for comparison in document["comparisons"]),
        _markdown_table(*profile_rows(document)),
        legend(document),
    ]
    for comparison in document["comparisons"]:
        parts += [
            f"## {_inline(comparison['second'])} against {_inline(comparison['first'])}",
            _markdown_table(*comparison_rows(comparison)),
        ]
    for each in further_tables(document):
        parts += [f"## {each.title}", _markdown_table(*each.table), *([each.legend] if each.legend else [])]
    for profile in document["profiles"]:
        if profile["errors"] or profile["degraded"]:
            name = _inline(profile["name"])
            parts.append(f"{name}: {profile['errors']} samples failed, {profile['degraded']} degraded.")
    judged = judge_line(document)
    if judged is not None:
        parts.append(judged)
    return "\n\n".join(parts) + "\n"


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    # The head contains untrusted profile names. The marks in the rows are our own.
    titles, cells = [_inline(cell) for cell in head], [[_inline(cell, keep="*[]") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in (titles, ["---"] * len(head), *cells))


def _inline(text: str, *, keep: str = "") -> str:
    """Return ``text`` as one line of Markdown with all markup escaped, except the marks in ``keep``."""
    marks = "".join(mark for mark in "\\`*[]<>|&" if mark not in keep)
    line = " ".join(text.split())
    return "".join(
        f"\\{character}" if character in marks else character if character.isprintable() else "\ufffd"
        for character in line
    )


def markdown_gate(result: GateResult, questions: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the outcome of a gate in Markdown, for a job summary."""
    parts = [f"# {'Passed' if result.passed else 'Failed'}: {_inline(result.profile)}"]
    rows = [[c.name, c.outcome if c.passed else "**failed**", c.detail] for c in result.checks]
    parts.append(_markdown_table(["check", "outcome", "detail"], rows))
    if result.regressed:
        worse = [
            f"- {_inline(id_)}: {_inline(str(questions.get(id_, {}).get('question', '')))}" for id_ in result.regressed
        ]
        parts.append("\n".join(["Questions that got worse:", "", *worse]))
    parts += [f"Note: {_inline(caveat)}." for caveat in result.caveats]
    return "\n\n".join(parts) + "\n"


def github_report(document: Document) -> str:
    """Return GitHub workflow commands: a notice per comparison and a warning per question that got worse."""
    path = _property(str(document["run"]["questions"]["path"]))
    lines = [f"::notice title=wikigr eval::{_command(notice)}" for notice in document["notices"]]
    lines += [f"::notice title=wikigr eval::{_command(headline(c))}" for c in document["comparisons"]]
    where = {question["id"]: question["line"] for question in document["questions"]}
    for name, found in document["flips"].items():
        for flip in found:
            if flip["worse"]:
                at = f"file={path},line={where.get(flip['question_id'], 1)},title={_property(f'worse under {name}')}"
                lines.append(f"::warning {at}::{_command(flip['question_id'] + ': ' + flip['question'])}")
    return "\n".join(lines) + ("\n" if lines else "")


def github_annotations(result: GateResult, questions: Mapping[str, Mapping[str, Any]], path: str) -> str:
    """Return GitHub workflow commands: an error per failed check and a warning per question that got worse."""
    lines = [
        f"::error title=wikigr eval gate::{_command(f'{result.profile}: {check.name}: {check.detail}')}"
        for check in result.checks
        if not check.passed
    ]
    for id_ in result.regressed:
        question = questions.get(id_, {})
        where = f"file={_property(path)},line={question.get('line', 1)}"
        lines.append(f"::warning {where},title=regressed::{_command(id_ + ': ' + str(question.get('question', '')))}")
    return "\n".join(lines) + ("\n" if lines else "")


def _command(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _command(text).replace(":", "%3A").replace(",", "%2C")


def junit_report(document: Document) -> str:
    """Return the report as JUnit XML: a suite of the judged profile, with a case per question by the primary metric.

    The verdict, the reference with its primary metric, and the notices are properties of the suite.
    """
    root = ElementTree.Element("testsuites", name="wikigr eval")
    primary, subject = document["primary"], document["subject"]
    best = 1.0 if document["metrics"].get(primary, {}).get("higher_is_better", True) else 0.0
    cases = [(q, q["by_profile"][subject]) for q in document["questions"] if subject in q["by_profile"]]
    suite = ElementTree.SubElement(root, "testsuite", name=_xml(subject), tests=str(len(cases)))
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _junit_properties(document):
        ElementTree.SubElement(properties, "property", name=name, value=_xml(value))
    failures = errors = skipped = 0
    for question, sample in cases:
        case = ElementTree.SubElement(suite, "testcase", name=_xml(question["id"]), classname=_xml(subject))
        if sample["error"] is not None:
            errors += 1
            ElementTree.SubElement(case, "error", message=_xml(sample["error"]))
        elif primary not in sample["metrics"]:
            # Neither right nor wrong: the metric does not apply, or the judge gave no grade.
            skipped += 1
            ElementTree.SubElement(case, "skipped", message=f"{primary} does not apply")
        elif sample["metrics"][primary] != best:
            failures += 1
            failure = ElementTree.SubElement(case, "failure", message=_xml(question["question"]))
            failure.text = _xml(f"expected {question['answers']}, got: {sample['answer']}")
    suite.set("failures", str(failures))
    suite.set("errors", str(errors))
    suite.set("skipped", str(skipped))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _junit_properties(document: Document) -> Iterator[tuple[str, str]]:
    primary = document["primary"]
    for comparison in document["comparisons"]:
        if comparison["second"] == document["subject"]:
            yield "verdict", headline(comparison)
            yield "reference", comparison["first"]
    for profile in document["profiles"]:
        figure = profile["metrics"].get(primary)
        if figure is not None and (profile["name"] == document["subject"] or profile is document["profiles"][0]):
            yield f"{primary} of {_xml(profile['name'])}", _estimate(figure, "mean")
    for notice in document["notices"]:
        yield "notice", notice


def _xml(text: str) -> str:
    """Return ``text`` with the characters that XML 1.0 forbids replaced."""
    return "".join(
        c if c in "\t\n\r" or (ord(c) >= 0x20 and not 0xD800 <= ord(c) <= 0xDFFF and c not in "\ufffe\uffff") else "�"
        for c in text
    )
