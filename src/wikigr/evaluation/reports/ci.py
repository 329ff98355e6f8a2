"""The report for CI systems: JUnit XML."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any
from xml.etree import ElementTree

from wikigr.evaluation.reports.text import estimate

Document = Mapping[str, Any]


def junit_report(document: Document, seconds: Mapping[str, float]) -> str:
    """Return the report as JUnit XML: a case per question of the judged profile, and one per check of the gate.

    Its failures are those of the gate: checks that failed, with the questions that changed or had an error. What the
    gate allows is skipped with its reason, and everything else passes with its score. ``seconds`` are the times of the
    answers by question. The verdict, the reference with its primary metric, and the notices are properties.
    """
    primary, subject = document["primary"], document["subject"]
    checks = document["gate"]["checks"] if document["gate"] is not None else []
    # A check that failed precedes one that allows the same.
    blamed = {
        id_: check for check in sorted(checks, key=itemgetter("passed"), reverse=True) for id_ in check["questions"]
    }
    root = ElementTree.Element("testsuites", name="wikigr eval")
    suite = ElementTree.SubElement(root, "testsuite", name=_xml(subject))
    known, profiles = [], document["profiles"]
    for comparison in document["comparisons"]:
        if comparison["second"] == subject:
            known += [("verdict", comparison["summary"]), ("reference", comparison["first"])]
    for profile in profiles:
        figure = profile["metrics"].get(primary)
        if figure is not None and (profile["name"] == subject or profile is profiles[0]):
            known.append((f"{primary} of {profile['name']}", estimate(figure, "mean")))
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in (*known, *(("notice", notice) for notice in document["notices"])):
        ElementTree.SubElement(properties, "property", name=_xml(name), value=_xml(value))
    for question in document["questions"]:
        if subject not in question["by_profile"]:
            continue
        sample, check = question["by_profile"][subject], blamed.get(question["id"])
        attributes = {"classname": _xml(subject), "time": f"{seconds.get(question['id'], 0.0):.3f}"}
        case = ElementTree.SubElement(suite, "testcase", {"name": _xml(question["question"]), **attributes})
        score = sample["metrics"].get(primary)
        given = f"expected {question['answers']}, got: {sample['answer']}"
        if check is not None and check["passed"]:
            _outcome(case, "skipped", f"{sample['error'] or given}; the gate allows it: {check['detail']}")
        elif sample["error"] is not None:
            _outcome(case, "error", sample["error"])
        elif check is not None:
            _outcome(case, "failure", f"{primary} is worse than in the baseline", given)
        elif score is None:
            # Neither right nor wrong: the metric does not apply, or the judge gave no grade.
            _outcome(case, "skipped", f"{primary} does not apply")
        said = f"{question['id']}: {primary} {'—' if score is None else f'{score:.3f}'}"
        ElementTree.SubElement(case, "system-out").text = _xml(f"{said}, {sample['answer']}")
    for check in checks:
        case = ElementTree.SubElement(suite, "testcase", name=_xml(check["name"]), classname="gate", time="0.000")
        if not check["passed"]:
            _outcome(case, "failure", check["detail"])
    for name, outcome in (
        ("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")
    ):  # fmt: skip
        suite.set(name, str(sum(1 for _ in suite.iter(outcome))))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _outcome(case: ElementTree.Element, outcome: str, message: str, text: str | None = None) -> None:
    ElementTree.SubElement(case, outcome, message=_xml(message)).text = None if text is None else _xml(text)


def _xml(text: str) -> str:
    """Return ``text`` with the characters that XML 1.0 forbids replaced."""
    return "".join(
        c if c in "\t\n\r" or (ord(c) >= 0x20 and not 0xD800 <= ord(c) <= 0xDFFF and c not in "\ufffe\uffff") else "�"
        for c in text
    )
