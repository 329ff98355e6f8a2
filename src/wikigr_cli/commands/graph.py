"""``wikigr graph``: the graph of a pack."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any, Literal

from wikigr.errors import UsageError
from wikigr.text import harmless
from wikigr_cli.command import Result, command
from wikigr_cli.command_table import group
from wikigr_cli.environment import Environment, read_stdin
from wikigr_cli.options import Argument, Retrieval
from wikigr_cli.render.output import Document, align, one_line, print_warning
from wikigr_cli.render.terminal import cells

_WIDTH = 80
# Longer names are cut in text output.
_MAX_NAME_LENGTH = 200


def _print_neighbors(environment: Environment, document: Document) -> None:
    for item in document["edges"]:
        text = f"{_label(item['source'])} -> {_line(item['relation'])} -> {_label(item['target'])}"
        environment.print(text, end="")
        environment.print(f"  [{_line(item['section_id'])}]" if item["section_id"] else "", style="dim", hang=4)
    if not document["edges"]:
        environment.note(f"{_label(document['node'])} has no such edge.")


def _print_paths(environment: Environment, document: Document, max_hops: int) -> None:
    for item in document["paths"]:
        environment.print(_line(item["text"], len(item["nodes"]) * 2), hang=4)
    if not document["paths"]:
        ends = f"from {_label(document['from'])}" + (f" to {_label(document['to'])}" if document["to"] else "")
        bound = (
            f"of at most {max_hops} hops" if document["metapath"] is None else f"along {_line(document['metapath'])}"
        )
        stopped = " was found before the search stopped at its limit" if document["truncated"] else ""
        environment.note(f"No path {ends} {bound}{stopped}.")


def _print_rows(environment: Environment, document: Document) -> None:
    """Print the rows of a query: as a table if it fits 80 columns, else one value per line."""
    columns = [_line(name) for name in document["columns"]]
    texts = [[_cell_text(value) for value in row] for row in document["rows"]]
    numbers = [n for n in range(len(columns)) if all(_is_number(row[n]) for row in document["rows"])]
    lines = align([columns, *texts], numbers)
    if not texts:
        environment.note("No rows.")
    elif cells(lines[0]) <= _WIDTH:
        for number, line in enumerate(lines):
            environment.print(line.rstrip(), style="" if number else "bold", overflow="cut")
    else:
        # A long column name must not push all values to the right.
        margin = min(max(map(len, columns)), _WIDTH // 4)
        for number, row in enumerate(texts):
            if number:
                environment.print()
            for name, text in zip(columns, row, strict=True):
                environment.print(f"{name:<{margin}}  ", style="bold", end="")
                environment.print(text, hang=margin + 2)


def _print_schema(environment: Environment, document: Document) -> None:
    from wikigr.graph_search.explore.graph_schema import schema_text

    for line in schema_text(document).splitlines():
        environment.print(line, hang=2)


def _label(item: Document) -> str:
    return _line(item["name"]) or _line(item["key"])


def _line(text: str, names: int = 1) -> str:
    """Return untrusted ``text`` on one line, cut so that several names fit on it."""
    return one_line(text, names * _MAX_NAME_LENGTH)


def _cell_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return harmless(" ".join(value.split()))
    return harmless(json.dumps(value, ensure_ascii=False))


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _print_warnings(environment: Environment, document: Document) -> None:
    for warning in document["warnings"]:
        print_warning(environment, warning)


def _note_truncation(environment: Environment, hint: str, *, truncated: bool) -> None:
    """Say on stderr that the result is ``truncated``, and how to get more."""
    if truncated:
        environment.note(f"Truncated: {hint}")


@command(
    _print_neighbors,
    name=Argument(metavar="NAME...", help="An article or entity. Case and underscores do not matter."),
    relation=Retrieval(metavar="R", help="Show only LINKS_TO, MENTIONS, HAS_ENTITY or this relation of the pack."),
    direction=Retrieval(help="Show outgoing edges, incoming edges or both."),
)
def neighbors(
    environment: Environment,
    name: str,
    pack: str,
    relation: str | None = None,
    direction: Literal["out", "in", "both"] = "both",
    top_k: int = 20,
) -> Iterator[Document]:
    """Show the edges of an article or entity.

    --top-k counts the edges of each kind and direction; all facts are one kind.

    Examples:
      wikigr graph neighbors Louis de Broglie --pack packs/physics
      wikigr graph neighbors Spin --direction in -k 5 --pack packs/physics
    """
    from wikigr.documents.graph import neighbors_document
    from wikigr.pack.open import Pack

    inverse = None if direction == "both" else direction == "in"
    with Pack(pack) as opened:
        document = neighbors_document(
            opened, name, relation=relation, inverse=inverse, limit=top_k, note=environment.note
        )
    _print_warnings(environment, document)
    yield document
    hint = "--top-k shows more edges of a kind, --relation one kind only."
    _note_truncation(environment, hint, truncated=document["truncated"])


@command(
    start=Argument(metavar="A", help="The first article or entity."),
    end=Argument(metavar="[B]", help="The last article or entity; optional with --metapath."),
    metapath=Retrieval(metavar="STEPS", help='Follow these relations: "director -> born_in". ~R follows R backward.'),
    max_hops=Retrieval(min=1, help="The maximum number of edges in a shortest path, up to 8."),
)
def paths(
    environment: Environment,
    start: str,
    end: str | None = None,
    *,
    pack: str,
    metapath: str | None = None,
    max_hops: int = 4,
    top_k: int = 10,
) -> Iterator[Result]:
    """Show the paths between two nodes, or along a metapath.

    Shortest paths follow edges in both directions. ~R in a path is an edge R in the opposite direction.

    Examples:
      wikigr graph paths Spin "Louis de Broglie" --pack packs/physics
      wikigr graph paths Spin --metapath "LINKS_TO" -k 3 --pack packs/physics
    """
    if end is None and metapath is None:
        raise UsageError(
            "Give two names, or one name and --metapath.", hint='Example: wikigr graph paths "Isaac Newton" "Moon"'
        )

    from wikigr.documents.graph import paths_document
    from wikigr.pack.open import Pack

    with Pack(pack) as opened:
        document = paths_document(
            opened, start, end, metapath=metapath, max_hops=max_hops, max_paths=top_k, note=environment.note
        )
    _print_warnings(environment, document)
    yield document, partial(_print_paths, max_hops=max_hops)
    if not document["paths"]:
        hint = f"a {'smaller --max-hops' if metapath is None else 'shorter metapath'} can be searched completely."
    else:
        hint = "--top-k shows more paths." if len(document["paths"]) == top_k else "the search stopped at its limit."
    _note_truncation(environment, hint, truncated=document["truncated"])


# The longest query, in seconds.
_MAX_TIMEOUT = 3600.0
# The engine reports a malformed query with these words. Every other failure is a run-time error.
_MALFORMED = re.compile(r"The query failed: (?:Binder|Parser) exception: ")


@command(
    _print_rows,
    query=Argument(metavar="QUERY|-", help="A read-only query, or - to read it from standard input."),
    timeout=Retrieval(metavar="SECONDS", help="Interrupt the query after this time."),
)
def cypher(
    environment: Environment, query: str, pack: str, top_k: int = 100, timeout: float = 10.0
) -> Iterator[Document]:
    """Run a read-only Cypher query on the pack. Queries that write or have no bound are refused (exit 2).

    A result wider than 80 columns is printed with one value on each line.

    Examples:
      wikigr graph cypher "MATCH (a:Article) RETURN a.title" -p packs/physics -k 3
      wikigr graph cypher "MATCH (e:Entity) RETURN e.name" -p packs/physics --json
    """
    if not 0.0 < timeout <= _MAX_TIMEOUT:
        raise UsageError(f"--timeout must be above 0 and at most {_MAX_TIMEOUT:g} seconds, not {timeout:g}.")

    from wikigr.graph.engine import QueryError
    from wikigr.graph_search.cypher.dialect import BlockedQueryError
    from wikigr.graph_search.cypher.runner import QueryRunner
    from wikigr.pack.layout import DATABASE, MANIFEST
    from wikigr.pack.locate import find_pack
    from wikigr.pack.manifest import read_manifest
    from wikigr.text import scrub

    text = scrub(read_stdin(environment, "the query") if query == "-" else query)
    layout = find_pack(pack)
    with layout.reading():
        read_manifest(layout.part(MANIFEST))
        runner = QueryRunner(layout.part(DATABASE))
    with closing(runner):
        try:
            result = runner.run(text, max_rows=top_k, timeout=timeout)
        except (BlockedQueryError, QueryError) as error:
            if not isinstance(error, BlockedQueryError) and not _MALFORMED.match(error.message):
                raise
            hint = error.hint or "`wikigr graph schema` shows labels, properties and relations."
            raise UsageError(error.message, hint=hint) from error
    yield {
        "columns": list(result.columns),
        "rows": [list(row) for row in result.rows],
        "truncated": result.truncated,
        "cut": result.cut,
        "cypher_query": result.executed,
    }
    _note_truncation(environment, "--top-k shows more rows.", truncated=result.truncated)
    if result.cut:
        environment.note("Long texts and lists are cut, marked with an ellipsis (…).")
    if environment.verbosity > 0:
        environment.note(f"Executed in {result.milliseconds:.1f} ms: {result.executed}")


@command(_print_schema)
def schema(environment: Environment, pack: str, top_k: int = 30) -> Iterator[Document]:
    """Show what a query can use, such as labels and properties.

    It also shows the relationships and the most frequent relations, at most --top-k of them.

    Examples:
      wikigr graph schema --pack packs/physics
      wikigr graph schema --pack packs/physics --top-k 5 --json
    """
    from wikigr.graph.neighborhood import Neighborhood
    from wikigr.graph_search.explore.graph_schema import describe_schema
    from wikigr.pack.open import Pack

    with Pack(pack) as opened:
        described = describe_schema(opened.graph, Neighborhood(opened.graph), max_relations=top_k)
    yield described
    _note_truncation(environment, "--top-k lists more relations.", truncated=described["truncated"])


graph = group(
    """Explore how the articles of a pack are connected.

    Examples:
      wikigr graph neighbors Spin --pack packs/physics
    """,
    {"neighbors": neighbors, "paths": paths, "cypher": cypher, "schema": schema},
)
