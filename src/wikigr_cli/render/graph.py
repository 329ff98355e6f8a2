"""What the commands of ``wikigr graph`` and ``wikigr why`` print."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from wikigr_cli.environment import Environment, plain
from wikigr_cli.render.output import SCHEMA_VERSION, counted

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.graph.neighborhood import Edge, Node, Step
    from wikigr.pipeline.why import Why
    from wikigr.retrieval.cypher.runner import QueryResult
    from wikigr.retrieval.entity_linking import Link
    from wikigr.retrieval.explore.paths import Path, Paths
    from wikigr.retrieval.explore.triplets import TripletResult

_WIDTH = 80
# Names longer than this are cut where people read them: a value can be a megabyte.
_MAX_NAME_LENGTH = 200


def node(item: Node) -> dict[str, str]:
    """Return a node as JSON has it."""
    return {"kind": item.kind, "key": item.key, "name": item.name}


def edge(item: Edge) -> dict[str, Any]:
    """Return an edge as JSON has it: as stored, from its source to its target."""
    return {
        "source": node(item.source),
        "relation": item.relation,
        "target": node(item.target),
        "section_id": item.section_id or None,
    }


def links_document(question: str, found: Sequence[Link], limit: int, warnings: Sequence[str]) -> dict[str, Any]:
    """Return what ``wikigr graph link --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "question": question,
        "links": [
            {
                "mention": item.mention,
                "start": item.start,
                "end": item.end,
                "node": node(item.node),
                "method": item.method,
                "score": round(item.score, 4),
            }
            for item in found[:limit]
        ],
        "truncated": len(found) > limit,
        "warnings": list(warnings),
    }


def links(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print links one a line: score, method, what is linked, and to what."""
    for item in document["links"]:
        kind = "" if item["node"]["kind"] == "article" else "  (entity)"
        mention = "(the question)" if item["method"] == "semantic" else _line(item["mention"])
        environment.print(f"{item['score']:.3f}  {item['method']:<8}  ", style="dim", end="")
        environment.print(f"{mention} → {_label(item['node'])}{kind}", hang=17)
    if not document["links"]:
        environment.note("The question names nothing in the pack; --semantic 5 shows the nearest articles.")


def neighbors_document(start: Node, edges: Sequence[Edge], truncated: bool, warnings: Sequence[str]) -> dict[str, Any]:
    """Return what ``wikigr graph neighbors --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "node": node(start),
        "edges": [edge(item) for item in edges],
        "truncated": truncated,
        "warnings": list(warnings),
    }


def neighbors(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print the edges around a node, one a line."""
    _edges(environment, document["edges"])
    if not document["edges"]:
        environment.note(f"No such edge at {_label(document['node'])}.")


def triplets_document(
    question: str, sources: Sequence[Node], result: TripletResult, warnings: Sequence[str]
) -> dict[str, Any]:
    """Return what ``wikigr graph triplets --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "question": question,
        "sources": [node(item) for item in sources],
        "triplets": [{**edge(item), "text": str(item)} for item in result.triplets],
        "explored": [node(item) for item in result.explored],
        "iterations": result.iterations,
        "stop_reason": result.stop_reason,
        "truncated": result.truncated,
        "warnings": list(warnings),
    }


def triplets(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print triplets, the most important first."""
    _edges(environment, document["triplets"])
    if not document["sources"]:
        environment.note("The question names nothing in the pack; name a start with --from.")
    elif not document["triplets"]:
        environment.note(f"Nothing leads on from {', '.join(map(_label, document['sources']))}.")
    elif environment.verbosity > 0:
        environment.note(
            f"Explored {', '.join(map(_label, document['explored']))} in "
            f"{counted(document['iterations'], 'iterations')}; "
            f"stopped: {document['stop_reason']}."
        )


def paths_document(
    start: Node, end: Node | None, steps: Sequence[Step] | None, found: Paths, warnings: Sequence[str]
) -> dict[str, Any]:
    """Return what ``wikigr graph paths --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "from": node(start),
        "to": None if end is None else node(end),
        "metapath": None if steps is None else " -> ".join(map(str, steps)),
        "paths": [_path(item) for item in found.paths],
        "truncated": found.truncated,
        "warnings": list(warnings),
    }


def _path(item: Path) -> dict[str, Any]:
    return {"text": str(item), "nodes": [node(n) for n in item.nodes], "edges": [edge(e) for e in item.edges]}


def paths(environment: Environment, document: Mapping[str, Any], max_hops: int) -> None:
    """Print paths, one a line."""
    for item in document["paths"]:
        environment.print(_line(item["text"], len(item["nodes"]) * 2), hang=4)
    if not document["paths"]:
        place = f"from {_label(document['from'])}" + (f" to {_label(document['to'])}" if document["to"] else "")
        bound = (
            f"of at most {max_hops} hops" if document["metapath"] is None else f"along {_line(document['metapath'])}"
        )
        stopped = " was found before the search had to stop" if document["truncated"] else ""
        environment.note(f"No path {place} {bound}{stopped}.")


