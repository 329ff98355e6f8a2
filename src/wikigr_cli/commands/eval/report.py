"""``wikigr eval report``, ``trec``, ``compare`` and ``flips``: what runs say, and how two of them differ."""

from __future__ import annotations

import json
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wikigr.errors import UsageError, WikigrError
from wikigr_cli.command import Result, command
from wikigr_cli.environment import Environment, plain_json
from wikigr_cli.options import Argument, Output, Retrieval, Run
from wikigr_cli.render.output import Document, align, counted
from wikigr_cli.render.terminal import cells

if TYPE_CHECKING:
    from wikigr.evaluation.gate import GateResult
    from wikigr.evaluation.reports.text import Table
    from wikigr.evaluation.run import StoredRun


ReportFormat = Literal["text", "html", "junit", "json"]


# The width of tables, in characters, also if the output is not a terminal.
_MAX_WIDTH = 80
# Questions shown as lost, and as won; `wikigr eval flips` shows all.
_MAX_FLIPS = 5


def print_evaluation(environment: Environment, document: Document, *, folder: Path, show_all: bool) -> None:
    """Print the report of a run: the verdicts, then all figures, or the most important ones and how to see the rest."""
    from wikigr.evaluation.reports import text

    comparisons = document["comparisons"]
    if show_all or len(comparisons) == 1:
        for comparison in comparisons:
            environment.print(comparison["summary"], style="bold")
    for line in (*document["notices"], *text.sample_lines(document)):
        environment.print(line, style="yellow")
    if show_all:
        tables = (text.metric_table(document), *map(text.comparison_table, comparisons), *text.further_tables(document))
        for table in tables:
            environment.print()
            _print_table(environment, table)
        return
    _print_table(environment, text.summary_table(document))
    name = comparisons[0]["second"] if len(comparisons) == 1 else ""
    for verb, is_worse in (("lost", True), ("won", False)) if name else ():
        found = [flip for flip in document["flips"][name] if flip["worse"] is is_worse]
        if found:
            among = ":" if len(found) <= _MAX_FLIPS else f", {_MAX_FLIPS} of them:"
            environment.print()
            environment.print(f"{name} {verb} {counted(len(found), 'questions')}{among}", style="bold")
        for flip in found[:_MAX_FLIPS]:
            environment.print(f"  {flip['question_id']}  {flip['question']}", overflow="cut")
    path = shlex.quote(str(folder))
    environment.note("")
    environment.note(f"All figures:            wikigr eval report {path} --all", overflow="keep")
    if comparisons:
        # `eval flips` compares the subject with the first profile.
        which = "" if [c["second"] for c in comparisons] == [document["subject"]] else " --profile NAME"
        environment.note(f"All changed questions:  wikigr eval flips {path}{which}", overflow="keep")


def _print_comparison(environment: Environment, document: Document, *, show_all: bool) -> None:
    """Print the comparison of two runs: which they are, which way a difference points, the verdict and the figures.

    The figures are those of the primary metric and of the metrics that differ; ``show_all``: of all metrics.
    """
    from wikigr.evaluation.reports.text import comparison_table

    _print_caveats(environment, document)
    for role in ("base", "other"):
        side, pack = document[role], document[role]["pack"]
        named = " ".join(str(part) for part in (pack["name"], pack["version"]) if part)
        made = side["created"][:16].replace("T", " ") + " UTC" if side["created"] else "date unknown"
        environment.print(f"{role:<7}", style="bold", end="")
        environment.print(
            f"{side['path']}: {side['profile']}, {made}, pack {named} ({pack['digest'][:12]}), "
            f"{counted(side['questions'], 'questions')}",
            hang=7,
        )
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


def _print_caveats(environment: Environment, document: Document) -> None:
    """Print the reasons why two runs are not comparable."""
    if document["caveats"]:
        text = f"Compared with --force although {' and '.join(document['caveats'])}: only common questions count."
        environment.print(text, style="yellow")


def _print_flips(environment: Environment, document: Document, labels: tuple[str, str]) -> None:
    """Print the questions that changed, the worse ones first; ``labels`` name the two sides."""
    _print_caveats(environment, document)
    for flip in document["flips"]:
        mark = "worse" if flip["worse"] else "better"
        environment.print(f"{flip['question_id']} {mark}: {flip['question']}", style="bold")
        environment.print(f"  expected: {' | '.join(flip['answers']) or 'no answer'}")
        for side in flip["sides"]:
            environment.print(f"  {side['label']}: {' '.join(side['answer'].split())}", hang=4)
            environment.print(f"    read: {', '.join(side['ranking'])}", style="dim", hang=6)
            environment.print(f"    {side['command']}", style="dim", overflow="keep")
    if not document["paired"]:
        said = f"Nothing to compare: no question has {document['primary']} under both {' and '.join(labels)}."
        environment.print(said, style="yellow")
    elif not document["flips"]:
        environment.note(f"None of the {document['paired']:,} questions changed.")


