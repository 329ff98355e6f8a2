"""The nodes and edges around a node, from which triplets and paths are built."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, Self

from wikigr.errors import UsageError
from wikigr.graph.engine import Graph
from wikigr.text import fold

Kind = Literal["article", "entity"]

# Relations between articles, and from an article to an entity. Any other name is the ``relation`` of a RELATED_TO
# edge. A build renames facts with these names (``ingest.entities``).
ARTICLE_RELATIONS = ("LINKS_TO", "MENTIONS")
HAS_ENTITY = "HAS_ENTITY"
STRUCTURAL = (*ARTICLE_RELATIONS, HAS_ENTITY)

# The limit of one join.
_MAX_ROWS = 200_000
# The limit of the name caches, which bounds memory in a long session.
_MAX_NAMES = 100_000


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """An article (``key`` is its title) or an entity (``key`` is its id); ``name`` is the display name."""

    kind: Kind
    key: str
    name: str

    @property
    def label(self) -> str:
        """The name on one line, or the key of a node without a name."""
        return " ".join(self.name.split()) or self.key

    @property
    def rank(self) -> tuple[str, str, str]:
        """The sort key of nodes: label, key, kind."""
        return self.label, self.key, self.kind


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """A relation and the direction in which it is traversed; ``inverse`` means from target to source."""

    relation: str
    inverse: bool = False

    def __str__(self) -> str:
        return f"~{self.relation}" if self.inverse else self.relation


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """``source`` -``relation``-> ``target``, as stored; ``section_id`` is the section that states it, if known."""

    source: Node
    relation: str
    target: Node
    section_id: str = ""

    def other(self, node: Node) -> Node:
        """Return the end that is not ``node``, or ``node`` itself if the edge is a loop."""
        return self.target if self.source == node else self.source

    def step_from(self, node: Node) -> Step:
        """Return the step that traverses the edge from ``node``."""
        return Step(self.relation, inverse=self.source != node)

    def __str__(self) -> str:
        return f"{self.source.label} -> {self.relation} -> {self.target.label}"


@dataclass(frozen=True, slots=True)
class Expansion:
    """The edges at each requested node, and the nodes whose edges exceeded the limit (``cut``)."""

    edges: Mapping[Node, tuple[Edge, ...]]
    cut: frozenset[Node]


def article(title: str) -> Node:
    """Return the node of an article."""
    return Node("article", title, title)


# The label of each kind of node, and the property that is its key.
_LABELS: dict[Kind, tuple[str, str]] = {"article": ("Article", "title"), "entity": ("Entity", "entity_id")}


@dataclass(frozen=True, slots=True)
class _EdgesAt:
    """How the edges of a relationship table are read from one of their ends.

    ``near`` and ``far`` are the kinds of the node at that end and at the other one. The query ``one`` returns the edges
    of ``$key``, and ``many`` those of each of ``$keys``: the key, that of the other end, its name, and, of a fact, its
    relation and its section.
    """

    table: str
    inverse: bool
    near: Kind
    far: Kind
    one: str
    many: str

    @classmethod
    def of(cls, table: str, near: Kind, far: Kind, *, inverse: bool, only: str = "") -> Self:
        """``only`` is a condition on an edge ``r``."""
        (label, key), (other_label, other_key) = _LABELS[near], _LABELS[far]
        arrow = f"<-[r:{table}]-" if inverse else f"-[r:{table}]->"
        name = "coalesce(o.name, '')" if far == "entity" else "o.title"
        returned, order = f"o.{other_key}, {name}", f"o.{other_key}"
        if table == "RELATED_TO":
            returned += ", coalesce(r.relation, ''), coalesce(r.section_id, '')"
            order = f"r.relation, {order}, r.section_id"
        pattern = f"{arrow}(o:{other_label}){only}"
        return cls(
            table,
            inverse,
            near,
            far,
            one=f"MATCH (a:{label} {{{key}: $key}}){pattern} RETURN $key, {returned} ORDER BY {order} LIMIT $most",
            many=f"UNWIND $keys AS key MATCH (a:{label} {{{key}: key}}){pattern} "
            f"RETURN key, {returned} ORDER BY key, {order} LIMIT $most",
        )

    def edge(self, here: Node, row: Sequence[Any]) -> Edge:
        """Return the edge at ``here`` in a row without its first column."""
        key, name, *fact = map(str, row)
        relation, section_id = fact or (self.table, "")
        other = Node(self.far, key, name)
        return Edge(other, relation, here, section_id) if self.inverse else Edge(here, relation, other, section_id)


# By direction, in the order of an expansion.
_STRUCTURE = {
    False: (
        *(_EdgesAt.of(table, "article", "article", inverse=False) for table in ARTICLE_RELATIONS),
        _EdgesAt.of(HAS_ENTITY, "article", "entity", inverse=False),
    ),
    True: (
        *(_EdgesAt.of(table, "article", "article", inverse=True) for table in ARTICLE_RELATIONS),
        _EdgesAt.of(HAS_ENTITY, "entity", "article", inverse=True),
    ),
}
# By direction, and by whether only some relations are wanted.
_FACTS = {
    (inverse, bool(only)): _EdgesAt.of("RELATED_TO", "entity", "entity", inverse=inverse, only=only)
    for inverse in (False, True)
    for only in ("", " WHERE r.relation IN $relations")
}
_FACT_COUNTS = {
    inverse: f"MATCH (e:Entity {{entity_id: $key}}){arrow}(:Entity) RETURN coalesce(r.relation, ''), count(*)"
    for inverse, arrow in ((False, "-[r:RELATED_TO]->"), (True, "<-[r:RELATED_TO]-"))
}
_TITLES = "UNWIND $keys AS key MATCH (a:Article {title: key}) RETURN a.title"
_NAMES = "UNWIND $keys AS key MATCH (e:Entity {entity_id: key}) RETURN e.entity_id, coalesce(e.name, '')"


class Neighborhood:
    """Reads the edges of a pack's graph around given nodes, in a fixed order.

    An article and the entity with its name (``entity_id`` is the folded title) are the same thing and are returned as
    the article: either node has the edges of both. The article of an entity is found by the entity's name as spelled,
    or with the first letter or every word capitalized. Looked-up names are cached. Not thread-safe.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        # By entity id: the title of the entity's article, and the entity's name; None if there is none.
        self._titles: dict[str, str | None] = {}
        self._names: dict[str, str | None] = {}

    def expand(
        self,
        nodes: Sequence[Node],
        *,
        relations: Collection[str] | None = None,
        inverse: bool | None = None,
        most: int = 1000,
    ) -> Expansion:
        """Return the distinct edges at each of ``nodes``, at most ``most`` of each kind and direction per node.

        The kinds are ``LINKS_TO``, ``MENTIONS``, ``HAS_ENTITY`` and all of ``RELATED_TO`` together. Outgoing edges
        precede incoming ones; within a direction, edges are sorted by kind, and facts by relation and then by the key
        of the other end. ``relations`` are ``LINKS_TO``, ``MENTIONS``, ``HAS_ENTITY`` or names of ``RELATED_TO``
        relations; ``None`` means any. ``inverse`` selects edges that point to a node (true) or away from it (false);
        ``None`` means both. Raises ``QueryError``.
        """
        nodes = list(dict.fromkeys(nodes))
        found: dict[Node, list[Edge]] = {node: [] for node in nodes}
        cut: set[Node] = set()
        titles = self._articles_of(nodes)
        entities = self._entities_of(nodes)
        # Edges start at the article, even if the entity with its name was requested.
        here = {node: article(titles[node] or "") if titles[node] is not None else node for node in nodes}
        facts = None if relations is None else sorted(set(relations) - set(STRUCTURAL))

        def add(table: _EdgesAt, **parameters: Any) -> None:
            keys = titles if table.near == "article" else entities
            rows = self._rows(table, [key for key in keys.values() if key is not None], most, parameters)
            for node, key in keys.items():
                kept = rows.get(key, []) if key is not None else []
                if len(kept) > most:
                    cut.add(node)
                found[node] += (table.edge(here[node], row) for row in kept[:most])

        for backwards in (False, True) if inverse is None else (inverse,):
            for table in _STRUCTURE[backwards]:
                if table.table in self._present and (relations is None or table.table in relations):
                    add(table)
            if "RELATED_TO" in self._present and facts != []:
                add(_FACTS[backwards, facts is not None], **({} if facts is None else {"relations": facts}))
        unified = self._unified({e for edges in found.values() for edge in edges for e in (edge.source, edge.target)})
        shown = {
            node: dict.fromkeys(replace(e, source=unified[e.source], target=unified[e.target]) for e in found[node])
            for node in nodes
        }
        for node in nodes:
            # The HAS_ENTITY edge of an article to itself.
            shown[node].pop(Edge(here[node], HAS_ENTITY, here[node]), None)
        return Expansion({node: tuple(edges) for node, edges in shown.items()}, frozenset(cut))

    def facts_at(self, node: Node) -> dict[Step, int]:
        """Return the number of ``RELATED_TO`` edges at ``node`` for each relation and direction.

        The most frequent come first; ties break by relation, then forward before inverse. Raises ``QueryError``.
        """
        entity = self.entity_of(node) if "RELATED_TO" in self._present else None
        if entity is None:
            return {}
        counts = {
            Step(str(name), inverse): int(count)
            for inverse, query in _FACT_COUNTS.items()
            for name, count in self._graph.rows(query, {"key": entity})
        }
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    @cached_property
    def relations(self) -> dict[str, int]:
        """Every relation of the graph with its number of edges, the most frequent first; ties break by name.

        The first access reads every ``RELATED_TO`` edge.
        """
        counts: dict[str, int] = {}
        for name in STRUCTURAL:
            ((count,),) = self._graph.rows(f"MATCH ()-[r:{name}]->() RETURN count(r)")
            if count:
                counts[name] = int(count)
        counts.update(
            (str(name), int(count))
            for name, count in self._graph.rows("MATCH ()-[r:RELATED_TO]->() RETURN r.relation, count(r)")
            if name is not None and name not in STRUCTURAL
        )
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    @cached_property
    def _present(self) -> frozenset[str]:
        """The relationship tables that have edges; the others need not be queried."""
        tables = (*STRUCTURAL, "RELATED_TO")
        return frozenset(t for t in tables if self._graph.rows(f"MATCH ()-[r:{t}]->() RETURN 1 LIMIT 1"))

    def entity_of(self, node: Node) -> str | None:
        """Return the id of the entity that is ``node`` or has the name of the article ``node``, or ``None``."""
        return self._entities_of([node])[node]

    def unified(self, node: Node) -> Node:
        """Return the article if ``node`` is an entity with an article's name, else ``node``."""
        return self._unified([node])[node]

    def nodes(self, keys: Iterable[tuple[Kind, str]]) -> list[Node]:
        """Return the existing nodes among these kinds and keys, in order."""
        found = []
        for kind, key in keys:
            query = (
                "MATCH (a:Article {title: $key}) RETURN a.title"
                if kind == "article"
                else "MATCH (e:Entity {entity_id: $key}) RETURN coalesce(e.name, '')"
            )
            found += [Node(kind, key, str(name)) for (name,) in self._graph.rows(query, {"key": key})]
        return found

    def require(self, node: Node) -> Node:
        """Return ``node`` as stored, or its article if it has one; raises ``UsageError`` if it is not in the pack."""
        stored = self.nodes([(node.kind, node.key)])
        if not stored:
            raise UsageError(
                f"The pack has no {node.kind} {node.label!r}.",
                hint="`wikigr search` finds the articles that mention something.",
            )
        return self.unified(stored[0])

    def _rows(
        self, table: _EdgesAt, keys: Sequence[str], most: int, parameters: Mapping[str, Any]
    ) -> dict[str, list[Sequence[Any]]]:
        """Return the rows of each key, without the key: at most ``most`` + 1, so that an excess is detectable."""
        keys = sorted(set(keys))
        # A lookup of one key takes 0.7 ms. A join with a list of keys takes as long for one key as for hundreds: about
        # as long as ten lookups, on 100,000 edges.
        if len(keys) > 8:
            # The limit applies to the whole join, so a join that reaches it is split into two halves of the keys.
            rows = self._graph.rows(table.many, {"keys": keys, "most": _MAX_ROWS, **parameters})
            if len(rows) < _MAX_ROWS:
                by_key = groupby(rows, key=lambda row: str(row[0]))
                return {key: [row[1:] for row in group][: most + 1] for key, group in by_key}
            halves = (keys[: len(keys) // 2], keys[len(keys) // 2 :])
            return {k: rows for half in halves for k, rows in self._rows(table, half, most, parameters).items()}
        return {
            key: [row[1:] for row in self._graph.rows(table.one, {"key": key, "most": most + 1, **parameters})]
            for key in keys
        }

    def _articles_of(self, nodes: Iterable[Node]) -> dict[Node, str | None]:
        nodes = list(nodes)
        if len(self._titles) > _MAX_NAMES:
            self._titles.clear()
        unknown = {n.key: n.name for n in nodes if n.kind == "entity" and n.key not in self._titles}
        if unknown:
            spelled = {
                key: [s for s in dict.fromkeys((name, name[:1].upper() + name[1:], name.title())) if fold(s) == key]
                for key, name in unknown.items()
            }
            candidates = sorted({name for names in spelled.values() for name in names})
            rows = self._graph.rows(_TITLES, {"keys": candidates}) if candidates else []
            titles = {str(title) for (title,) in rows}
            for key, names in spelled.items():
                self._titles[key] = next((name for name in names if name in titles), None)
        return {node: node.key if node.kind == "article" else self._titles[node.key] for node in nodes}

    def _entities_of(self, nodes: Iterable[Node]) -> dict[Node, str | None]:
        keys = {node: node.key if node.kind == "entity" else fold(node.key) for node in nodes}
        if len(self._names) > _MAX_NAMES:
            self._names.clear()
        unknown = sorted(set(keys.values()) - self._names.keys())
        if unknown:
            self._names.update(dict.fromkeys(unknown))
            self._names.update((str(k), str(name)) for k, name in self._graph.rows(_NAMES, {"keys": unknown}))
        names = {node: self._names[key] for node, key in keys.items()}
        named = {node: Node("entity", keys[node], name) for node, name in names.items() if name is not None}
        # Check the reverse as well: if two titles fold to the same id, the entity belongs to only one of the articles.
        titles = self._articles_of(named.values())
        return {
            node: keys[node] if node in named and (node.kind == "entity" or titles[named[node]] == node.key) else None
            for node in keys
        }

    def _unified(self, nodes: Iterable[Node]) -> dict[Node, Node]:
        return {node: node if title is None else article(title) for node, title in self._articles_of(nodes).items()}
