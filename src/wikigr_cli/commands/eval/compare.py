"""``wikigr eval compare``: compare two runs; the checks here also serve ``wikigr eval flips``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.commands.eval.options import Margin, OneProfile, Primary, RunFolder, deciding, profile_of
from wikigr_cli.environment import Environment
from wikigr_cli.render import evaluation as render_evaluation
from wikigr_cli.render.output import SCHEMA_VERSION, print_json

if TYPE_CHECKING:
    from wikigr.evaluation.stored_run import StoredRun


def compare(
    context: typer.Context,
    first: RunFolder,
    second: Annotated[Path, typer.Argument(metavar="OTHER", help="The run to compare it with.")],
    profile: OneProfile = None,
    primary: Primary = None,
    margin: Margin = None,
    force: Annotated[
        bool, options.Build("--force", help="Compare runs even over different questions or packs, and say so.")
    ] = False,
    show_all: Annotated[bool, options.Output("--all", help="Also print the metrics that do not differ.")] = False,
    json_output: options.Json = False,
) -> None:
    """Compare one profile of two runs over the same questions.

    The first run is the base: a positive difference means that the other run has the higher value. It prints the
    verdict, the primary metric and the metrics that differ; --all prints every metric.

    \b
    Examples:
      wikigr eval compare runs/first runs/second
      wikigr eval compare runs/first runs/second --primary recall@5
    """
    environment = context.ensure_object(Environment)

    from wikigr.evaluation.comparison import compare as compare_samples
    from wikigr.evaluation.reports.document import comparison_document, side_document
    from wikigr.evaluation.stored_run import load_run

    one, other = load_run(first), load_run(second)
    if first.resolve() == second.resolve():
        raise UsageError(
            f"{first} and {second} are the same run.",
            hint=f"Compare the profiles of one run: wikigr eval report {shlex.quote(str(first))}",
        )
    caveats = check_comparable(one, other, force=force)
    left, right = profile_of(one, profile), profile_of(other, profile)
    primary, margin = deciding(one, primary, margin)
    comparison = compare_samples(
        one.samples_of(left),
        other.samples_of(right),
        names=side_labels((first, left), (second, right)),
        seed=one.run.seed,
        primary=primary,
        margin=margin,
        clusters=one.clusters,
    )
    document = {
        "schema_version": SCHEMA_VERSION,
        "caveats": caveats,
        "notices": choice_notices(one, other, primary, margin),
        "base": side_document(one, left),
        "other": side_document(other, right),
        **comparison_document(comparison),
    }
    if json_output:
        print_json(environment, document)
    else:
        render_evaluation.compare(environment, document, show_all=show_all)


def check_comparable(one: StoredRun, other: StoredRun, *, force: bool) -> list[str]:
    """Return the reasons why two runs are not comparable; without ``force``, raise ``UsageError`` if there are any."""
    from wikigr.evaluation.run import differences

    caveats = differences(one.run, other.run)
    if caveats and not force:
        raise UsageError(f"The runs are not comparable: {', '.join(caveats)}.", hint="--force compares them anyway.")
    return caveats


def side_labels(*sides: tuple[Path, str]) -> tuple[str, str]:
    """Return a distinct ``FOLDER/PROFILE`` label for each side; equal folder names become full paths."""
    folders = [folder.name for folder, _ in sides]
    if len(set(folders)) < len(sides):
        folders = [str(folder) for folder, _ in sides]
    before, after = (f"{folder}/{profile}" for folder, (_, profile) in zip(folders, sides, strict=True))
    return before, after


def choice_notices(one: StoredRun, other: StoredRun, primary: str, margin: float | None) -> list[str]:
    """Return one sentence per choice that was not declared before both runs."""
    from wikigr.evaluation.run import late_choices

    choices = [(str(stored.folder), late_choices(stored.run, primary, margin)) for stored in (one, other)]
    if choices[0][1] == choices[1][1]:
        return [f"{choice}." for choice in choices[0][1]]
    return [f"{folder}: {choice}." for folder, late in choices for choice in late]