def _print_table(environment: Environment, table: Table) -> None:
    """Print an aligned table; columns beyond 80 characters follow below, with the first column repeated."""
    lines = [table.head, *table.rows]
    widths = [max(map(cells, column)) for column in zip(*lines, strict=True)]
    room = min(environment.width(environment.stdout) or _MAX_WIDTH, _MAX_WIDTH)
    blocks: list[list[int]] = []
    for column, width in list(enumerate(widths))[1:]:
        if not blocks or widths[0] + sum(2 + widths[place] for place in blocks[-1]) + 2 + width > room:
            blocks.append([])
        blocks[-1].append(column)
    for number, block in enumerate(blocks):
        if number:
            environment.print()
        shown = align([[row[0], *(row[column] for column in block)] for row in lines], range(1, len(block) + 1))
        for place, line in enumerate(shown):
            environment.print(line.rstrip(), style="" if place else "bold", overflow="cut")
    if table.legend:
        environment.print(table.legend, style="dim")


@command(
    report_format=Output("--format", help="The output format."),
    profile=Retrieval(metavar="NAME", help="Report on this profile and the first one only."),
    output=Output("-o", "--output", metavar="FILE", help="Write to this file instead of stdout."),
)
def report(
    environment: Environment,
    folder: Path,
    report_format: ReportFormat = "text",
    profile: str | None = None,
    output: Path | None = None,
    show_all: bool = False,
) -> None:
    """Report a stored run: the verdict, then the figures.

    In the text format, --all prints every metric; without it, the report is that of wikigr eval run. JUnit has the
    cases of one profile, the one given, by default the last one or, of an ablation, the full one; only errors fail in
    it, and --junit of `wikigr eval run` and `gate` adds what the gate fails for.

    Examples:
      wikigr eval report runs/first
      wikigr eval report runs/first --format html -o report.html
    """
    from wikigr.evaluation.run import load_run

    stored = load_run(folder)
    if not stored.samples:
        raise WikigrError(f"The run in {folder} has no samples yet.", hint="Run the same `wikigr eval run` again.")
    if profile is not None:
        stored = stored.only(profile_of(stored, profile))
    print_report(environment, stored, report_format, output, show_all=show_all)


def print_report(
    environment: Environment,
    stored: StoredRun,
    report_format: ReportFormat,
    output: Path | None = None,
    *,
    show_all: bool = False,
    gate: GateResult | None = None,
) -> None:
    """Print the report of a run, or write it to ``output``; raises ``UsageError`` for text in a file."""
    from wikigr.evaluation.reports.document import report_document
    from wikigr.files import cannot_write, write_atomic

    document = report_document(stored, gate=gate)
    if report_format == "text" and output is None:
        print_evaluation(environment, document, folder=stored.folder, show_all=show_all)
        return
    if report_format == "text":
        raise UsageError("-o needs a format for files.", hint="Add --format html, junit or json.")
    if report_format == "json":
        text = plain_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"
    elif report_format == "html":
        from wikigr.evaluation.reports.html import html_report

        text = html_report(document)
    else:
        from wikigr.evaluation.reports.ci import junit_report

        judged = stored.samples_of(document["subject"])
        seconds = {s.question_id: s.timings.get("total_ms", 0.0) / 1000 for s in judged if s.repeat == 0}
        text = junit_report(document, seconds)
    if output is None:
        write = environment.write_json if report_format == "json" else environment.write_text
        write(text)
        return
    try:
        write_atomic(output, text)
    except OSError as error:
        raise cannot_write("the report", output, error) from error


def profile_of(stored: StoredRun, name: str | None) -> str:
    """Return the profile ``name`` of a run, or its subject; raise ``UsageError`` for an unknown profile."""
    names = list(stored.run.profiles)
    if name is not None and name not in names:
        raise UsageError(f"The run {stored.folder} has no profile {name!r}.", hint=f"It has {', '.join(names)}.")
    return name or stored.subject


def _print_files(environment: Environment, document: Document) -> None:
    for files in filter(None, (document, document["passages"])):
        for file in (files["qrels"], *files["runs"].values()):
            environment.print(file, overflow="keep")


