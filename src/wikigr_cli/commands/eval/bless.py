"""``wikigr eval bless``: make a run the baseline of later runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wikigr.errors import WikigrError
from wikigr_cli import options
from wikigr_cli.commands.eval.options import OneProfile, RunFolder, profile_of
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import SCHEMA_VERSION, counted, print_json


def bless(
    context: typer.Context,
    folder: RunFolder,
    output: Annotated[Path, options.Output("-o", "--output", metavar="FILE", help="The baseline file to write.")],
    profile: OneProfile = None,
    json_output: options.Json = False,
) -> None:
    """Make a run the baseline that later runs are compared with. Commit the file.

    \b
    Examples:
      wikigr eval bless runs/first -o baseline.json
      wikigr eval bless runs/first -o baseline.json --profile baseline
    """
    environment = context.ensure_object(Environment)

    from wikigr.evaluation.gate import make_baseline, write_baseline
    from wikigr.evaluation.stored_run import load_run

    stored = load_run(folder)
    baseline = make_baseline(stored.run, stored.samples, profile_of(stored, profile))
    try:
        write_baseline(output, baseline)
    except OSError as error:
        raise WikigrError(f"Cannot write the baseline {output}: {error.strerror}.") from error
    if json_output:
        document = {
            "schema_version": SCHEMA_VERSION,
            "baseline": str(output),
            "profile": baseline.profile,
            "questions": len(baseline.means),
            "question_hash": baseline.question_hash,
            "pack_digest": baseline.pack_digest,
            "judge": baseline.judge,
            "wikigr_version": baseline.wikigr_version,
        }
        print_json(environment, document)
        return
    environment.print(f"{output}: {counted(len(baseline.means), 'questions')} of {baseline.profile}")
