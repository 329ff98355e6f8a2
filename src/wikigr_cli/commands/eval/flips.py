"""``wikigr eval flips``: the questions that changed between two profiles or two runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.commands.eval.compare import check_comparable, choice_notices, side_labels
from wikigr_cli.commands.eval.options import OneProfile, Primary, RunFolder, deciding, profile_of
from wikigr_cli.environment import Environment
from wikigr_cli.render import evaluation as render_evaluation
from wikigr_cli.render.output import SCHEMA_VERSION, print_json

if TYPE_CHECKING:
    from wikigr.evaluation.stored_run import StoredRun


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
    from wikigr.evaluation.stored_run import load_run

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
