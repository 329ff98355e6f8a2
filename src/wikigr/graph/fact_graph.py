"""The facts of a pack as arrays, for following many relation paths at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import Node, Step
from wikigr.text import fold

Numbers = NDArray[np.int64]


def opposite(step: int) -> int:
    """Return the number of the step along the same relation in the other direction; see ``FactGraph``."""
    return step ^ 1


def forward(step: int) -> int:
    """Return the number of the forward step along the same relation; see ``FactGraph``."""
    return step & ~1


@dataclass(frozen=True, slots=True)
class Reached:
    """Edges that were followed: from ``sources`` to ``ends``, stated by ``rows``; three arrays of equal length."""

    sources: Numbers
    ends: Numbers
    rows: Numbers


@dataclass(frozen=True, eq=False)
class FactGraph:
    """The ``RELATED_TO`` edges of a pack, in both directions.

    Node ``n`` is the entity ``keys[n]`` with the name ``names[n]``; ``is_value[n]`` says that it is a number, a date or
    the like. A step is a relation with a direction: ``steps[2 * r]`` forward and ``steps[2 * r + 1]`` inverse. The
    edges are sorted by ``places``, which is ``node * len(steps) + step``; ``ends`` are their other nodes, and ``rows``
    the facts that state them, whose section is ``section_of(row)``.
    """

    keys: list[str]
    names: list[str]
    is_value: NDArray[np.bool_]
    steps: tuple[Step, ...]
    places: Numbers
    ends: Numbers
    rows: Numbers
    sections: Any

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of every entity, by key."""
        return {key: number for number, key in enumerate(self.keys)}

    @cached_property
    def step_numbers(self) -> dict[Step, int]:
        """The number of every step."""
        return {step: number for number, step in enumerate(self.steps)}

    def number_of(self, node: Node) -> int | None:
        """Return the number of an entity, or of the entity that has the name of an article."""
        return self.numbers.get(fold(node.key) if node.kind == "article" else node.key)

    @cached_property
    def counts(self) -> Numbers:
        """The number of edges of each step."""
        return np.bincount(self.places % max(len(self.steps), 1), minlength=len(self.steps))

    def section_of(self, row: int) -> str:
        """Return the id of the section that states the fact ``row``, or an empty string."""
        return str(self.sections[row].as_py() or "")

    def steps_at(self, nodes: Numbers) -> tuple[Numbers, Numbers]:
        """Return the distinct steps that leave each of ``nodes``, as parallel arrays of positions in it and steps."""
        count = len(self.steps)
        begins = np.searchsorted(self.places, nodes * count)
        lengths = np.searchsorted(self.places, (nodes + 1) * count) - begins
        owners = np.repeat(np.arange(len(nodes)), lengths)
        found = np.unique(owners * count + self.places[_ranges(begins, lengths)] % count)
        return found // count, found % count

    def follow(self, nodes: Numbers, step: int, most: int) -> tuple[Reached, bool]:
        """Return the edges of ``step`` at ``nodes``, the first ``most`` of them, and whether there are more."""
        places = nodes * len(self.steps) + step
        begins = np.searchsorted(self.places, places)
        lengths = np.searchsorted(self.places, places, side="right") - begins
        cut = int(lengths.sum()) > most
        if cut:
            # The same share of every node, so that no hub crowds out the others.
            lengths = np.minimum(lengths, max(1, most // max(int((lengths > 0).sum()), 1)))
        edges = _ranges(begins, lengths)[:most]
        return Reached(np.repeat(nodes, lengths)[:most], self.ends[edges], self.rows[edges]), cut

    def sample_ends(self, step: int, most: int) -> Numbers:
        """Return the ends of at most ``most`` edges of ``step``, evenly spaced."""
        edges = self._edges_by_step[step]
        return np.asarray(self.ends[edges[:: max(1, -(-len(edges) // most))]])

    @cached_property
    def _edges_by_step(self) -> list[Numbers]:
        in_order = np.argsort(self.places % max(len(self.steps), 1), kind="stable")
        return np.split(in_order, np.cumsum(self.counts)[:-1])


def _ranges(begins: Numbers, lengths: Numbers) -> Numbers:
    """Return the concatenation of ``range(begin, begin + length)``."""
    total = int(lengths.sum())
    shifts = begins - np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else begins
    return np.asarray(np.arange(total, dtype=np.int64) + np.repeat(shifts, lengths))


def read_facts(graph: Graph) -> FactGraph:
    """Read every fact of a pack's graph, sorted by the ids of its entities; raises ``QueryError``."""
    nodes = graph.arrow(
        "MATCH (e:Entity) RETURN offset(id(e)) AS place, e.entity_id AS key, coalesce(e.name, '') AS name, "
        "coalesce(e.type, '') AS type"
    ).sort_by("key")
    facts = graph.arrow(
        "MATCH (a:Entity)-[r:RELATED_TO]->(b:Entity) RETURN offset(id(a)) AS source, offset(id(b)) AS target, "
        "coalesce(r.relation, '') AS relation, coalesce(r.section_id, '') AS section"
    )
    places = nodes["place"].to_numpy()
    number = np.zeros(int(places.max()) + 1 if len(places) else 0, dtype=np.int64)
    number[places] = np.arange(len(places))
    sources, targets = number[facts["source"].to_numpy()], number[facts["target"].to_numpy()]
    relations = sorted(set(facts["relation"].unique().to_pylist()))
    ids = {relation: n for n, relation in enumerate(relations)}
    encoded = facts["relation"].combine_chunks().dictionary_encode()
    kinds = np.array([ids[r] for r in encoded.dictionary.to_pylist()], dtype=np.int64)
    kind = kinds[encoded.indices.to_numpy()] if len(facts) else np.zeros(0, dtype=np.int64)

    count = 2 * len(relations)
    places = np.concatenate([sources * count + 2 * kind, targets * count + 2 * kind + 1])
    ends = np.concatenate([targets, sources])
    rows = np.tile(np.arange(len(sources), dtype=np.int64), 2)
    # Two sections may state the same fact: the first one counts.
    sections = np.array(facts["section"].to_pylist(), dtype=object)
    section_rank = np.argsort(np.argsort(sections, kind="stable"), kind="stable")
    order = np.lexsort((np.tile(section_rank, 2), ends, places))
    places, ends, rows = places[order], ends[order], rows[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (places[1:] != places[:-1]) | (ends[1:] != ends[:-1])
    return FactGraph(
        keys=nodes["key"].to_pylist(),
        names=nodes["name"].to_pylist(),
        is_value=np.array([kind == "value" for kind in nodes["type"].to_pylist()], dtype=bool),
        steps=tuple(Step(relation, inverse) for relation in relations for inverse in (False, True)),
        places=places[first],
        ends=ends[first],
        rows=rows[first],
        sections=facts["section"],
    )
