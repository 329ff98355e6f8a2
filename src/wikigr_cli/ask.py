"""``wikigr ask``: an answer with citations, or the statement that the pack has none."""

from __future__ import annotations

from typing import Annotated

import typer

from wikigr.errors import UsageError
from wikigr_cli import options, render
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus


def ask(
    context: typer.Context,
    question: Annotated[str | None, typer.Argument(help="The question.", show_default=False)] = None,
    pack: Annotated[str | None, options.pack_option("ask")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when the pack does not cover it.")] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show where every candidate's score came from and why it was dropped."),
    ] = False,
    batch: options.Batch = None,
    json_output: options.Json = False,
    embedding_model: options.EncoderModel = None,
) -> None:
    """Answer a question from a pack, with numbered citations whose text is checked. Nothing leaves this machine."""
    environment = context.ensure_object(Environment)
    if (question is None) == (batch is None):
        raise UsageError(
            "Give either a question or --batch.",
            hint='Example: wikigr ask "Who found the electron?" --pack packs/physics',
        )
    if pack is None:
        raise UsageError("No pack was named.", hint="Give --pack, or set WIKIGR_PACK.")

    from wikigr.pack.open import Pack
    from wikigr_cli.batch import read_batch

    abstained = False
    with Pack(pack, encoder=embedding_model, preload=True) as opened:
        from wikigr.answer.extractive import answer_question  # while the encoder loads

        if batch is not None:
            for item in read_batch(batch, environment.stdin):
                answer = answer_question(opened, item.question)
                abstained = abstained or answer.abstained
                render.json_line(
                    environment, {"id": item.id, **render.answer_document(answer, opened, explain=explain)}
                )
        else:
            assert question is not None
            answer = answer_question(opened, question)
            abstained = answer.abstained
            document = render.answer_document(answer, opened, explain=explain or environment.verbosity > 0)
            if json_output:
                render.json_document(environment, document)
            else:
                render.print_answer(environment, answer, document)
    if strict and abstained:
        raise typer.Exit(ExitStatus.FAILED_CHECK)
