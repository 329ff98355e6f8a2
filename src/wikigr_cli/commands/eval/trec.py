"""``wikigr eval trec``: export a run as TREC files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wikigr.errors import WikigrError
from wikigr_cli.commands.eval.options import RunFolder
from wikigr_cli.environment import Environment
from wikigr_cli.options import Json
from wikigr_cli.render.output import SCHEMA_VERSION, print_json


def trec(
    context: typer.Context,
    folder: RunFolder,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The folder for the files.")],
    json_output: Json = False,
) -> None:
    """Write TREC qrels and one run file per profile, for other evaluation tools."""
    environment = context.ensure_object(Environment)

    from wikigr.evaluation.stored_run import load_run
    from wikigr.evaluation.trec import export_trec

    stored = load_run(folder)
    try:
        files = export_trec(stored, output)
    except OSError as error:
        raise WikigrError(f"Cannot write the TREC files to {output}: {error.strerror}.") from error
    if json_output:
        qrels, *runs = map(str, files)
        document = {
            "schema_version": SCHEMA_VERSION,
            "qrels": qrels,
            "runs": dict(zip(stored.run.profiles, runs, strict=True)),
        }
        print_json(environment, document)
        return
    for file in files:
        environment.print(str(file), overflow="keep")
