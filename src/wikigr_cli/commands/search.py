"""``wikigr search``: rank the sections of a pack for a question."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import typer

from wikigr.documents.answer import search_document
from wikigr.errors import UsageError
from wikigr.suggestions import did_you_mean, nearest
from wikigr.text import escape_markdown, markdown_link
from wikigr_cli import options
from wikigr_cli.batch import BatchQuestion, ask_each
from wikigr_cli.command import command
from wikigr_cli.environment import Environment, typed_in
from wikigr_cli.options import Model, Output, Retrieval
from wikigr_cli.render.blocks import print_blocks
from wikigr_cli.render.output import (
    Document,
    OutputFormat,
    address_to_link,
    chosen_format,
    print_address,
    print_json,
    print_json_line,
    print_trace,
)

if TYPE_CHECKING:
    from wikigr.documents.shapes import BlockShape, SearchDocument
    from wikigr.embeddings.loader import Purpose
    from wikigr.index.candidate import Evidence


# Two lines of a terminal with 80 columns.
SNIPPET_LENGTH = 148
# The keys of a result, the one that results of several packs have in addition, and the columns by default.
FIELDS = ("rank", "title", "section_id", "section", "source_id", "score", "scores", "content", "url")
PACK = "pack"
_COLUMNS = tuple(field for field in FIELDS if field != "scores")


def print_search(
    environment: Environment,
    document: Document,
    output_format: OutputFormat,
    fields: Sequence[str] | None,
    snippets: Iterable[list[BlockShape]],
) -> None:
    """Print the results of a search; ``snippets`` are the parts of their sections that match best, made when shown."""
    results = document["results"]
    if output_format == "json":
        print_json(environment, _with_fields(document, fields))
    elif output_format == "jsonl":
        for result in _with_fields(document, fields)["results"]:
            print_json_line(environment, result)
    elif output_format == "csv":
        columns = fields or (*_COLUMNS, *([PACK] if "packs" in document else []))
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([columns, *(_cells(row, columns) for row in results)])
        environment.write_text(text.getvalue())
    elif output_format == "md" and fields is not None:
        lines = [fields, ["---"] * len(fields)]
        for result in results:
            link, named = address_to_link(result.get("url")), zip(fields, _cells(result, fields), strict=True)
            lines.append([markdown_link(cell, link if field == "title" else None) for field, cell in named])
        environment.write_text("".join(f"| {' | '.join(line)} |\n" for line in lines))
    elif output_format == "md":
        _print_markdown_list(environment, results, snippets)
    else:
        _print_results(environment, document, snippets)


def _print_markdown_list(
    environment: Environment, results: Sequence[Document], snippets: Iterable[list[BlockShape]]
) -> None:
    from wikigr.documents.answer_markdown import blocks_markdown
    from wikigr.index.candidate import place

    for result, snippet in zip(results, snippets, strict=True):
        link = markdown_link(place(result["title"], result["section"]), address_to_link(result.get("url")))
        pack = f", {escape_markdown(result['pack'])}" if "pack" in result else ""
        found = f"{result['rank']}. {link}{pack} ({result['score']:.4f})"
        shown = blocks_markdown(snippet).replace("\n", "\n   ")
        environment.write_text(f"{found}\n   {shown}\n")


def _print_results(environment: Environment, document: Document, snippets: Iterable[list[BlockShape]]) -> None:
    from wikigr.index.candidate import place

    if not document["results"]:
        environment.note("Nothing in the pack matches.")
    for result, snippet in zip(document["results"], snippets, strict=True):
        section = place(result["title"], result["section"])
        pack = f"  {result['pack']}" if "pack" in result else ""
        environment.print(f"{result['rank']:>3}. ", style="bold", end="")
        environment.print(section, style="bold", end="", link=result["url"])
        environment.print(f"  {result['score']:.4f}{pack}", style="dim", hang=5)
        print_blocks(environment, snippet, lambda n: "", indent=5)
        print_address(environment, result["url"], indent=5)


def _chosen_fields(given: str | None) -> list[str] | None:
    """Return the fields of ``--fields a,b,c``, in order, or ``None`` without it; raise ``UsageError`` for others."""
    if given is None:
        return None
    known, names = (*FIELDS, PACK), [name.strip() for name in given.split(",")]
    for name in names:
        if name not in known:
            hint = did_you_mean(nearest(name, known), f"The fields are {', '.join(known)}.")
            raise UsageError(f"There is no field {name!r}.", hint=hint)
    return list(dict.fromkeys(names))


def _with_fields(document: Document, fields: Sequence[str] | None) -> dict[str, Any]:
    """Return the document with only ``fields`` in its results, in order, or as it is without ``fields``."""
    if fields is None:
        return dict(document)
    return {**document, "results": [{field: row.get(field) for field in fields} for row in document["results"]]}


def _cells(row: Document, fields: Sequence[str]) -> list[str]:
    """Return ``fields`` of a row as text: objects and lists are JSON, and a missing value is empty."""
    values = (row.get(field) for field in fields)
    return [v if isinstance(v, str) else "" if v is None else json.dumps(v, ensure_ascii=False) for v in values]


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
    columns = _chosen_fields(fields)
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
            print_json_line(environment, {"id": item.id, **_with_fields(found, columns)})

        if question is None:
            ask_each(environment, str(batch), lambda text: find(text)[1], show)
            return
        evidence, document = find(question)
        terms = query_terms(question, opened.lexical)
        # Only text and Markdown show them.
        snippets = (show_snippet(item.section, terms, SNIPPET_LENGTH) for item in evidence)
    print_search(environment, document, printed_as, columns, snippets)
