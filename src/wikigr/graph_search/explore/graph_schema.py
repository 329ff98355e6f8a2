"""Describe the schema of a pack's graph to the author of a query: tables, properties and relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import STRUCTURAL, Neighborhood
from wikigr.graph.schema import NODE_TABLES, REL_TABLES

MAX_RELATIONS = 30
# Longer names are not shown to a model, since a relation can be a whole sentence or a prompt injection.
MAX_RELATION_LENGTH = 60
# Properties that are useless in a result.
_HIDDEN = frozenset({"embedding"})


def describe_schema(graph: Graph, neighborhood: Neighborhood, *, max_relations: int = MAX_RELATIONS) -> dict[str, Any]:
    """Return the schema of a pack as a JSON object: its tables with their columns and numbers of rows, and relations.

    ``relations`` are the ``max_relations`` most frequent values of ``RELATED_TO.relation`` with their numbers of edges,
    of ``relations_total``; the schema is ``truncated`` if there are more. Queries should not return ``hidden`` columns.
    Raises ``QueryError``.
    """
    counts: Mapping[str, int] = neighborhood.relations
    facts = [{"relation": name, "count": count} for name, count in counts.items() if name not in STRUCTURAL]
    present = {str(row[1]) for row in graph.rows("CALL show_tables() RETURN *")}
    relationships = []
    for name in REL_TABLES:
        if name in present:
            count = counts.get(name, 0) if name in STRUCTURAL else _count(graph, f"()-[n:{name}]->()")
            rest = {"count": count, "properties": _properties(graph, name)}
            ends = sorted({(str(a), str(b)) for a, b, *_ in graph.rows(f"CALL show_connection('{name}') RETURN *")})
            relationships += [{"type": name, "source": source, "target": target, **rest} for source, target in ends]
    return {
        "nodes": [
            {"label": name, "count": _count(graph, f"(n:{name})"), "properties": _properties(graph, name)}
            for name in NODE_TABLES
            if name in present
        ],
        "relationships": relationships,
        "relations": facts[:max_relations],
        "relations_total": len(facts),
        "truncated": len(facts) > max_relations,
    }


def schema_text(schema: Mapping[str, Any]) -> str:
    """Return the schema for a prompt: one line per table, relations as escaped Cypher strings.

    Its length is bounded for any pack, and no name in it can end a line or open a tag.
    """
    lines = ["Nodes:"]
    lines += [f"(:{t['label']} {_signature(t['properties'])}) x {t['count']}" for t in schema["nodes"]]
    lines.append("Relationships:")
    for edges in schema["relationships"]:
        properties = f" {_signature(edges['properties'])}" if edges["properties"] else ""
        lines.append(f"(:{edges['source']})-[:{edges['type']}{properties}]->(:{edges['target']}) x {edges['count']}")
    hidden = [f"{t['label']}.{p['name']}" for t in schema["nodes"] for p in t["properties"] if p["hidden"]]
    if hidden:
        lines.append(f"Never return: {', '.join(hidden)}")
    if schema["relations"]:
        short = [item for item in schema["relations"] if len(item["relation"]) <= MAX_RELATION_LENGTH]
        listed = ", ".join(f"{cypher_string(item['relation'])} x {item['count']}" for item in short)
        rest = schema["relations_total"] - len(short)
        more = f" and {rest} more" if rest else ""
        lines.append(f"RELATED_TO.relation is one of: {listed or '(long names)'}{more}")
    return "\n".join(lines)


def cypher_string(text: str) -> str:
    """Return ``text`` as a single-line Cypher string; angle brackets and invisible characters are escaped."""
    parts = []
    for character in text:
        if character in "\\'":
            parts.append(f"\\{character}")
        elif character.isprintable() and character not in "<>":
            parts.append(character)
        else:
            code = ord(character)
            parts.append(f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}")
    return f"'{''.join(parts)}'"


def _count(graph: Graph, pattern: str) -> int:
    ((count,),) = graph.rows(f"MATCH {pattern} RETURN count(n)")
    return int(count)


def _properties(graph: Graph, table: str) -> list[dict[str, Any]]:
    rows = sorted(graph.rows(f"CALL table_info('{table}') RETURN *"), key=lambda row: int(row[0]))
    # For relationship tables, the fifth column holds the storage direction instead of the primary key flag.
    return [
        {"name": str(row[1]), "type": str(row[2]), "key": row[4] is True, "hidden": str(row[1]) in _HIDDEN}
        for row in rows
    ]


def _signature(properties: Sequence[Mapping[str, Any]]) -> str:
    return "{" + ", ".join(f"{p['name']} {p['type']}" + (" KEY" if p["key"] else "") for p in properties) + "}"
