"""``wikigr search``: the best sections for a question."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from wikigr.errors import UsageError
from wikigr_cli import options, render
from wikigr_cli.environment import Environment


class Mode(StrEnum):
    HYBRID = "hybrid"
    DENSE = "dense"
    LEXICAL = "lexical"


class Fusion(StrEnum):
    WEIGHTED = "weighted"
    RRF = "rrf"


def search(
    context: typer.Context,
    question: Annotated[str | None, typer.Argument(help="What to look for.", show_default=False)] = None,
    pack: Annotated[str | None, options.pack_option("search")] = None,
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, max=1000, help="How many sections.")] = 10,
    mode: Annotated[Mode, typer.Option(help="Which rankers: vectors, BM25, or both.")] = Mode.HYBRID,
    fusion: Annotated[
        Fusion, typer.Option(help="How hybrid fuses them: scores or reciprocal ranks.")
    ] = Fusion.WEIGHTED,
    batch: options.Batch = None,
    json_output: options.Json = False,
    embedding_model: options.EncoderModel = None,
) -> None:
    """Find the sections of a pack that are nearest to a question. Nothing leaves this machine."""
    environment = context.ensure_object(Environment)
    if (question is None) == (batch is None):
        raise UsageError(
            "Give either a question or --batch.", hint='Example: wikigr search "spin" --pack packs/physics'
        )
    if pack is None:
        raise UsageError("No pack was named.", hint="Give --pack, or set WIKIGR_PACK.")

    from wikigr.pack.open import Pack
    from wikigr.retrieval.hybrid import retrieve
    from wikigr.retrieval.trace import Trace
    from wikigr_cli.batch import read_batch

    with Pack(pack, encoder=embedding_model, preload=mode is not Mode.LEXICAL) as opened:

        def run(text: str) -> dict[str, object]:
            trace = Trace()
            evidence = retrieve(opened, text, top_k=top_k, mode=mode.value, fusion=fusion.value, trace=trace)
            return render.search_document(text, evidence, trace)

        if batch is not None:
            for item in read_batch(batch, environment.stdin):
                render.json_line(environment, {"id": item.id, **run(item.question)})
            return
        assert question is not None
        document = run(question)
    if json_output:
        render.json_document(environment, document)
    else:
        render.search_results(environment, document)
