"""``wikigr eval gate`` and ``wikigr eval bless``: hold a run against requirements, or make it the baseline of others.

``wikigr eval run`` gates its run with the same functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from wikigr.errors import UsageError
from wikigr_cli.command import Result, command
from wikigr_cli.commands.eval.report import print_report, profile_of
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.options import Output
from wikigr_cli.render.output import Document, counted, print_json

if TYPE_CHECKING:
    from wikigr.evaluation.gate import GateResult, Requirements
    from wikigr.evaluation.run import StoredRun


@dataclass(frozen=True, slots=True)
class GateOptions:
    """What a run must fulfill; without any of the options there is no gate."""

    floors: list[str] | None = None
    baseline: Path | None = None
    fail_on: Literal["regression", "inconclusive", "never"] | None = None
    max_flips: int | None = None
    max_errors: float | None = None
    junit: Path | None = None

    def __bool__(self) -> bool:
        given = (self.floors, self.baseline, self.fail_on, self.max_flips, self.max_errors)
        return any(option not in (None, []) for option in given)

    def requirements(self, primary: str, margin: float) -> Requirements:
        """Return the requirements of a gate; raise ``UsageError`` for one that no run could meet."""
        from wikigr.evaluation.gate import Requirements

        parsed = {}
        for item in self.floors or []:
            metric, _, value = item.partition("=")
            try:
                parsed[metric.strip()] = float(value)
            except ValueError as error:
                hint = "Example: --min accuracy=0.8"
                raise UsageError(f"--min takes METRIC=VALUE, not {item!r}.", hint=hint) from error
        if self.max_flips is not None and self.baseline is None:
            raise UsageError("--max-flips needs answers to compare with.", hint="Add --baseline FILE.")
        return Requirements(
            parsed, self.fail_on or "regression", margin, self.max_errors or 0.0, primary, self.max_flips
        )


@command()
def gate(
    environment: Environment,
    folder: Path,
    judged: str | None = None,
    *,
    given: GateOptions,
    json_output: bool = False,
) -> None:
    """Fail unless a run meets its requirements.

    The exit code is 0 if it does, 1 if it does not, and 3 if there is nothing to judge.

    Examples:
      wikigr eval gate runs/first --min accuracy=0.1
      wikigr eval gate runs/first --min accuracy=0.1 --junit junit.xml
    """
    from wikigr.evaluation.gate import check_gate, read_baseline
    from wikigr.evaluation.reports.document import gate_document
    from wikigr.evaluation.run import load_run

    stored = load_run(folder)
    if not given:
        raise UsageError(
            "The gate has no requirement.", hint="Give --baseline FILE, --min METRIC=VALUE or --max-errors SHARE."
        )
    wanted = given.requirements(stored.run.primary, stored.run.margin)
    blessed = None if given.baseline is None else read_baseline(given.baseline)
    profile = profile_of(stored, judged)
    result = check_gate(stored, profile, wanted, blessed)
    if given.junit is not None:
        print_report(environment, stored.only(profile), "junit", given.junit, gate=result)
    if json_output:
        described = {"run": str(folder), "primary": wanted.primary, "margin": wanted.margin}
        print_json(environment, described | gate_document(result))
    finish(environment, result, stored, as_json=json_output)


def finish(environment: Environment, result: GateResult, stored: StoredRun, *, as_json: bool) -> None:
    """Print the outcome, unless it is already in a JSON document, and raise ``Exit`` if the gate failed."""
    if not as_json:
        print_gate(environment, result, stored.questions)
    if not result.passed:
        raise typer.Exit(ExitStatus.FAILED_CHECK)


def print_gate(environment: Environment, result: GateResult, questions: Mapping[str, Document]) -> None:
    """Print the outcome of a gate."""
    styles = {"passed": "green", "failed": "red", "inconclusive": "yellow"}
    outcome = "passed" if result.passed else "failed"
    environment.print(f"The gate for {result.profile}: {outcome}", style=styles[outcome])
    indent = 1 + max(len(check.outcome) for check in result.checks)
    for check in result.checks:
        mark = check.outcome if check.passed else check.outcome.upper()
        environment.print(mark.ljust(indent), style=styles[check.outcome], end="")
        environment.print(f"{check.name}: {check.detail}", hang=indent)
    for id_ in result.regressed:
        environment.print(" " * indent + f"worse: {id_} {questions[id_]['question']}", overflow="cut")
    for caveat in result.caveats:
        environment.print(" " * indent + f"note: {caveat}", style="yellow")


@command(
    output=Output("-o", "--output", metavar="FILE", help="The baseline file to write."),
)
def bless(environment: Environment, folder: Path, output: Path, judged: str | None = None) -> Result:
    """Make a run the baseline that later runs are compared with. Commit the file.

    Examples:
      wikigr eval bless runs/first -o baseline.json
      wikigr eval bless runs/first -o baseline.json --profile baseline
    """
    from wikigr.evaluation.gate import make_baseline, write_baseline
    from wikigr.evaluation.run import load_run
    from wikigr.files import cannot_write

    stored = load_run(folder)
    baseline = make_baseline(stored, profile_of(stored, judged))
    try:
        write_baseline(output, baseline)
    except OSError as error:
        raise cannot_write("the baseline", output, error) from error
    document = {"baseline": str(output), **asdict(baseline), "questions": len(baseline.means)}
    del document["means"]
    line = f"{output}: {counted(len(baseline.means), 'questions')} of {baseline.profile}"
    return document, lambda environment, _: environment.print(line)
