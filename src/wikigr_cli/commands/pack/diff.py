"""``wikigr pack diff``: what changed between two packs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.render.changes import diff_document, print_diff
from wikigr_cli.render.output import print_result

Everything = Annotated[bool, options.Output("--all", help="Show all changes, not only the first ten of each kind.")]


def diff(
    context: typer.Context,
    before: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="The old pack.",
            autocompletion=options.complete_packs,
            callback=options.note_ambiguous_pack,
        ),
    ],
    after: Annotated[
        str,
        typer.Argument(
            metavar="B",
            help="The new pack.",
            autocompletion=options.complete_packs,
            callback=options.note_ambiguous_pack,
        ),
    ],
    questions: Annotated[
        Path | None,
        options.Input("--questions", metavar="FILE", help="Gold questions to check. Default: those of B, else of A."),
    ] = None,
    everything: Everything = False,
    exit_code: Annotated[bool, options.Check("--exit-code", help="Exit with 1 if the packs differ.")] = False,
    json_output: options.Json = False,
) -> None:
    """Compare two packs: the changes, the gold questions that they affect, and the next version.

    \b
    Examples:
      wikigr pack diff packs/notes packs/notes
      wikigr pack diff packs/notes packs/notes --exit-code --json
    """
    environment = context.ensure_object(Environment)

    from wikigr.versions.diff import diff_packs

    difference = diff_packs(before, after, questions=questions)
    print_text = partial(print_diff, everything=everything)
    print_result(environment, diff_document(difference), print_text, as_json=json_output)
    if exit_code and difference.differs:
        raise typer.Exit(ExitStatus.FAILED_CHECK)
