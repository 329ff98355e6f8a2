"""The graph of a pack as NumPy arrays, computed at build time, so that questions need not read it from the database.

The nodes are the articles, followed by the entities other than plain values and namesakes of articles. Two nodes are
neighbors if a link, a mention or a triple connects them in either direction.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wikigr.errors import PackError
from wikigr.graph.engine import Graph
from wikigr.graph.link_graph import read_edges
from wikigr.graph.neighborhood import Kind, Node
from wikigr.graph.stored_arrays import UNREADABLE, TooLargeError, load_arrays, save_arrays
from wikigr.names import bare_name, name_key
from wikigr.text import fold

_EDGES = (
    ("Article", "LINKS_TO", "Article"),
    ("Article", "MENTIONS", "Article"),
    ("Article", "HAS_ENTITY", "Entity"),
    ("Entity", "RELATED_TO", "Entity"),
)

_DTYPES = {"ends": "int64", "indptr": "int64", "indices": "int32", "name_hashes": "uint64", "name_nodes": "int32"}
_MEMBERS = ("version", "digest", "articles", "text", *_DTYPES)

# Increment it when the meaning of an array changes.
_VERSION = 1


class GraphIndexError(PackError):
    """The file of a graph index is missing, damaged or has another version."""


@dataclass(frozen=True, eq=False)
class GraphIndex:
    """An undirected graph in CSR format, with the names of its nodes.

    The neighbors of node ``n``, without ``n`` itself, are ``indices[indptr[n]:indptr[n + 1]]`` in ascending order.
    ``digest`` is the content digest of the pack. The first ``articles`` nodes are the articles, and the entities
    follow; both are sorted by key. ``text`` holds each node's key and name (which may be empty) in UTF-8, and ``ends``
    holds their end offsets, two per node. ``name_hashes``, in ascending order, and ``name_nodes`` map names to nodes;
    64-bit hashes make collisions within a pack negligible.
    """

    digest: str
    articles: int
    text: bytes
    ends: NDArray[np.int64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    name_hashes: NDArray[np.uint64]
    name_nodes: NDArray[np.int32]

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.indptr) - 1

    def node(self, number: int) -> Node:
        """Return the node ``number``; raises ``IndexError``."""
        if not 0 <= number < len(self):
            raise IndexError(f"no node has the number {number}")
        middle, end = (int(place) for place in self.ends[2 * number : 2 * number + 2])
        kind: Kind = "article" if number < self.articles else "entity"
        return Node(kind, self._key(number).decode(), self.text[middle:end].decode())

    def _key(self, number: int) -> bytes:
        begin = self.ends.item(2 * number - 1) if number else 0
        return self.text[begin : self.ends.item(2 * number)]

    def named(self, key: str) -> list[int]:
        """Return the nodes with the name ``key``, in ascending order.

        Names are stored folded (``text.fold``) and as keys (``names.name_key``). They include titles with and without
        qualifiers, aliases, names of entities, and the ids of entities without a name.
        """
        wanted = _hash(key)
        begin = int(self.name_hashes.searchsorted(wanted))
        # Most of what is looked up in a text is no name.
        if begin == len(self.name_hashes) or self.name_hashes[begin] != wanted:
            return []
        end = int(self.name_hashes.searchsorted(wanted, side="right"))
        return [int(number) for number in self.name_nodes[begin:end]]

    def named_any(self, keys: Sequence[str]) -> list[int]:
        """Return the nodes with any of the names ``keys``, in ascending order; much faster than one lookup per key."""
        wanted = np.array([_hash(key) for key in keys], dtype=np.uint64)
        begins = np.searchsorted(self.name_hashes, wanted, side="left")
        ends = np.searchsorted(self.name_hashes, wanted, side="right")
        return sorted({int(n) for b, e in zip(begins, ends, strict=True) if b < e for n in self.name_nodes[b:e]})

    def number_of(self, title: str) -> int | None:
        """Return the number of the article ``title``, or ``None``."""
        return self._number_of(title, 0, self.articles)

    def number_of_node(self, node: Node) -> int | None:
        """Return the number of ``node``, or ``None`` if the graph does not contain it."""
        if node.kind == "article":
            return self.number_of(node.key)
        return self._number_of(node.key, self.articles, len(self))

    def _number_of(self, key: str, begin: int, end: int) -> int | None:
        """Return the number of the node with ``key`` in the range from ``begin`` to ``end``, which is sorted by key."""
        # UTF-8 sorts like the characters it encodes.
        wanted = key.encode("utf-8", "surrogatepass")
        number = bisect_left(range(end), wanted, lo=begin, key=self._key)
        return number if number < end and self._key(number) == wanted else None

    @cached_property
    def names(self) -> list[str]:
        """The name of every node, by number."""
        ends = [0, *self.ends.tolist()]
        return [self.text[ends[i] : ends[i + 1]].decode() for i in range(1, len(ends) - 1, 2)]

    def degrees_of(self, nodes: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the number of neighbors of each of ``nodes``."""
        degrees: NDArray[np.int64] = self.indptr[nodes + 1] - self.indptr[nodes]
        return degrees

    def equals(self, other: GraphIndex) -> bool:
        """Return whether ``other`` has the same content."""
        return (self.digest, self.articles, self.text) == (other.digest, other.articles, other.text) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in _DTYPES
        )

    def save(self, path: Path) -> None:
        """Write the index to ``path``; the same graph gives the same bytes."""
        save_arrays(
            path,
            {
                "version": np.array(_VERSION),
                "digest": np.array(self.digest),
                "articles": np.array(self.articles),
                "text": np.frombuffer(self.text, dtype=np.uint8),
                **{name: getattr(self, name) for name in _DTYPES},
            },
        )


