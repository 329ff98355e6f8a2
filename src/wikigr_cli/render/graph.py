"""What the commands of ``wikigr graph`` and ``wikigr pagerank`` print."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wikigr.text import harmless
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import Document, counted, one_line, print_warning

if TYPE_CHECKING:
    from wikigr.graph_search.cypher.runner import QueryResult
    from wikigr.pack.open import Corpus

_WIDTH = 80
# Longer names are cut in text output.
_MAX_NAME_LENGTH = 200


def print_neighbors(environment: Environment, document: Document) -> None:
    """Print the edges of a node, one per line."""
    for item in document["edges"]:
        text = f"{_label(item['source'])} -> {_line(item['relation'])} -> {_label(item['target'])}"
        environment.print(text, end="")
        environment.print(f"  [{_line(item['section_id'])}]" if item["section_id"] else "", style="dim", hang=4)
    if not document["edges"]:
        environment.note(f"{_label(document['node'])} has no such edge.")


def print_paths(environment: Environment, document: Document, max_hops: int) -> None:
    """Print paths, one per line."""
    for item in document["paths"]:
        environment.print(_line(item["text"], len(item["nodes"]) * 2), hang=4)
    if not document["paths"]:
        ends = f"from {_label(document['from'])}" + (f" to {_label(document['to'])}" if document["to"] else "")
        bound = (
            f"of at most {max_hops} hops" if document["metapath"] is None else f"along {_line(document['metapath'])}"
        )
        stopped = " was found before the search stopped at its limit" if document["truncated"] else ""
        environment.note(f"No path {ends} {bound}{stopped}.")


def rows_document(result: QueryResult) -> dict[str, Any]:
    """Return what ``wikigr graph cypher --json`` prints."""
    return {
        "columns": list(result.columns),
        "rows": [list(row) for row in result.rows],
        "truncated": result.truncated,
        "cut": result.cut,
        "cypher_query": result.executed,
    }


def print_rows(environment: Environment, document: Document) -> None:
    """Print the rows of a query: as a table if it fits 80 columns, else one value per line."""
    columns = [_line(name) for name in document["columns"]]
    cells = [[_cell_text(value) for value in row] for row in document["rows"]]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    if not cells:
        environment.note("No rows.")
    elif sum(widths) + 2 * (len(widths) - 1) <= _WIDTH:
        right = [all(_is_number(row[i]) for row in document["rows"]) for i in range(len(columns))]
        for number, row in enumerate([columns, *cells]):
            fields = zip(row, widths, right, strict=True)
            line = "  ".join(f"{cell:>{width}}" if end else f"{cell:<{width}}" for cell, width, end in fields)
            environment.print(line.rstrip(), style="" if number else "bold", overflow="cut")
    else:
        # A long column name must not push all values to the right.
        margin = min(max(map(len, columns)), _WIDTH // 4)
        for number, row in enumerate(cells):
            if number:
                environment.print()
            for name, cell in zip(columns, row, strict=True):
                environment.print(f"{name:<{margin}}  ", style="bold", end="")
                environment.print(cell, hang=margin + 2)


def print_schema(environment: Environment, document: Document) -> None:
    """Print a schema as a model reads it that writes queries."""
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


def warn(environment: Environment, pack: Corpus) -> None:
    """Print the warning about the graph of ``pack``, if there is one."""
    if pack.graph_index_warning:
        print_warning(environment, pack.graph_index_warning)


def note_truncation(environment: Environment, hint: str, *, truncated: bool) -> None:
    """Say on stderr that the result is ``truncated``, and how to get more."""
    if truncated:
        environment.note(f"Truncated: {hint}")


def print_built(environment: Environment, document: Document) -> None:
    """Print one line for each pack whose PageRank cache was written, or was still valid; failures were reported."""
    for row in document["packs"]:
        if "error" not in row:
            outcome = f"written in {row['milliseconds']:.0f} ms" if row["written"] else "fresh"
            counts = f"{counted(row['articles'], 'articles')}, {counted(row['links'], 'links')}"
            environment.print(f"{row['pack']}: {counts}, {row['file']} {outcome}", hang=2)
