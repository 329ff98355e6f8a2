"""``wikigr eval trec``: export a run as TREC files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wikigr.errors import WikigrError
from wikigr_cli import options
from wikigr_cli.commands.eval.options import RunFolder
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import SCHEMA_VERSION, print_json

if TYPE_CHECKING:
    from wikigr.evaluation.trec import TrecFiles


def trec(
    context: typer.Context,
    folder: RunFolder,
    output: Annotated[Path, options.Output("-o", "--output", metavar="DIR", help="The folder for the files.")],
    json_output: options.Json = False,
) -> None:
    """Write TREC qrels and one run file per profile, by article and by passage, for other evaluation tools.

    \b
    Examples:
      wikigr eval trec runs/first -o trec
      wikigr eval trec runs/first -o trec --json
    """
    environment = context.ensure_object(Environment)

    from wikigr.evaluation.stored_run import load_run
    from wikigr.evaluation.trec import export_trec

    stored = load_run(folder)
    try:
        articles, passages = export_trec(stored, output)
    except OSError as error:
        raise WikigrError(f"Cannot write the TREC files to {output}: {error.strerror}.") from error
    if json_output:
        document = {
            "schema_version": SCHEMA_VERSION,
            **_paths(articles),
            "passages": None if passages is None else _paths(passages),
        }
        print_json(environment, document)
        return
    for files in (articles, passages):
        for file in () if files is None else (files.qrels, *files.runs.values()):
            environment.print(str(file), overflow="keep")


def _paths(files: TrecFiles) -> dict[str, Any]:
    return {"qrels": str(files.qrels), "runs": {profile: str(file) for profile, file in files.runs.items()}}
