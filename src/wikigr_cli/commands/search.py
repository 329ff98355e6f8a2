"""``wikigr search``: rank the sections of a pack for a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import typer

from wikigr.documents.answer import search_document
from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.batch import BatchQuestion, ask_each
from wikigr_cli.command import command
from wikigr_cli.environment import Environment, typed_in
from wikigr_cli.options import Model, Output, Retrieval
from wikigr_cli.render.formats import OutputFormat, chosen_fields, chosen_format
from wikigr_cli.render.output import print_json_line, print_trace
from wikigr_cli.render.search import FIELDS, PACK, SNIPPET_LENGTH, print_search, search_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wikigr.documents.shapes import SearchDocument
    from wikigr.embeddings.loader import Purpose
    from wikigr.index.candidate import Evidence


@command(
    mode=Retrieval(help="Rank only by vectors, BM25 or both. Default: the stages of the profile."),
    model=Model(metavar="ID", help="The model that rephrases the question: an id or a .gguf file."),
    output_format=Output("--format", help="The output format; jsonl has a line per result. Default: text."),
    fields=Output(metavar="A,B,C", help=f"Only these keys: {', '.join((*FIELDS, PACK))}."),
)
def search(
    context: typer.Context,
    environment: Environment,
    question: str | None = None,
    pack: list[str] | None = None,
    top_k: int = 10,
    profile: str = options.DEFAULT_PROFILE,
    mode: Literal["hybrid", "dense", "lexical"] | None = None,
    model: str | None = None,
    offline: bool = False,
    batch: str | None = None,
    output_format: OutputFormat | None = None,
    fields: str | None = None,
    json_output: bool = False,
    embedding_model: str | None = None,
) -> None:
    """Find the sections that best match a question.

    Nothing leaves this machine, unless the profile rephrases the question (as `recall` does). In that case the question
    is sent to a model server, or with --model FILE.gguf to a model on this machine. If the profile names a
    cross-encoder other than the reader, it is downloaded once. --offline prevents both.

    Examples:
      wikigr search exclusion principle --pack packs/physics -k 3
      wikigr search "spin" --pack packs/physics --mode lexical --format csv
    """
    if (question is None) == (batch is None):
        raise UsageError(
            "Give either a question or --batch.", hint='Example: wikigr search "spin" --pack packs/physics'
        )
    printed_as = chosen_format(output_format, json_output=json_output, typed=typed_in(context))
    columns = chosen_fields(fields, (*FIELDS, PACK))
    if batch is not None and printed_as in ("md", "csv"):
        raise UsageError(f"--batch prints JSON Lines, not {printed_as}.", hint="Leave out --format.")
    if columns is not None and batch is None and printed_as == "text":
        raise UsageError("--fields needs another format than text.", hint="Example: --format csv")
    packs = options.require_packs(pack)

    from wikigr.llm.options import SynthesisOptions
    from wikigr.pipeline.connect import connect, with_model
    from wikigr.pipeline.profile_files import load_profile
    from wikigr.pipeline.stages import rankers_only
    from wikigr.retrieval.candidates import RetrievalOptions
    from wikigr_cli.ask_session import open_all

    chosen = load_profile(profile)
    if mode is not None:
        # Every other ranking stage is off.
        chosen = rankers_only(chosen).override(RetrievalOptions, mode=mode)
    purpose: Purpose = "query" if batch is None else "queries"
    retrieval = chosen[RetrievalOptions]
    if model is not None:
        if not retrieval.multi_query:
            raise UsageError(
                f"--model has no effect: the profile {profile} does not rephrase the question.",
                hint="Add --profile recall.",
            )
        chosen = with_model(chosen, model).override(SynthesisOptions, expansion_model=model)
    with open_all(environment, packs, encoder=embedding_model, purpose=purpose, preload=retrieval.uses_dense) as opened:
        # Imported while the encoder loads.
        from wikigr.documents.blocks import show_snippet
        from wikigr.pipeline.pipeline import Pipeline
        from wikigr.question.question import query_terms
        from wikigr.retrieval.trace import Trace

        client = connect(chosen, offline=offline) if retrieval.multi_query else None
        pipeline = Pipeline(chosen, opened, model=client, offline=offline)

        def find(text: str) -> tuple[Sequence[Evidence], SearchDocument]:
            trace = Trace()
            evidence = pipeline.search(text, top_k=top_k, trace=trace)
            print_trace(environment, trace)
            return evidence, search_document(text, evidence, trace, chosen.name, opened)

        def show(item: BatchQuestion, found: SearchDocument) -> None:
            print_json_line(environment, {"id": item.id, **search_fields(found, columns)})

        if question is None:
            ask_each(environment, str(batch), lambda text: find(text)[1], show)
            return
        evidence, document = find(question)
        terms = query_terms(question, opened.lexical)
        # Only text and Markdown show them.
        snippets = (show_snippet(item.section, terms, SNIPPET_LENGTH) for item in evidence)
    print_search(environment, document, printed_as, columns, snippets)
