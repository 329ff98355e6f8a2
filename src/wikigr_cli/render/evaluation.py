"""The text output of the ``wikigr eval`` commands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr_cli.environment import Environment
from wikigr_cli.render.output import counted

if TYPE_CHECKING:
    from wikigr.evaluation.gate import GateResult
    from wikigr.evaluation.reports.text import Table

Document = Mapping[str, Any]

# The width of tables, in characters, also if the output is not a terminal.
_MAX_WIDTH = 80
# Questions shown as lost, and as won; `wikigr eval flips` shows all.
_MAX_FLIPS = 5


def evaluation(environment: Environment, document: Document, *, folder: Path, show_all: bool) -> None:
    """Print the report of a run: the verdicts, then all figures, or the most important ones and how to see the rest."""
    from wikigr.evaluation.reports import text

    comparisons = document["comparisons"]
    if show_all or len(comparisons) == 1:
        for comparison in comparisons:
            environment.print(comparison["summary"], style="bold")
    for line in (*document["notices"], *text.sample_lines(document)):
        environment.print(on_one_line(line), style="yellow")
    if show_all:
        tables = (text.metric_table(document), *map(text.comparison_table, comparisons), *text.further_tables(document))
        for table in tables:
            environment.print()
            _print_table(environment, table)
        return
    _print_table(environment, text.summary_table(document))
    if len(comparisons) == 1:
        _print_flips(environment, document, comparisons[0]["second"])
    path = shlex.quote(str(folder))
    environment.note("")
    environment.note(f"All figures:            wikigr eval report {path} --all", overflow="keep")
    if comparisons:
        # `eval flips` compares the subject with the first profile.
        which = "" if [c["second"] for c in comparisons] == [document["subject"]] else " --profile NAME"
        environment.note(f"All changed questions:  wikigr eval flips {path}{which}", overflow="keep")


def _print_flips(environment: Environment, document: Document, name: str) -> None:
    for verb, is_worse in (("lost", True), ("won", False)):
        found = [flip for flip in document["flips"][name] if flip["worse"] is is_worse]
        if not found:
            continue
        among = ":" if len(found) <= _MAX_FLIPS else f", {_MAX_FLIPS} of them:"
        environment.print()
        environment.print(f"{name} {verb} {counted(len(found), 'questions')}{among}", style="bold")
        for flip in found[:_MAX_FLIPS]:
            line = f"  {on_one_line(flip['question_id'])}  {on_one_line(flip['question'])}"
            environment.print(line, overflow="cut")


def compare(environment: Environment, document: Document, *, show_all: bool) -> None:
    """Print the comparison of two runs: which they are, which way a difference points, the verdict and the figures.

    The figures are those of the primary metric and of the metrics that differ; ``show_all``: of all metrics.
    """
    from wikigr.evaluation.reports.text import comparison_table

    _print_caveats(environment, document)
    for role in ("base", "other"):
        environment.print(f"{role:<7}", style="bold", end="")
        environment.print(_side(document[role]), hang=7)
    which = "A difference is the other run minus the base. Wins and verdicts are those of the other run."
    environment.print(which, style="dim")
    environment.print()
    environment.print(document["summary"], style="bold")
    results = document["results"]
    shown = [
        # Differences of questions can cancel out in the mean.
        r
        for r in results
        if show_all or r["metric"] == document["primary"] or r["difference"] or r["wins"] or r["losses"]
    ]
    _print_table(environment, comparison_table({**document, "results": shown}))
    if len(shown) < len(results):
        environment.print(f"Metrics that do not differ: {len(results) - len(shown)}; --all shows them.", style="dim")
    if document["unpaired"]:
        environment.print(f"Answered by one side only: {counted(document['unpaired'], 'questions')}.", style="yellow")


def _side(side: Document) -> str:
    pack = side["pack"]
    named = " ".join(on_one_line(str(part)) for part in (pack["name"], pack["version"]) if part)
    made = side["created"][:16].replace("T", " ") + " UTC" if side["created"] else "date unknown"
    return (
        f"{side['path']}: {side['profile']}, {made}, pack {named} ({pack['digest'][:12]}), "
        f"{counted(side['questions'], 'questions')}"
    )


def _print_caveats(environment: Environment, document: Document) -> None:
    """Print the reasons why two runs are not comparable."""
    if document["caveats"]:
        text = f"Compared with --force although {' and '.join(document['caveats'])}: only common questions count."
        environment.print(text, style="yellow")


def flips(environment: Environment, document: Document, labels: tuple[str, str]) -> None:
    """Print the questions that changed, the worse ones first; ``labels`` name the two sides."""
    _print_caveats(environment, document)
    for flip in document["flips"]:
        mark = "worse" if flip["worse"] else "better"
        environment.print(f"{on_one_line(flip['question_id'])} {mark}: {on_one_line(flip['question'])}", style="bold")
        environment.print(f"  expected: {on_one_line(' | '.join(flip['answers'])) or 'no answer'}")
        for side in flip["sides"]:
            environment.print(f"  {on_one_line(side['label'])}: {on_one_line(side['answer'])}", hang=4)
            environment.print(f"    read: {on_one_line(', '.join(side['ranking']))}", style="dim", hang=6)
            environment.print(f"    {on_one_line(side['command'])}", style="dim", overflow="keep")
    if not document["paired"]:
        names = " and ".join(map(on_one_line, labels))
        environment.print(
            f"Nothing to compare: no question has {document['primary']} under both {names}.", style="yellow"
        )
    elif not document["flips"]:
        environment.note(f"None of the {document['paired']:,} questions changed.")


def gate(environment: Environment, result: GateResult, questions: Mapping[str, Document]) -> None:
    """Print the outcome of a gate."""
    styles = {"passed": "green", "failed": "red", "inconclusive": "yellow"}
    outcome = "passed" if result.passed else "failed"
    environment.print(f"The gate for {on_one_line(result.profile)}: {outcome}", style=styles[outcome])
    indent = 1 + max(len(check.outcome) for check in result.checks)
    for check in result.checks:
        mark = check.outcome if check.passed else check.outcome.upper()
        environment.print(mark.ljust(indent), style=styles[check.outcome], end="")
        environment.print(f"{check.name}: {check.detail}", hang=indent)
    for id_ in result.regressed:
        question = on_one_line(questions[id_]["question"])
        environment.print(" " * indent + f"worse: {on_one_line(id_)} {question}", overflow="cut")
    for caveat in result.caveats:
        environment.print(" " * indent + f"note: {on_one_line(caveat)}", style="yellow")


def on_one_line(text: str) -> str:
    """Return ``text`` on one line: on GitHub Actions, a new line could be a workflow command."""
    return " ".join(text.split())


def _print_table(environment: Environment, table: Table) -> None:
    """Print an aligned table; columns beyond 80 characters follow below, with the first column repeated."""
    lines = [table.head, *table.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    room = min(environment.width(environment.stdout) or _MAX_WIDTH, _MAX_WIDTH)
    blocks: list[list[int]] = []
    for column, width in list(enumerate(widths))[1:]:
        if not blocks or widths[0] + sum(2 + widths[place] for place in blocks[-1]) + 2 + width > room:
            blocks.append([])
        blocks[-1].append(column)
    for number, block in enumerate(blocks):
        if number:
            environment.print()
        for style, row in zip(("bold", *[""] * len(table.rows)), lines, strict=True):
            cells = [row[0].ljust(widths[0]), *(row[column].rjust(widths[column]) for column in block)]
            environment.print("  ".join(cells).rstrip(), style=style, overflow="cut")
    if table.legend:
        environment.print(table.legend, style="dim")