def rows_document(result: QueryResult) -> dict[str, Any]:
    """Return what ``wikigr graph cypher --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "columns": list(result.columns),
        "rows": [list(row) for row in result.rows],
        "truncated": result.truncated,
        "cut": result.cut,
        "cypher_query": result.executed,
    }


def rows(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print the rows of a query: as a table where 80 columns hold it, else one value a line."""
    columns = [_line(name) for name in document["columns"]]
    cells = [[_cell(value) for value in row] for row in document["rows"]]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    if not cells:
        environment.note("No rows.")
    elif sum(widths) + 2 * (len(widths) - 1) <= _WIDTH:
        right = [all(_is_number(row[i]) for row in document["rows"]) for i in range(len(columns))]
        for number, row in enumerate([columns, *cells]):
            texts = [
                cell.rjust(width) if end else cell.ljust(width)
                for cell, width, end in zip(row, widths, right, strict=True)
            ]
            environment.print("  ".join(texts).rstrip(), style="" if number else "bold", overflow="cut")
    else:
        # A long name of a column has a line of its own width, rather than moving all values.
        margin = min(max(map(len, columns)), _WIDTH // 4)
        for number, row in enumerate(cells):
            if number:
                environment.print()
            for name, cell in zip(columns, row, strict=True):
                environment.print(f"{name:<{margin}}  ", style="bold", end="")
                environment.print(cell, hang=margin + 2)


def schema(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print a schema: tables with their properties, and the most frequent relations with their numbers."""
    for number, table in enumerate(document["nodes"]):
        if number:
            environment.print()
        environment.print(f"(:{table['label']})", style="bold", end="")
        environment.print(f"  {table['count']:,}", style="dim")
        _properties(environment, table["properties"])
    environment.print()
    for table in document["relationships"]:
        environment.print(f"(:{table['source']})-[:{table['type']}]->(:{table['target']})", style="bold", end="")
        environment.print(f"  {table['count']:,}", style="dim")
        _properties(environment, table["properties"])
    if document["relations"]:
        environment.print()
        environment.print("RELATED_TO.relation", style="bold", end="")
        environment.print(f"  {document['relations_total']:,}, the most frequent first", style="dim")
        width = max(len(f"{item['count']:,}") for item in document["relations"])
        for item in document["relations"]:
            environment.print(f"  {item['count']:>{width},}  {_line(item['relation'])}")


def why_document(answer: Answer, explained: Why) -> dict[str, Any]:
    """Return what ``wikigr why --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "question": answer.question,
        "title": explained.title,
        "section_id": explained.section_id,
        "profile": answer.profile,
        "outcome": explained.outcome,
        "reason": explained.reason,
        "dropped_at": explained.dropped_at,
        "setting": explained.setting,
        "stages": [
            {
                "stage": stage.stage,
                "rank": stage.rank,
                "article_rank": stage.article_rank,
                "of": stage.of,
                "section_id": stage.section_id,
                "score": None if stage.score is None else round(stage.score, 6),
                "reason": stage.reason or None,
            }
            for stage in explained.stages
        ],
        "abstained": answer.abstained,
        "degraded": answer.trace.degraded,
        "warnings": answer.trace.warnings,
    }


def why(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print what became of an article: the outcome, then its place at every stage."""
    environment.print(_line(document["section_id"] or document["title"]), style="bold", end="")
    environment.print(f": {_line(document['reason'], 4)}")
    if document["setting"]:
        environment.print(
            f"`{document['setting']}` in the profile {_line(document['profile'])} decides that.", style="dim"
        )
    environment.print()
    environment.print(f"{'stage':<16}{'section':>8}{'of':>6}{'article':>9}", style="bold")
    for stage in document["stages"]:
        if stage["rank"] is None:
            environment.print(
                f"{stage['stage']:<16}{'-':>8}{stage['of']:>6}{'-':>9}  {_line(stage['reason'], 4)}", hang=41
            )
        else:
            score = "" if stage["score"] is None else f"  {stage['score']:.3f}"
            place = f"{stage['rank']:>8}{stage['of']:>6}{stage['article_rank']:>9}"
            environment.print(f"{stage['stage']:<16}{place}  {_line(stage['section_id'])}", end="")
            environment.print(score, style="dim", hang=41)


def _properties(environment: Environment, properties: Sequence[Mapping[str, Any]]) -> None:
    texts = [
        f"{p['name']} {p['type']}" + (" (key)" if p["key"] else " (do not return)" if p["hidden"] else "")
        for p in properties
    ]
    # Broken between properties only.
    joined = ", ".join(text.replace(" ", "\0") for text in texts)
    for line in wrap(joined, _WIDTH - 2, break_long_words=False, break_on_hyphens=False):
        environment.print(f"  {line}".replace("\0", " "))


def _edges(environment: Environment, edges: Iterable[Mapping[str, Any]]) -> None:
    for item in edges:
        text = f"{_label(item['source'])} -> {_line(item['relation'])} -> {_label(item['target'])}"
        environment.print(text, end="")
        environment.print(f"  [{_line(item['section_id'])}]" if item["section_id"] else "", style="dim", hang=4)


def _label(item: Mapping[str, str]) -> str:
    return _line(item["name"]) or _line(item["key"])


def _line(text: str, names: int = 1) -> str:
    """Return ``text`` from a pack on one line, without what drives a terminal, cut to so many names' length."""
    most = names * _MAX_NAME_LENGTH
    # Cut first: a megabyte need not be read.
    line = plain(" ".join(text[: 2 * most].split()))
    return line if len(line) <= most and len(text) <= 2 * most else f"{line[: most - 1]}…"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return plain(" ".join(value.split()))
    return plain(json.dumps(value, ensure_ascii=False))


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
