"""Describe the schema of a pack's graph to the author of a query: tables, properties and relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import STRUCTURAL, Neighborhood
from wikigr.graph.schema import NODE_TABLES, REL_TABLES

MAX_RELATIONS = 30
# Longer names are not shown to a model, since a relation can be a whole sentence or a prompt injection.
MAX_RELATION_LENGTH = 60
# Properties that are useless in a result.
_HIDDEN = frozenset({"embedding"})


@dataclass(frozen=True, slots=True)
class Property:
    """A column with the engine's name of its type. Queries should not return ``hidden`` columns."""

    name: str
    type: str
    key: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A node label, or a relationship type between the labels ``ends``, with its number of rows and its columns."""

    name: str
    count: int
    properties: tuple[Property, ...]
    ends: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the table as a JSON object."""
        names = (
            {"type": self.name, "source": self.ends[0], "target": self.ends[1]} if self.ends else {"label": self.name}
        )
        return {**names, "count": self.count, "properties": list(map(asdict, self.properties))}


@dataclass(frozen=True, slots=True)
class GraphSchema:
    """The tables, and the values of ``RELATED_TO.relation`` with their numbers of edges, most frequent first.

    ``relations_total`` includes the relations that are not listed.
    """

    nodes: tuple[Table, ...]
    relationships: tuple[Table, ...]
    relations: tuple[tuple[str, int], ...]
    relations_total: int

    @property
    def truncated(self) -> bool:
        """Whether some relations are not listed."""
        return len(self.relations) < self.relations_total

    def to_text(self) -> str:
        """Return the schema for a prompt: one line per table, relations as escaped Cypher strings.

        Its length is bounded for any pack, and no name in it can end a line or open a tag.
        """
        lines = ["Nodes:"]
        lines += [f"(:{table.name} {_signature(table.properties)}) x {table.count}" for table in self.nodes]
        lines.append("Relationships:")
        for edges in self.relationships:
            properties = f" {_signature(edges.properties)}" if edges.properties else ""
            source, target = edges.ends
            lines.append(f"(:{source})-[:{edges.name}{properties}]->(:{target}) x {edges.count}")
        hidden = [f"{table.name}.{column.name}" for table in self.nodes for column in table.properties if column.hidden]
        if hidden:
            lines.append(f"Never return: {', '.join(hidden)}")
        if self.relations:
            short = [(name, count) for name, count in self.relations if len(name) <= MAX_RELATION_LENGTH]
            listed = ", ".join(f"{cypher_string(name)} x {count}" for name, count in short)
            rest = self.relations_total - len(short)
            lines.append(
                f"RELATED_TO.relation is one of: {listed or '(long names)'}" + (f" and {rest} more" if rest else "")
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as a JSON object."""
        return {
            "nodes": [table.to_dict() for table in self.nodes],
            "relationships": [table.to_dict() for table in self.relationships],
            "relations": [{"relation": name, "count": count} for name, count in self.relations],
            "relations_total": self.relations_total,
            "truncated": self.truncated,
        }


def describe_schema(graph: Graph, neighborhood: Neighborhood, *, max_relations: int = MAX_RELATIONS) -> GraphSchema:
    """Read the schema of a pack with its ``max_relations`` most frequent relations; raises ``QueryError``."""
    counts: Mapping[str, int] = neighborhood.relations
    facts = [(name, count) for name, count in counts.items() if name not in STRUCTURAL]
    present = {str(row[1]) for row in graph.rows("CALL show_tables() RETURN *")}
    nodes = tuple(
        Table(name, _count(graph, f"(n:{name})"), _properties(graph, name)) for name in NODE_TABLES if name in present
    )
    relationships = []
    for name in REL_TABLES:
        if name in present:
            count = counts.get(name, 0) if name in STRUCTURAL else _count(graph, f"()-[n:{name}]->()")
            properties = _properties(graph, name)
            ends = sorted({(str(a), str(b)) for a, b, *_ in graph.rows(f"CALL show_connection('{name}') RETURN *")})
            relationships += [Table(name, count, properties, (a, b)) for a, b in ends]
    return GraphSchema(nodes, tuple(relationships), tuple(facts[:max_relations]), len(facts))


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


def _properties(graph: Graph, table: str) -> tuple[Property, ...]:
    rows = sorted(graph.rows(f"CALL table_info('{table}') RETURN *"), key=lambda row: int(row[0]))
    # For relationship tables, the fifth column holds the storage direction instead of the primary key flag.
    return tuple(Property(str(row[1]), str(row[2]), row[4] is True, str(row[1]) in _HIDDEN) for row in rows)


def _signature(properties: Sequence[Property]) -> str:
    return "{" + ", ".join(f"{p.name} {p.type}" + (" KEY" if p.key else "") for p in properties) + "}"
