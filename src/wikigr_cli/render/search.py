"""What ``wikigr search`` and ``why`` print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from wikigr.text import escape_markdown, markdown_link
from wikigr_cli.environment import Environment
from wikigr_cli.render.blocks import print_blocks
from wikigr_cli.render.formats import (
    OutputFormat,
    address_to_link,
    print_csv,
    print_markdown_table,
    with_fields,
)
from wikigr_cli.render.output import Document, one_line, print_address, print_json, print_json_line

if TYPE_CHECKING:
    from wikigr.documents.shapes import BlockShape

# Two lines of a terminal with 80 columns.
SNIPPET_LENGTH = 148
# The keys of a result, the one that results of several packs have in addition, and the columns by default.
FIELDS = ("rank", "title", "section_id", "section", "source_id", "score", "scores", "content", "url")
PACK = "pack"
_COLUMNS = tuple(field for field in FIELDS if field != "scores")


def search_fields(document: Document, fields: Sequence[str] | None) -> dict[str, Any]:
    """Return the document with only ``fields`` in its results."""
    return {**document, "results": [with_fields(result, fields) for result in document["results"]]}


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
        print_json(environment, search_fields(document, fields))
    elif output_format == "jsonl":
        for result in results:
            print_json_line(environment, with_fields(result, fields))
    elif output_format == "csv":
        print_csv(environment, results, fields or (*_COLUMNS, *([PACK] if "packs" in document else [])))
    elif output_format == "md" and fields is not None:
        print_markdown_table(environment, results, fields)
    elif output_format == "md":
        _print_markdown_list(environment, results, snippets)
    else:
        print_results(environment, document, snippets)


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


def print_results(environment: Environment, document: Document, snippets: Iterable[list[BlockShape]]) -> None:
    """Print the sections found, with the best part of each one, in which the words of the question stand out."""
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


# Longer texts are cut in text output.
_MAX_NAME_LENGTH = 200
_MAX_REASON_LENGTH = 800
# Continuation lines start in the last column of the table.
_HANG = 41


def print_why(environment: Environment, document: Document) -> None:
    """Print the outcome for an article, then its rank at every stage."""
    environment.print(one_line(document["section_id"] or document["title"], _MAX_NAME_LENGTH), style="bold", end="")
    environment.print(f": {one_line(document['reason'], _MAX_REASON_LENGTH)}")
    if document["setting"]:
        profile = one_line(document["profile"], _MAX_NAME_LENGTH)
        environment.print(f"`{document['setting']}` in the profile {profile} decides that.", style="dim")
    environment.print()
    environment.print(f"{'stage':<16}{'section':>8}{'of':>6}{'article':>9}", style="bold")
    for stage in document["stages"]:
        if stage["rank"] is None:
            reason = one_line(stage["reason"], _MAX_REASON_LENGTH)
            environment.print(f"{stage['stage']:<16}{'-':>8}{stage['of']:>6}{'-':>9}  {reason}", hang=_HANG)
        else:
            score = "" if stage["score"] is None else f"  {stage['score']:.3f}"
            place = f"{stage['rank']:>8}{stage['of']:>6}{stage['article_rank']:>9}"
            section_id = one_line(stage["section_id"], _MAX_NAME_LENGTH)
            environment.print(f"{stage['stage']:<16}{place}  {section_id}", end="")
            environment.print(score, style="dim", hang=_HANG)
