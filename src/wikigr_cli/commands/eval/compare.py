"""``wikigr eval compare`` and ``wikigr eval flips``: compare two runs, and show the questions that changed."""

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
    from wikigr.evaluation.run import StoredRun


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
    from wikigr.evaluation.run import load_run

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


def flips(
    context: typer.Context,
    first: RunFolder,
    second: Annotated[
        Path | None, typer.Argument(metavar="[OTHER]", help="Another run; by default the first profile of this run.")
    ] = None,
    profile: OneProfile = None,
    primary: Primary = None,
    force: Annotated[
        bool, options.Build("--force", help="Compare runs even over different questions or packs.")
    ] = False,
    json_output: options.Json = False,
) -> None:
    """Show the questions that changed, with the evidence of both sides and the commands that reproduce them.

    \b
    Examples:
      wikigr eval flips runs/first
      wikigr eval flips runs/first runs/second --json
    """
    environment = context.ensure_object(Environment)

    from wikigr.evaluation.comparison import count_paired
    from wikigr.evaluation.comparison import flips as find_flips
    from wikigr.evaluation.reports.document import flip_document
    from wikigr.evaluation.run import load_run

    one = load_run(first)
    other = one if second is None else load_run(second)
    caveats = [] if second is None else check_comparable(one, other, force=force)
    # Within one run, the other profiles are compared with the first one.
    before = next(iter(one.run.profiles)) if second is None else profile_of(one, profile)
    after = profile_of(other, profile)
    if before == after and (second is None or first.resolve() == second.resolve()):
        raise _same_profile(one, before)
    primary, _ = deciding(one, primary, None)
    left, right = one.samples_of(before), other.samples_of(after)
    labels = (before, after) if second is None else side_labels((first, before), (second, after))
    document = {
        "schema_version": SCHEMA_VERSION,
        "caveats": caveats,
        "notices": choice_notices(one, other, primary, None),
        "primary": primary,
        "paired": count_paired(left, right, primary),
        "flips": [flip_document((one, other), flip, labels) for flip in find_flips(left, right, primary)],
    }
    if json_output:
        print_json(environment, document)
    else:
        render_evaluation.flips(environment, document, labels)


def _same_profile(stored: StoredRun, profile: str) -> UsageError:
    others = [name for name in stored.run.profiles if name != profile]
    return UsageError(
        f"Cannot compare {profile} with itself: the other profiles of the run are compared with it.",
        hint=f"Choose another profile: --profile {' or '.join(others)}"
        if others
        else "Give another run: wikigr eval flips RUN OTHER",
    )
