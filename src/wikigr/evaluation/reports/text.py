"""Reports in text: a table for the terminal, Markdown for a summary, annotations for GitHub, XML for JUnit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from wikigr.evaluation.gate import GateResult

Document = Mapping[str, Any]


def profile_rows(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return the table of metrics: a heading for each profile, and a row for each metric with means and intervals."""
    profiles = document["profiles"]
    metrics = list(dict.fromkeys(metric for profile in profiles for metric in profile["metrics"]))
    rows = []
    for metric in metrics:
        row = [metric + (" *" if metric == document["primary"] else "")]
        for profile in profiles:
            value = profile["metrics"].get(metric)
            row.append("—" if value is None else f"{value['mean']:.3f} [{value['low']:.3f}, {value['high']:.3f}]")
        rows.append(row)
    return ["metric", *(profile["name"] for profile in profiles)], rows


def comparison_rows(comparison: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the table of one comparison: difference, interval, p, wins and losses, and the verdict."""
    rows = []
    for result in comparison["results"]:
        p = result["p"] if result["p_adjusted"] is None else result["p_adjusted"]
        interval = result["interval"]
        rows.append(
            [
                result["metric"] + (" *" if result["metric"] == comparison["primary"] else ""),
                f"{result['difference']:+.3f}",
                f"[{interval['low']:+.3f}, {interval['high']:+.3f}]",
                f"{p:.4f}",
                f"{result['wins']}/{result['ties']}/{result['losses']}",
                f"{result['mde']:.3f}" if result["mde"] else "—",
                result["verdict"],
            ]
        )
    return ["metric", "difference", "95 % interval", "p", "win/tie/loss", "smallest effect", "verdict"], rows


def headline(comparison: Mapping[str, Any]) -> str:
    """Return a comparison in one sentence."""
    result = next(r for r in comparison["results"] if r["metric"] == comparison["primary"])
    low, high = result["interval"]["low"], result["interval"]["high"]
    verb = {"improved": "is better than", "regressed": "is worse than", "equivalent": "is as good as"}.get(
        result["verdict"], "cannot be told from"
    )
    return (
        f"{comparison['second']} {verb} {comparison['first']} in {comparison['primary']}: "
        f"{100 * result['difference']:+.1f} points (95 % interval {100 * low:+.1f} to {100 * high:+.1f}), "
        f"p = {result['p']:.4f}, {result['n']} questions."
    )


def markdown_report(document: Document) -> str:
    """Return the report in Markdown."""
    run = document["run"]
    parts = [
        f"# {run['pack']['name']}: {run['questions']['count']} questions",
        f"Pack {run['pack']['digest'][:16]}, questions {run['questions']['hash'][:16]}, seed {run['seed']}, wikigr "
        f"{run['wikigr_version']} {run['commit'][:12]}{' (with changes)' if run['dirty'] else ''}.",
        *(headline(comparison) for comparison in document["comparisons"]),
        _markdown_table(*profile_rows(document)),
        "Means with 95 % intervals; * the primary metric.",
    ]
    for comparison in document["comparisons"]:
        parts += [
            f"## {comparison['second']} against {comparison['first']}",
            _markdown_table(*comparison_rows(comparison)),
        ]
    for profile in document["profiles"]:
        if profile["errors"] or profile["degraded"]:
            parts.append(f"{profile['name']}: {profile['errors']} samples failed, {profile['degraded']} degraded.")
    if run["leaks"]:
        parts.append(f"{len(run['leaks'])} few-shot examples give gold questions away and were left out.")
    return "\n\n".join(parts) + "\n"


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def markdown_gate(result: GateResult, questions: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the outcome of a gate in Markdown, for a job's summary."""
    parts = [f"# {'Passed' if result.passed else 'Failed'}: {result.profile}"]
    parts.append(
        _markdown_table(
            ["check", "", "detail"], [[c.name, "ok" if c.passed else "**failed**", c.detail] for c in result.checks]
        )
    )
    if result.regressed:
        rows = [f"- `{id_}` {questions.get(id_, {}).get('question', '')}" for id_ in result.regressed]
        parts.append("\n".join(["Questions that got worse:", "", *rows]))
    return "\n\n".join(parts) + "\n"


def github_report(document: Document) -> str:
    """Return workflow commands: a notice for each comparison, and a warning for each question that got worse."""
    path = _property(str(document["run"]["questions"]["path"]))
    lines = [f"::notice title=wikigr eval::{_command(headline(c))}" for c in document["comparisons"]]
    where = {question["id"]: question["line"] for question in document["questions"]}
    for name, found in document["flips"].items():
        for flip in found:
            if flip["difference"] < 0:
                at = f"file={path},line={where.get(flip['question_id'], 1)},title={_property(f'worse under {name}')}"
                lines.append(f"::warning {at}::{_command(flip['question_id'] + ': ' + flip['question'])}")
    return "\n".join(lines) + ("\n" if lines else "")


def github_annotations(result: GateResult, questions: Mapping[str, Mapping[str, Any]], path: str) -> str:
    """Return workflow commands: an error for the gate, and a warning with file and line for each regressed question."""
    lines = [
        f"::error title=wikigr eval gate::{_command(f'{check.name}: {check.detail}')}"
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
    """Return the report as JUnit XML: a suite for each profile, a case for each question, right or not by the primary
    metric.
    """
    root = ElementTree.Element("testsuites", name="wikigr eval")
    for profile in document["profiles"]:
        cases = [
            (q, q["by_profile"][profile["name"]]) for q in document["questions"] if profile["name"] in q["by_profile"]
        ]
        suite = ElementTree.SubElement(root, "testsuite", name=profile["name"], tests=str(len(cases)))
        failures = errors = 0
        for question, sample in cases:
            case = ElementTree.SubElement(suite, "testcase", name=question["id"], classname=profile["name"])
            if sample["error"] is not None:
                errors += 1
                ElementTree.SubElement(case, "error", message=_xml(sample["error"]))
            elif sample["metrics"].get(document["primary"], 1.0) < 1.0:
                failures += 1
                failure = ElementTree.SubElement(case, "failure", message=_xml(question["question"]))
                failure.text = _xml(f"expected {question['answers']}, got: {sample['answer']}")
        suite.set("failures", str(failures))
        suite.set("errors", str(errors))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    """Return ``text`` without the characters that XML 1.0 cannot hold."""
    return "".join(
        c if c in "\t\n\r" or (ord(c) >= 0x20 and not 0xD800 <= ord(c) <= 0xDFFF and c not in "\ufffe\uffff") else "�"
        for c in text
    )
