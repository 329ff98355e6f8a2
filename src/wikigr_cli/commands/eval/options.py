"""Options and checks that several ``wikigr eval`` commands share."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wikigr.errors import UsageError
from wikigr_cli.options import Check, Input, Output, Retrieval

if TYPE_CHECKING:
    from wikigr.evaluation.run import StoredRun


FailOn = Literal["regression", "inconclusive", "never"]

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]
# Both default to what was declared when the run was made.
Primary = Annotated[
    str | None, Check("--primary", metavar="METRIC", help="The metric that decides; by default the declared one.")
]
Margin = Annotated[
    float | None,
    Check("--margin", help="Differences up to this size do not matter; by default the declared one.", min=0.0, max=1.0),
]
Questions = Annotated[
    Path | None,
    Input("--questions", metavar="FILE", help="Gold questions; by default the pack's eval/questions.jsonl."),
]
Split = Annotated[str | None, Input("--split", metavar="NAME", help="Use only the questions of this split.")]
Floors = Annotated[
    list[str] | None, Check("--min", metavar="METRIC=VALUE", help="A floor, such as accuracy=0.8. Repeatable.")
]
BaselineFile = Annotated[
    Path | None, Check("--baseline", metavar="FILE", help="A blessed baseline; the run must not be worse.")
]
FailOnOption = Annotated[
    FailOn | None,
    Check("--fail-on", help="The verdict against the baseline that fails the gate; regression by default."),
]
MaxErrors = Annotated[
    float | None,
    Check("--max-errors", metavar="SHARE", min=0.0, max=1.0, help="The share of samples that may fail; 0 by default."),
]
ShowAll = Annotated[bool, Output("--all", help="Print all figures, not only those that matter most.")]
OneProfile = Annotated[
    str | None,
    Retrieval(
        "--profile",
        metavar="NAME",
        help="The profile to judge; by default the last one or, of an ablation, the full one.",
    ),
]


def profile_of(stored: StoredRun, name: str | None) -> str:
    """Return the profile ``name`` of a run, or its subject; raise ``UsageError`` for an unknown profile."""
    names = list(stored.run.profiles)
    if name is not None and name not in names:
        raise UsageError(f"The run {stored.folder} has no profile {name!r}.", hint=f"It has {', '.join(names)}.")
    return name or stored.subject


def deciding(stored: StoredRun, primary: str | None, margin: float | None) -> tuple[str, float]:
    """Return the metric and the margin that decide: those given, or those declared for the run."""
    from wikigr.evaluation.metrics import known_metric

    # NaN is within the range of the option.
    if margin is not None and math.isnan(margin):
        raise UsageError("The margin must be a number from 0 to 1, not nan.")
    return known_metric(primary or stored.run.primary), stored.run.margin if margin is None else margin