@command(_print_files, output=Output("-o", "--output", metavar="DIR", help="The folder for the files."))
def trec(folder: Path, output: Path) -> Document:
    """Export a run as TREC files for other evaluation tools.

    These are qrels and one run file per profile, by article and by passage.

    Examples:
      wikigr eval trec runs/first -o trec
      wikigr eval trec runs/first -o trec --json
    """
    from wikigr.evaluation.run import load_run
    from wikigr.evaluation.trec import export_trec
    from wikigr.files import cannot_write

    stored = load_run(folder)
    try:
        articles, passages = export_trec(stored, output)
    except OSError as error:
        raise cannot_write("the TREC files to", output, error) from error
    return {**articles, "passages": passages}


FORCE = Run(help="Compare runs even over different questions or packs, and say so.")


@command(second=Argument(metavar="OTHER", help="The run to compare it with."), force=FORCE)
def compare(
    folder: Path,
    second: Path,
    judged: str | None = None,
    force: bool = False,
    show_all: bool = False,
) -> Result:
    """Compare one profile of two runs over the same questions.

    The first run is the base: a positive difference means that the other run has the higher value. It prints the
    verdict, the metric that was declared for the base, and the metrics that differ; --all prints every metric.

    Examples:
      wikigr eval compare runs/first runs/second
      wikigr eval compare runs/first runs/second --all
    """
    from wikigr.evaluation.reports.document import comparison_document, side_document
    from wikigr.evaluation.run import load_run

    if folder.resolve() == second.resolve():
        raise UsageError(
            f"{folder} and {second} are the same run.",
            hint=f"Compare the profiles of one run: wikigr eval report {shlex.quote(str(folder))}",
        )
    one, other = load_run(folder), load_run(second)
    caveats = _caveats(one, other, force=force)
    left, right = profile_of(one, judged), profile_of(other, judged)
    names = (f"{folder}/{left}", f"{second}/{right}")
    comparison = one.compare(one.samples_of(left), other.samples_of(right), names)
    document = {
        "caveats": caveats,
        "base": side_document(one, left),
        "other": side_document(other, right),
        **comparison_document(comparison),
    }
    return document, partial(_print_comparison, show_all=show_all)


def _caveats(one: StoredRun, other: StoredRun, *, force: bool) -> list[str]:
    """Return the reasons why two runs are not comparable; without ``force``, raise ``UsageError`` if there are any."""
    from wikigr.evaluation.run import differences

    caveats = differences(one.run, other.run)
    if caveats and not force:
        raise UsageError(f"The runs are not comparable: {', '.join(caveats)}.", hint="--force compares them anyway.")
    return caveats


@command(
    second=Argument(metavar="[OTHER]", help="Another run; by default the first profile of this run."),
    force=FORCE,
)
def flips(
    folder: Path,
    second: Path | None = None,
    judged: str | None = None,
    primary: str | None = None,
    force: bool = False,
) -> Result:
    """Show the questions that changed, with both answers.

    It shows the evidence of both sides and the commands that reproduce it.

    Examples:
      wikigr eval flips runs/first
      wikigr eval flips runs/first runs/second --json
    """
    from wikigr.evaluation.comparison import flips as find_flips
    from wikigr.evaluation.comparison import means_by_question, paired_values
    from wikigr.evaluation.metrics import known_metric
    from wikigr.evaluation.reports.document import flip_document
    from wikigr.evaluation.run import load_run

    one = load_run(folder)
    other = one if second is None else load_run(second)
    caveats = [] if second is None else _caveats(one, other, force=force)
    # Within one run, the other profiles are compared with the first one.
    before = next(iter(one.run.profiles)) if second is None else profile_of(one, judged)
    after = profile_of(other, judged)
    if before == after and (second is None or folder.resolve() == second.resolve()):
        others = [name for name in one.run.profiles if name != before]
        raise UsageError(
            f"Cannot compare {before} with itself: the other profiles of the run are compared with it.",
            hint=f"Choose another profile: --profile {' or '.join(others)}"
            if others
            else "Give another run: wikigr eval flips RUN OTHER",
        )
    primary = known_metric(primary or one.run.primary)
    left, right = one.samples_of(before), other.samples_of(after)
    labels = (before, after) if second is None else (f"{folder}/{before}", f"{second}/{after}")
    document = {
        "caveats": caveats,
        "primary": primary,
        "paired": len(paired_values(means_by_question(left), means_by_question(right), primary)),
        "flips": [flip_document((one, other), flip, labels) for flip in find_flips(left, right, primary)],
    }
    return document, partial(_print_flips, labels=labels)
