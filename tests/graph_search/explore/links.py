"""A small graph of links and facts, and paths through it as text."""

from __future__ import annotations

import pyarrow as pa

from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import Neighborhood, Node
from wikigr.graph.schema import ddl
from wikigr.graph_search.explore.metapath import follow_metapath, parse_metapath
from wikigr.graph_search.explore.paths import shortest_paths

LINKS = [("A", "B"), ("B", "C"), ("C", "D"), ("A", "E"), ("E", "D"), ("B", "A"), ("B", "B"), ("F", "D"), ("A", "B")]


FACTS = [
    ("ada", "born_in", "london"),
    ("london", "located_in", "england"),
    ("ada", "born_in", "london"),
    ("bob", "born_in", "london"),
    ("ada", "knows", "bob"),
    ("ada", "spouse", "bob"),
    ("ada", "knows", "ada"),
    ("bob", "knows", "x9"),
]


NAMES = {"ada": "Ada", "bob": "Bob", "london": "London", "england": "England", "x9": ""}


def entity(key: str) -> Node:
    return Node("entity", key, NAMES[key])


def fill(graph: Graph, links: list[tuple[str, str]], facts: list[tuple[str, str, str]]) -> None:
    for statement in ddl(4):
        graph.execute(statement)
    titles = sorted({title for pair in links for title in pair}) or ["A"]
    graph.execute("UNWIND $titles AS title CREATE (:Article {title: title})", {"titles": titles})
    names = [{"key": key, "name": name} for key, name in NAMES.items()]
    graph.execute("UNWIND $names AS row CREATE (:Entity {entity_id: row.key, name: row.name})", {"names": names})
    if links:
        graph.copy("LINKS_TO", pa.table({"from": [a for a, _ in links], "to": [b for _, b in links]}))
    if facts:
        columns = list(zip(*facts, strict=True))
        sections = [f"A#{n}" for n in range(len(facts))]
        graph.copy(
            "RELATED_TO",
            pa.table({"from": columns[0], "to": columns[2], "relation": columns[1], "section_id": sections}),
        )


def follow(around: Neighborhood, start: Node, metapath: str, **limits: object) -> list[str]:
    return [str(p) for p in follow_metapath(around, start, parse_metapath(metapath, around), **limits).paths]  # type: ignore[arg-type]


def shortest(around: Neighborhood, start: Node, end: Node, **limits: object) -> list[str]:
    return [str(path) for path in shortest_paths(around, start, end, **limits).paths]  # type: ignore[arg-type]