def load_graph_index(path: Path, max_nodes: int | None = None) -> GraphIndex:
    """Return the index stored at ``path``, memory-mapped; raises ``GraphIndexError``.

    An index with more than ``max_nodes`` nodes is refused.
    """
    try:
        arrays = load_arrays(path, _MEMBERS, {} if max_nodes is None else {"indptr": max_nodes + 1})
        version = int(arrays.pop("version"))
        if version != _VERSION:
            raise GraphIndexError(f"The graph index {path} has version {version}, not {_VERSION}.")
        index = GraphIndex(
            digest=str(arrays.pop("digest")),
            articles=int(arrays.pop("articles")),
            text=arrays.pop("text").tobytes(),
            **arrays,
        )
    except TooLargeError as error:
        raise GraphIndexError(f"The graph index {path} has more nodes than the pack.") from error
    except UNREADABLE as error:
        raise GraphIndexError(f"Cannot read the graph index {path}: {' '.join(str(error).split())}.") from error
    if not _is_valid(index):
        raise GraphIndexError(f"The graph index {path} is damaged.")
    return index


def _is_valid(index: GraphIndex) -> bool:
    """Return whether every array has its dtype and all offsets and node numbers are in range."""
    if not all(getattr(index, name).dtype == kind and getattr(index, name).ndim == 1 for name, kind in _DTYPES.items()):
        return False
    nodes = len(index.indptr) - 1
    return (
        0 <= index.articles <= nodes
        and int(index.indptr[0]) == 0
        and _is_text(index.text, index.ends)
        and len(index.ends) == 2 * nodes
        and _ascends(index.ends, 0, len(index.text))
        and _ascends(index.indptr, 0, len(index.indices))
        and int(index.indptr[-1]) == len(index.indices)
        and len(index.name_hashes) == len(index.name_nodes)
        and _within(index.indices, nodes)
        and _within(index.name_nodes, nodes)
    )


