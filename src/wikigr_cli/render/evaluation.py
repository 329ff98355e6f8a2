"""The text output of the ``wikigr eval`` commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from wikigr.text import harmless
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import counted

if TYPE_CHECKING:
    from wikigr.evaluation.gate import GateResult

# The width of tables, in characters, also if the output is not a terminal.
_MAX_WIDTH = 80
_OUTCOME_STYLES = {"passed": "green", "failed": "red", "inconclusive": "yellow"}
# The minimum width to which a heading is wrapped.
_MIN_HEADING_WIDTH = 10


def evaluation(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print the report of a run: the verdicts, then the figures."""
    from wikigr.evaluation.reports import text

    _print_verdicts(environment, document, grouped=False)
    print_table(environment, *text.profile_rows(document))
    environment.print(text.legend(document), style="dim")
    for item in document["comparisons"]:
        environment.print()
        environment.print(f"{harmless(item['second'])} against {harmless(item['first'])}", style="bold")
        comparison(environment, item)
    for each in text.further_tables(document):
        environment.print()
        print_table(environment, *each.table)
        if each.legend:
            environment.print(each.legend, style="dim")


def failures(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print the number of failed and degraded samples of each profile, and the line about the judge."""
    from wikigr.evaluation.reports.text import judge_line

    for profile in document["profiles"]:
        if profile["errors"] or profile["degraded"]:
            environment.print(
                f"{harmless(profile['name'])}: {counted(profile['errors'], 'samples')} failed, "
                f"{profile['degraded']:,} degraded",
                style="yellow",
            )
    judged = judge_line(document)
    if judged is not None:
        environment.print(harmless(judged))


def compare(environment: Environment, document: Mapping[str, Any], *, show_all: bool) -> None:
    """Print the comparison of two runs: which they are, which way a difference points, the verdict and the figures.

    The figures are those of the primary metric and of the metrics that differ; ``show_all``: of all metrics.
    """
    from wikigr.evaluation.statistics.wording import headline

    caveats(environment, document["caveats"])
    for role in ("base", "other"):
        environment.print(f"{role:<7}", style="bold", end="")
        environment.print(_side(document[role]), hang=7)
    first, second = harmless(document["first"]), harmless(document["second"])
    environment.print(
        f"A difference is {second} minus {first}: a positive one means that {second} has the higher value. Wins and "
        f"verdicts are those of {second}.",
        style="dim",
    )
    notices(environment, document["notices"])
    environment.print()
    environment.print(harmless(headline(document)), style="bold")
    results = document["results"]
    shown = [r for r in results if show_all or r["metric"] == document["primary"] or _differs(r)]
    comparison(environment, {**document, "results": shown})
    if len(shown) < len(results):
        count = len(results) - len(shown)
        verb, what = ("does", "it") if count == 1 else ("do", "them")
        environment.print(f"{counted(count, 'metrics')} {verb} not differ; --all shows {what}.", style="dim")


def _differs(result: Mapping[str, Any]) -> bool:
    """Return whether any question has another value; differences of questions can cancel out in the mean."""
    return bool(result["difference"] or result["wins"] or result["losses"])


def _side(side: Mapping[str, Any]) -> str:
    pack = side["pack"]
    named = " ".join(on_one_line(str(part)) for part in (pack["name"], pack["version"]) if part)
    made = side["created"][:16].replace("T", " ") + " UTC" if side["created"] else "date unknown"
    return (
        f"{harmless(side['path'])}: {harmless(side['profile'])}, {made}, pack {named} ({pack['digest'][:12]}), "
        f"{counted(side['questions'], 'questions')}"
    )


def comparison(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print one comparison, with the minimal detectable effect of the primary metric."""
    from wikigr.evaluation.reports.text import comparison_rows
    from wikigr.evaluation.statistics.wording import detectable, primary_result

    print_table(environment, *comparison_rows(document, compact=True))
    result = primary_result(document)
    if result is not None and result["mde"]:
        environment.print(detectable(result), style="dim")
    if document["unpaired"]:
        environment.print(f"Answered by one side only: {counted(document['unpaired'], 'questions')}.", style="yellow")


def caveats(environment: Environment, found: Sequence[str]) -> None:
    """Print the reasons why the compared runs are not comparable."""
    if found:
        text = f"Compared with --force although {' and '.join(found)}: only common questions count."
        environment.print(text, style="yellow")


def notices(environment: Environment, found: Sequence[str]) -> None:
    """Print the reasons why the figures may mislead."""
    for notice in found:
        environment.print(on_one_line(notice), style="yellow")


def flips(environment: Environment, document: Mapping[str, Any], labels: tuple[str, str]) -> None:
    """Print the questions that changed, the worse ones first; ``labels`` name the two sides."""
    caveats(environment, document["caveats"])
    notices(environment, document["notices"])
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


def gate(environment: Environment, result: GateResult, questions: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the outcome of a gate."""
    outcome, style = ("passed", "green") if result.passed else ("failed", "red")
    environment.print(f"The gate for {on_one_line(result.profile)}: {outcome}", style=style)
    indent = 1 + max(len(check.outcome) for check in result.checks)
    for check in result.checks:
        mark = check.outcome if check.passed else check.outcome.upper()
        environment.print(mark.ljust(indent), style=_OUTCOME_STYLES[check.outcome], end="")
        environment.print(f"{check.name}: {check.detail}", hang=indent)
    for id_ in result.regressed:
        question = str(questions.get(id_, {}).get("question", ""))
        environment.print(" " * indent + f"worse: {on_one_line(id_)} {on_one_line(question)}", overflow="cut")
    for caveat in result.caveats:
        environment.print(" " * indent + f"note: {on_one_line(caveat)}", style="yellow")


def on_one_line(text: str) -> str:
    """Return ``text`` on one line: on GitHub Actions, a new line could be a workflow command."""
    return harmless(" ".join(text.split()))


def print_table(environment: Environment, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print an aligned table; columns beyond 80 characters follow below, with the first column repeated."""
    cells = [[harmless(cell) for cell in row] for row in rows]
    widths = [max((len(row[column]) for row in cells), default=0) for column in range(len(head))]
    # A long profile name wraps, so that it does not widen its column.
    headings = [
        wrap(harmless(name), max(width, _MIN_HEADING_WIDTH), break_long_words=False)
        for name, width in zip(head, widths, strict=True)
    ]
    widths = [max([width, *map(len, lines)]) for width, lines in zip(widths, headings, strict=True)]
    room = min(environment.width(environment.stdout) or _MAX_WIDTH, _MAX_WIDTH)
    for number, columns in enumerate(_blocks(widths, room)):
        if number:
            environment.print()
        height = max(len(headings[column]) for column in columns)
        # Headings with fewer lines are aligned to the bottom.
        raised = [[""] * (height - len(headings[column])) + headings[column] for column in columns]
        for words in zip(*raised, strict=True):
            environment.print(_row(words, [widths[column] for column in columns]), style="bold", overflow="cut")
        for row in cells:
            line = _row([row[column] for column in columns], [widths[column] for column in columns])
            environment.print(line, overflow="cut")


def _blocks(widths: Sequence[int], room: int) -> list[list[int]]:
    """Return the columns of each block of ``room`` characters: always the first column and at least one other."""
    blocks = [[0]]
    used = widths[0]
    for column in range(1, len(widths)):
        if used + 2 + widths[column] > room and len(blocks[-1]) > 1:
            blocks.append([0])
            used = widths[0]
        blocks[-1].append(column)
        used += 2 + widths[column]
    return blocks


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]).rstrip()


