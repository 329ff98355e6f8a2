"""``wikigr eval report`` and ``wikigr eval trec``: write the report of a run, or its TREC files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wikigr.errors import UsageError, WikigrError
from wikigr_cli import options
from wikigr_cli.commands.eval.options import JudgeLabels, Margin, Primary, RunFolder, check_margin
from wikigr_cli.environment import Environment, plain_json
from wikigr_cli.render import evaluation as render_evaluation
from wikigr_cli.render.output import SCHEMA_VERSION, print_json

if TYPE_CHECKING:
    from wikigr.evaluation.agreement import Label
    from wikigr.evaluation.gate import GateResult
    from wikigr.evaluation.run import StoredRun
    from wikigr.evaluation.trec import TrecFiles


class ReportFormat(StrEnum):
    TEXT = "text"
    MD = "md"
    HTML = "html"
    JUNIT = "junit"
    JSON = "json"
    GITHUB = "github"


def report(
    context: typer.Context,
    folder: RunFolder,
    report_format: Annotated[ReportFormat, options.Output("--format", help="The output format.")] = ReportFormat.TEXT,
    primary: Primary = None,
    margin: Margin = None,
    output: Annotated[
        Path | None, options.Output("-o", "--output", metavar="FILE", help="Write to this file instead of stdout.")
    ] = None,
    judge_labels: JudgeLabels = None,
) -> None:
    """Write the report of a run from its stored samples.

    \b
    Examples:
      wikigr eval report runs/first
      wikigr eval report runs/first --format html -o report.html
    """
    environment = context.ensure_object(Environment)

    from wikigr.evaluation.run import load_run

    stored = load_run(folder)
    labels = None if judge_labels is None else _read_labels(stored, judge_labels)
    print_report(environment, stored, primary, margin, report_format, output, labels)


def _read_labels(stored: StoredRun, file: Path) -> list[Label]:
    from wikigr.evaluation.agreement import read_labels
    from wikigr.evaluation.judge import NO_JUDGE

    if stored.run.judge == NO_JUDGE:
        raise UsageError(
            f"The run {stored.folder} has no judge to compare the labels with.",
            hint="Make a run with wikigr eval run --judge claude.",
        )
    return read_labels(file, questions=stored.questions, profiles=stored.run.profiles, repeats=stored.run.repeat)


def print_report(
    environment: Environment,
    stored: StoredRun,
    primary: str | None,
    margin: float | None,
    report_format: ReportFormat,
    output: Path | None = None,
    labels: Sequence[Label] | None = None,
    gate: GateResult | None = None,
) -> None:
    """Print the report of a run, or write it to ``output``."""
    from wikigr.atomic import write_atomic
    from wikigr.evaluation.reports.document import report_document

    document = report_document(stored, primary=primary, margin=check_margin(margin), labels=labels, gate=gate)
    if report_format is ReportFormat.TEXT and output is None:
        render_evaluation.evaluation(environment, document)
        return
    text = _format(document, report_format)
    if output is None:
        write = environment.write_json if report_format is ReportFormat.JSON else environment.write_text
        write(text)
        return
    try:
        write_atomic(output, text)
    except OSError as error:
        raise WikigrError(f"Cannot write the report {output}: {error.strerror}.") from error


def print_summary(
    environment: Environment, stored: StoredRun, primary: str, margin: float, labels: Sequence[Label] | None
) -> None:
    """Print the verdict of a run, its primary metric and some of the questions that changed."""
    from wikigr.evaluation.reports.document import report_document
    from wikigr_cli.render.evaluation_summary import summary

    summary(environment, report_document(stored, primary=primary, margin=margin, labels=labels))


def _format(document: dict[str, Any], report_format: ReportFormat) -> str:
    if report_format is ReportFormat.JSON:
        return plain_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"
    if report_format is ReportFormat.HTML:
        from wikigr.evaluation.reports.html import html_report

        return html_report(document)
    from wikigr.evaluation.reports.text import github_report, junit_report, markdown_report

    writers = {ReportFormat.JUNIT: junit_report, ReportFormat.GITHUB: github_report}
    return writers.get(report_format, markdown_report)(document)


def trec(
    context: typer.Context,
    folder: RunFolder,
    output: Annotated[Path, options.Output("-o", "--output", metavar="DIR", help="The folder for the files.")],
    json_output: options.Json = False,
) -> None:
    """Write TREC qrels and one run file per profile, by article and by passage, for other evaluation tools.

    \b
    Examples:
      wikigr eval trec runs/first -o trec
      wikigr eval trec runs/first -o trec --json
    """
    environment = context.ensure_object(Environment)

    from wikigr.evaluation.run import load_run
    from wikigr.evaluation.trec import export_trec

    stored = load_run(folder)
    try:
        articles, passages = export_trec(stored, output)
    except OSError as error:
        raise WikigrError(f"Cannot write the TREC files to {output}: {error.strerror}.") from error
    if json_output:
        document = {
            "schema_version": SCHEMA_VERSION,
            **_paths(articles),
            "passages": None if passages is None else _paths(passages),
        }
        print_json(environment, document)
        return
    for files in (articles, passages):
        for file in () if files is None else (files.qrels, *files.runs.values()):
            environment.print(str(file), overflow="keep")


def _paths(files: TrecFiles) -> dict[str, Any]:
    return {"qrels": str(files.qrels), "runs": {profile: str(file) for profile, file in files.runs.items()}}
