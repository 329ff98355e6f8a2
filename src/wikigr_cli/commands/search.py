"""``wikigr search`` and ``wikigr rerank``: rank the sections of a pack for a question, and reorder results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from wikigr.documents.answer import search_document
from wikigr.errors import UsageError
from wikigr.files import describe_read_error, read_regular
from wikigr_cli import options
from wikigr_cli.batch import BatchQuestion, ask_each
from wikigr_cli.command import command
from wikigr_cli.environment import Environment, read_stdin, typed_in
from wikigr_cli.options import Argument, Input, Model, Output, Retrieval
from wikigr_cli.render.formats import OutputFormat, chosen_fields, chosen_format
from wikigr_cli.render.output import SCHEMA_VERSION, print_json, print_json_line, print_trace
from wikigr_cli.render.search import (
    FIELDS,
    PACK,
    SNIPPET_LENGTH,
    print_reranked,
    print_search,
    rerank_document,
    search_fields,
)

if TYPE_CHECKING:
    from wikigr.documents.shapes import SearchDocument
    from wikigr.embeddings.loader import Purpose
    from wikigr.index.candidate import Evidence


_MAX_RESULTS_BYTES = 256 << 20
_PIPED = "Example: wikigr search spin --json | wikigr rerank"


@command(
    mode=Retrieval(help="Rank only by vectors, BM25 or both. Default: the stages of the profile."),
    model=Model(metavar="ID", help="The model that rephrases the question: an id or a .gguf file."),
    fusion=Retrieval(help="How hybrid fuses the two: by weighted scores or reciprocal ranks."),
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
    fusion: Literal["weighted", "rrf"] | None = None,
    exact: bool = False,
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
    chosen = chosen.override(RetrievalOptions, exact=True) if exact else chosen
    chosen = chosen.override(RetrievalOptions, fusion=fusion) if fusion is not None else chosen
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
        snippets = [show_snippet(item.section, terms, SNIPPET_LENGTH) for item in evidence]
    print_search(environment, document, printed_as, columns, snippets)


@command(
    results=Argument(
        metavar="[RESULTS|-]",
        help="A file, or - for standard input, with the output of `wikigr search --json` or `--batch`, or with a "
        "list of {title, score, content?}.",
    ),
    method=Retrieval(
        metavar="METHOD",
        help="How to rerank: graph mixes PageRank into the scores, cross-encoder lets the reader (or the model "
        "that the profile names) score the question with each text, and quality scores the sections. Join several "
        "with +, such as graph+cross-encoder.",
    ),
    alpha=Retrieval(help="The weight of the given score. Default: the one in the profile."),
    beta=Retrieval(help="The weight of PageRank. alpha and beta must sum to 1."),
    top_k=Retrieval("--top-k", "-k", min=1, max=100_000, help="The maximum number of results. Default: all."),
    query=Input(metavar="QUESTION", help="The question. Default: the one in the results."),
)
def rerank(
    environment: Environment,
    results: str = "-",
    *,
    pack: str,
    method: str = "graph",
    profile: str = options.DEFAULT_PROFILE,
    alpha: float | None = None,
    beta: float | None = None,
    top_k: int | None = None,
    query: str | None = None,
    offline: bool = False,
    json_output: bool = False,
) -> None:
    """Rerank search results and show their old ranks.

    The results do not leave this machine. If the profile names a cross-encoder other than the reader, it is downloaded
    once, unless --offline is given.

    Examples:
      wikigr rerank results.json --pack packs/physics
      wikigr search spin -p packs/physics --json | wikigr rerank -p packs/physics
    """
    documents, is_lines = _read(results, environment)

    from wikigr.pack.open import Pack
    from wikigr.pipeline.pipeline import Pipeline
    from wikigr.pipeline.profile_files import load_profile
    from wikigr.pipeline.reranking import rerank_results, stages_of
    from wikigr.rerankers.graph_reranker import GraphRerankerOptions
    from wikigr.retrieval.trace import Trace

    chosen = load_profile(profile)
    if alpha is not None or beta is not None:
        if not any(stage.options is GraphRerankerOptions for stage in stages_of(method)):
            raise UsageError(
                f"--method {method} does not use PageRank, so --alpha and --beta have no effect.",
                hint="Leave them out, or choose --method graph.",
            )
        # A missing one is 1 minus the other.
        first = alpha if alpha is not None else 1.0 - (beta or 0.0)
        second = beta if beta is not None else 1.0 - first
        if not (0.0 < first <= 1.0 and 0.0 < second <= 1.0 and abs(first + second - 1.0) <= 1e-6):
            raise UsageError(f"--alpha and --beta must be in (0, 1] and sum to 1, not {first:g} and {second:g}.")
        chosen = chosen.override(GraphRerankerOptions, alpha=first, beta=second)
    with Pack(pack) as opened:
        pipeline = Pipeline(chosen, opened, offline=offline)
        for document in documents:
            trace = Trace()
            found = document["results"]
            # An empty list is not an error: the search before the pipe may find nothing.
            reranked = found and rerank_results(
                pipeline, query or document.get("question") or "", found, method, top_k=top_k or len(found), trace=trace
            )
            print_trace(environment, trace)
            printed = rerank_document(document, reranked, method, trace)
            if is_lines:
                print_json_line(environment, printed)
            else:
                (print_json if json_output else print_reranked)(environment, printed)


def _read(location: str, environment: Environment) -> tuple[list[dict[str, Any]], bool]:
    """Return the documents to rerank, and whether they are JSON Lines."""
    name = "standard input" if location == "-" else location
    try:
        if location == "-":
            text = read_stdin(environment, "search results")
        else:
            text = read_regular(Path(location), _MAX_RESULTS_BYTES).decode("utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"Cannot read the results from {name}: {describe_read_error(error)}.") from error
    text = text.removeprefix("\ufeff").strip()
    if not text:
        raise UsageError(f"{name} holds no results.", hint=_PIPED)
    try:
        return [_document(json.loads(text), name)], False
    except (ValueError, RecursionError) as error:
        rows = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
        if len(rows) < 2:
            raise UsageError(f"{name} is not valid JSON: {error}.") from error
    documents = []
    for number, row in rows:
        try:
            documents.append(_document(json.loads(row), f"line {number} of {name}"))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"Line {number} of {name} is not valid JSON: {error}.") from error
    return documents, True


def _document(value: Any, name: str) -> dict[str, Any]:
    from wikigr.text import scrub

    if isinstance(value, list):
        value = {"schema_version": SCHEMA_VERSION, "question": "", "results": value}
    if not isinstance(value, dict) or not isinstance(value.get("results"), list):
        raise UsageError(f"{name} holds neither a list of results nor the output of `wikigr search --json`.")
    if not all(isinstance(result, dict) for result in value["results"]):
        raise UsageError(f"{name} holds a result that is not an object.")
    if not isinstance(value.get("question", ""), str):
        raise UsageError(f"The question in {name} is not a string.")
    for result in value["results"]:
        for key in ("title", "content", "section_id"):
            if isinstance(result.get(key), str):
                result[key] = scrub(result[key])
    return value
