"""Reports for CI systems: GitHub workflow commands, and JUnit XML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from wikigr.evaluation.gate import GateResult
from wikigr.evaluation.reports.text import estimate

Document = Mapping[str, Any]


def github_annotations(result: GateResult, questions: Mapping[str, Mapping[str, Any]], path: str) -> str:
    """Return GitHub workflow commands: an error per failed check and a warning per question that got worse."""
    errors = [
        f"::error title=wikigr eval gate::{_command(f'{result.profile}: {check.name}: {check.detail}')}\n"
        for check in result.checks
        if not check.passed
    ]
    worse = [
        _warning(path, questions[id_]["line"], "regressed", id_, questions[id_]["question"]) for id_ in result.regressed
    ]
    return "".join([*errors, *worse])


def _warning(path: str, line: int, title: str, id_: str, question: str) -> str:
    where = f"file={_property(path)},line={line},title={_property(title)}"
    return f"::warning {where}::{_command(f'{id_}: {question}')}\n"


def _command(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _command(text).replace(":", "%3A").replace(",", "%2C")


def junit_report(document: Document) -> str:
    """Return the report as JUnit XML: a suite of the judged profile, with a case per question by the primary metric.

    The verdict, the reference with its primary metric, and the notices are properties of the suite.
    """
    primary, subject = document["primary"], document["subject"]
    best = 1.0 if document["metrics"][primary]["higher_is_better"] else 0.0
    cases = [(q, q["by_profile"][subject]) for q in document["questions"] if subject in q["by_profile"]]
    root = ElementTree.Element("testsuites", name="wikigr eval")
    suite = ElementTree.SubElement(root, "testsuite", name=_xml(subject), tests=str(len(cases)))
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _junit_properties(document):
        ElementTree.SubElement(properties, "property", name=_xml(name), value=_xml(value))
    counts = {"failure": 0, "error": 0, "skipped": 0}
    for question, sample in cases:
        case = ElementTree.SubElement(suite, "testcase", name=_xml(question["id"]), classname=_xml(subject))
        text = None
        if sample["error"] is not None:
            outcome, message = "error", sample["error"]
        elif primary not in sample["metrics"]:
            # Neither right nor wrong: the metric does not apply, or the judge gave no grade.
            outcome, message = "skipped", f"{primary} does not apply"
        elif sample["metrics"][primary] != best:
            outcome, message = "failure", question["question"]
            text = _xml(f"expected {question['answers']}, got: {sample['answer']}")
        else:
            continue
        counts[outcome] += 1
        ElementTree.SubElement(case, outcome, message=_xml(message)).text = text
    suite.set("failures", str(counts["failure"]))
    suite.set("errors", str(counts["error"]))
    suite.set("skipped", str(counts["skipped"]))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _junit_properties(document: Document) -> list[tuple[str, str]]:
    primary, profiles = document["primary"], document["profiles"]
    found = []
    for comparison in document["comparisons"]:
        if comparison["second"] == document["subject"]:
            found += [("verdict", comparison["summary"]), ("reference", comparison["first"])]
    for profile in profiles:
        figure = profile["metrics"].get(primary)
        if figure is not None and (profile["name"] == document["subject"] or profile is profiles[0]):
            found.append((f"{primary} of {profile['name']}", estimate(figure, "mean")))
    return [*found, *(("notice", notice) for notice in document["notices"])]


def _xml(text: str) -> str:
    """Return ``text`` with the characters that XML 1.0 forbids replaced."""
    return "".join(
        c if c in "\t\n\r" or (ord(c) >= 0x20 and not 0xD800 <= ord(c) <= 0xDFFF and c not in "\ufffe\uffff") else "�"
        for c in text
    )