def _is_text(text: bytes, ends: NDArray[np.int64]) -> bool:
    """Return whether ``text`` is valid UTF-8 and none of ``ends`` splits a character."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    inner = ends[(ends >= 0) & (ends < len(text))]
    return bool((np.frombuffer(text, dtype=np.uint8)[inner] & 0xC0 != 0x80).all())


def _ascends(values: NDArray[np.int64], low: int, high: int) -> bool:
    return not len(values) or (int(values[0]) >= low and int(values[-1]) <= high and bool((np.diff(values) >= 0).all()))


def _within(values: NDArray[np.int32], count: int) -> bool:
    return not len(values) or (int(values.min()) >= 0 and int(values.max()) < count)


# Reads the edges of a relation between two node tables: the graph and the names of the tables.
EdgeReader = Callable[[Graph, str, str, str], tuple[NDArray[np.int32], NDArray[np.int32]]]


def index_graph(graph: Graph, digest: str, read: EdgeReader = read_edges) -> GraphIndex:
    """Build the index of a pack's graph; ``digest`` is the pack's content digest. Raises ``QueryError``."""
    articles = sorted(graph.rows("MATCH (a:Article) RETURN a.title, offset(id(a)), a.aliases"), key=itemgetter(0))
    rows = graph.rows("MATCH (e:Entity) RETURN e.entity_id, offset(id(e)), e.name, e.type, e.aliases")
    by_fold: dict[str, int] = {}
    for number, (title, *_) in enumerate(articles):
        by_fold.setdefault(fold(title), number)
    entities = sorted((row for row in rows if row[0] not in by_fold and row[3] != "value"), key=itemgetter(0))
    # Maps from row offsets in the two tables to node numbers; -1 for rows that are not nodes.
    places = {row[0]: len(articles) + i for i, row in enumerate(entities)} | by_fold
    numbers = {
        "Article": _numbers((offset, number) for number, (_, offset, _) in enumerate(articles)),
        "Entity": _numbers((row[1], places.get(row[0], -1)) for row in rows),
    }
    edges = []
    for source, relation, target in _EDGES:
        sources, targets = read(graph, source, relation, target)
        edges.append((numbers[source][sources], numbers[target][targets]))
    indptr, indices = _adjacency(len(articles) + len(entities), edges)

    named = [(title, title, aliases) for title, _, aliases in articles]
    named += [(key, name or "", aliases) for key, _, name, _, aliases in entities]
    text = bytearray()
    text_ends = []
    for key, name, _ in named:
        for part in (key, name):
            text += part.encode("utf-8", "replace")
            text_ends.append(len(text))
    names = sorted(
        (_hash(key), number)
        for number, (own, name, aliases) in enumerate(named)
        for key in _keys((name or own, bare_name(name or own), *(aliases or ())))
    )
    return GraphIndex(
        digest=digest,
        articles=len(articles),
        text=bytes(text),
        ends=np.array(text_ends, dtype=np.int64),
        indptr=indptr,
        indices=indices,
        name_hashes=np.array([hashed for hashed, _ in names], dtype=np.uint64),
        name_nodes=np.array([number for _, number in names], dtype=np.int32),
    )


def _numbers(pairs: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """Return an array that maps offsets to numbers, from ``(offset, number)`` pairs."""
    known = list(pairs)
    numbers = np.full(1 + max((offset for offset, _ in known), default=-1), -1, dtype=np.int64)
    for offset, number in known:
        numbers[offset] = number
    return numbers


def _adjacency(
    nodes: int, edges: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return ``indptr`` and ``indices`` of the undirected simple graph of ``edges``; skip edges with negative ends."""
    sources = np.concatenate([source for source, _ in edges])
    targets = np.concatenate([target for _, target in edges])
    kept = (sources >= 0) & (targets >= 0) & (sources != targets)
    sources, targets = sources[kept], targets[kept]
    both = np.unique(np.concatenate([sources * nodes + targets, targets * nodes + sources]))
    rows, columns = np.divmod(both, max(nodes, 1))
    indptr = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=nodes), out=indptr[1:])
    return indptr, columns.astype(np.int32)


def _keys(names: Iterable[str]) -> list[str]:
    found = dict.fromkeys(key for name in names for key in (fold(name), name_key(name)))
    return [key for key in found if key]


def _hash(key: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "big"))