# Questions shown as lost, and as won; `wikigr eval flips` shows all.
_MAX_FLIPS = 5
_NONE = "—"


def summary(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print the verdict, the primary metric of every profile and some of the questions that changed."""
    comparisons = document["comparisons"]
    _print_verdicts(environment, document, grouped=len(comparisons) > 1)
    print_table(environment, *_profiles(document))
    if len(comparisons) == 1:
        _print_flips(environment, document, comparisons[0]["second"])


def _print_verdicts(environment: Environment, document: Mapping[str, Any], *, grouped: bool) -> None:
    """Print the verdicts, each with its figures or ``grouped``, and what makes them less trustworthy."""
    if grouped:
        _print_groups(environment, document)
    else:
        for each in document["comparisons"]:
            _print_verdict(environment, each)
    notices(environment, document["notices"])
    failures(environment, document)
    if document["comparisons"]:
        environment.print()


def _print_verdict(environment: Environment, comparison: Mapping[str, Any]) -> None:
    from wikigr.evaluation.statistics.wording import detectable, headline, primary_result

    environment.print(harmless(headline(comparison)), style="bold")
    result = primary_result(comparison)
    if result is not None and result["verdict"] == "inconclusive" and result["mde"]:
        environment.print(detectable(result), style="dim")


def _print_groups(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print one line per verdict, with the profiles that have it."""
    from wikigr.evaluation.statistics.wording import VERDICT_WORDS, primary_result

    first = document["comparisons"][0]["first"]
    found: dict[str, list[str]] = {}
    for comparison in document["comparisons"]:
        result = primary_result(comparison)
        verdict = "not comparable" if result is None else VERDICT_WORDS[result["verdict"]]
        found.setdefault(verdict, []).append(_short_name(comparison["second"], first))
    environment.print(f"Compared with {harmless(first)} in {document['primary']}:", style="bold")
    for verdict in (*VERDICT_WORDS.values(), "not comparable"):
        if verdict in found:
            environment.print(f"  {verdict}: {harmless(', '.join(found[verdict]))}", hang=4)


def _profiles(document: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the table of the primary metric: a row per profile, with its difference from the first."""
    from wikigr.evaluation.statistics.wording import p_value, primary_result

    primary = document["primary"]
    compared = {comparison["second"]: primary_result(comparison) for comparison in document["comparisons"]}
    first = document["profiles"][0]["name"]
    # Where there are many profiles, the rows need room for long names.
    is_short = len(compared) > 1
    rows = []
    for profile in document["profiles"]:
        name, figure = profile["name"], profile["metrics"].get(primary)
        value = _NONE
        if figure is not None:
            interval = "" if is_short else f" [{figure['low']:.3f}, {figure['high']:.3f}]"
            value = f"{figure['mean']:.3f}{interval}"
        row = [_short_name(name, first), value]
        result = compared.get(name)
        if result is not None:
            row += [
                f"{result['difference']:+.3f}",
                f"{result['interval']['low']:+.3f} to {result['interval']['high']:+.3f}",
                p_value(result["p"]).removeprefix("p ").removeprefix("= ").replace(" ", ""),
                f"{result['wins']}/{result['losses']}",
            ]
        elif compared:
            row += [""] * 4
        rows.append(row)
    head = ["profile", primary, *(("diff.", "95% interval", "p", "won/lost") if compared else ())]
    return head, rows


def _short_name(name: str, first: str) -> str:
    """Return the name of a profile; of an ablation of ``first``, only what is missing."""
    return name.removeprefix(f"{first}-") if name.startswith(f"{first}-without-") else name


def _print_flips(environment: Environment, document: Mapping[str, Any], name: str) -> None:
    flips: Sequence[Mapping[str, Any]] = document["flips"][name]
    for verb, is_worse in (("lost", True), ("won", False)):
        found = [flip for flip in flips if flip["worse"] is is_worse]
        if not found:
            continue
        among = ":" if len(found) <= _MAX_FLIPS else f", {_MAX_FLIPS} of them:"
        environment.print()
        environment.print(f"{harmless(name)} {verb} {counted(len(found), 'questions')}{among}", style="bold")
        for flip in found[:_MAX_FLIPS]:
            line = f"  {on_one_line(flip['question_id'])}  {on_one_line(flip['question'])}"
            environment.print(line, overflow="cut")
