"""The graph of a pack as NumPy arrays, computed at build time, so that questions need not read it from the database.

The nodes are the articles, followed by the entities other than plain values and namesakes of articles. Two nodes are
neighbors if a link, a mention or a triple connects them in either direction.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikigr.errors import PackError
from wikigr.graph.engine import Graph
from wikigr.graph.link_graph import read_edges
from wikigr.graph.neighborhood import Kind, Node
from wikigr.graph.spellings import Spellings, spell
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
# Files of earlier versions have no spellings.
_SPELLINGS = {
    "spelling_nodes": "int32",
    "spelling_lengths": "uint16",
    "spelling_letters": "uint64",
    "spelling_last_words": "uint32",
}

# Rows of a table read at a time, and edges sorted at a time.
_ROWS = 10_000
_EDGES_PER_RANGE = 2_000_000

# Increment it when the meaning of an array changes.
_VERSION = 1


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
    stored_spellings: Spellings | None = None

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.indptr) - 1

    def node(self, number: int) -> Node:
        """Return the node ``number``; raises ``IndexError``."""
        if not 0 <= number < len(self):
            raise IndexError(f"no node has the number {number}")
        kind: Kind = "article" if number < self.articles else "entity"
        return Node(kind, self._key(number).decode(), self.name_of(number))

    def _key(self, number: int) -> bytes:
        begin = self.ends.item(2 * number - 1) if number else 0
        return self.text[begin : self.ends.item(2 * number)]

    def named(self, key: str) -> list[int]:
        """Return the nodes with the name ``key``, in ascending order.

        Names are stored folded (``text.fold``) and as keys (``names.name_key``). They include titles with and without
        qualifiers, aliases, names of entities, and the ids of entities without a name.
        """
        wanted = name_hash(key)
        begin = int(self.name_hashes.searchsorted(wanted))
        # Most of what is looked up in a text is not a name.
        if begin == len(self.name_hashes) or self.name_hashes[begin] != wanted:
            return []
        end = int(self.name_hashes.searchsorted(wanted, side="right"))
        return [int(number) for number in self.name_nodes[begin:end]]

    def named_any(self, keys: Sequence[str]) -> list[int]:
        """Return the nodes with any of the names ``keys``, in ascending order; much faster than one lookup per key."""
        return sorted({number for found in self._named_each(keys) for number in found})

    def _named_each(self, keys: Sequence[str]) -> Iterator[list[int]]:
        wanted = np.array([name_hash(key) for key in keys], dtype=np.uint64)
        begins = np.searchsorted(self.name_hashes, wanted, side="left").tolist()
        ends = np.searchsorted(self.name_hashes, wanted, side="right").tolist()
        yield from (self.name_nodes[begin:end].tolist() for begin, end in zip(begins, ends, strict=True))

    def numbers_of(self, titles: Sequence[str]) -> dict[str, int]:
        """Return the number of each of ``titles`` that is an article; much faster than one lookup per title."""
        return {
            title: number
            for title, found in zip(titles, self._named_each([fold(title) for title in titles]), strict=True)
            for number in found
            if number < self.articles and self._key(number) == title.encode("utf-8", "surrogatepass")
        }

    def number_of_node(self, node: Node) -> int | None:
        """Return the number of ``node``, or ``None`` if the graph does not contain it."""
        begin, end = (0, self.articles) if node.kind == "article" else (self.articles, len(self))
        # Each range is sorted by key, and UTF-8 sorts like the characters it encodes.
        wanted = node.key.encode("utf-8", "surrogatepass")
        number = bisect_left(range(end), wanted, lo=begin, key=self._key)
        return number if number < end and self._key(number) == wanted else None

    @cached_property
    def spellings(self) -> Spellings:
        """The spellings of all names; computed from the names if the index was stored without them."""
        return spell(self.names) if self.stored_spellings is None else self.stored_spellings

    def name_of(self, number: int) -> str:
        """Return the name of the node ``number``, which may be empty."""
        return self.text[self.ends.item(2 * number) : self.ends.item(2 * number + 1)].decode()

    @cached_property
    def names(self) -> list[str]:
        """The name of every node, by number."""
        ends = [0, *self.ends.tolist()]
        return [self.text[ends[i] : ends[i + 1]].decode() for i in range(1, len(ends) - 1, 2)]

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """The number of neighbors of every node, int64 of shape ``(len(self),)``."""
        return np.diff(self.indptr)

    @cached_property
    def pulls(self) -> NDArray[np.float64]:
        """The pull of every node on a walk, 1 / sqrt(its degree): float64 of shape ``(len(self),)``."""
        return 1.0 / np.sqrt(np.maximum(self.degrees, 1))

    @cached_property
    def pulls_around(self) -> NDArray[np.float64]:
        """The sum of the pulls of the neighbors of every node from which a walk has gone on, 0 for the others.

        Walks in several threads write the same sums.
        """
        return np.zeros(len(self))

    def equals(self, other: GraphIndex) -> bool:
        """Return whether ``other`` has the same content."""
        return (self.digest, self.articles, self.text) == (other.digest, other.articles, other.text) and all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(self._arrays().values(), other._arrays().values(), strict=True)
        )

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {
            **{name: getattr(self, name) for name in _DTYPES},
            **{name: getattr(self.spellings, name.removeprefix("spelling_")) for name in _SPELLINGS},
        }

    def save(self, path: Path) -> None:
        """Write the index to ``path``; the same graph gives the same bytes."""
        save_arrays(
            path,
            {
                "version": np.array(_VERSION),
                "digest": np.array(self.digest),
                "articles": np.array(self.articles),
                "text": np.frombuffer(self.text, dtype=np.uint8),
                **self._arrays(),
            },
        )


def load_graph_index(path: Path, max_nodes: int | None = None) -> GraphIndex:
    """Return the index stored at ``path``, memory-mapped; raises ``PackError``.

    An index with more than ``max_nodes`` nodes is refused.
    """
    try:
        arrays = load_arrays(
            path,
            ("version", "digest", "articles", "text", *_DTYPES),
            tuple(_SPELLINGS),
            {} if max_nodes is None else {"indptr": max_nodes + 1},
        )
        version = int(arrays.pop("version"))
        if version != _VERSION:
            raise PackError(f"The graph index {path} has version {version}, not {_VERSION}.")
        spelled = [arrays.pop(name, None) for name in _SPELLINGS]
        index = GraphIndex(
            digest=str(arrays.pop("digest")),
            articles=int(arrays.pop("articles")),
            text=arrays.pop("text").tobytes(),
            stored_spellings=None if any(part is None for part in spelled) else Spellings(*spelled),  # type: ignore[arg-type]
            **arrays,
        )
    except TooLargeError as error:
        raise PackError(f"The graph index {path} has more nodes than the pack.") from error
    except UNREADABLE as error:
        raise PackError(f"Cannot read the graph index {path}: {' '.join(str(error).split())}.") from error
    if not _is_valid(index):
        raise PackError(f"The graph index {path} is damaged.")
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
        and (index.stored_spellings is None or _are_valid(index.stored_spellings, nodes))
    )


def _are_valid(spellings: Spellings, nodes: int) -> bool:
    arrays = [getattr(spellings, name.removeprefix("spelling_")) for name in _SPELLINGS]
    return (
        [array.dtype for array in arrays] == list(_SPELLINGS.values())
        and all(array.shape == (len(spellings.nodes),) for array in arrays)
        and _within(spellings.nodes, nodes)
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
    articles, entities = _Nodes(), _Nodes()
    for offset, title, aliases in _rows(graph, "Article", "n.title, n.aliases"):
        articles.add(offset, title, title, aliases)
    titles = articles.sorted_places()
    by_fold: dict[str, int] = {}
    for number, place in enumerate(titles.tolist()):
        by_fold.setdefault(fold(articles.keys[place]), number)
    others = array("q")  # offsets of entities that are not nodes themselves, with the number of their article or -1
    for offset, key, name, kind, aliases in _rows(graph, "Entity", "n.entity_id, n.name, n.type, n.aliases"):
        if key in by_fold or kind == "value":
            others.extend((offset, by_fold.get(key, -1)))
        else:
            entities.add(offset, key, name or "", aliases)
    del by_fold
    ordered = ((articles, titles, 0), (entities, entities.sorted_places(), len(titles)))
    nodes = sum(len(places) for _, places, _ in ordered)
    rest = np.array(others, dtype=np.int64).reshape(-1, 2)
    numbers = {
        table: _numbers(
            np.concatenate([np.array(known.offsets, dtype=np.int64)[places], extra[:, 0]]),
            np.concatenate([np.arange(first, first + len(places)), extra[:, 1]]),
        )
        for table, (known, places, first), extra in zip(("Article", "Entity"), ordered, (rest[:0], rest), strict=True)
    }
    text, ends = bytearray(), array("q")
    hashes, hashed = [], []
    for known, places, first in ordered:
        for place in places.tolist():
            for part in (known.keys[place], known.names[place]):
                text += part.encode("utf-8", "replace")
                ends.append(len(text))
        number_at = np.empty(len(places), dtype=np.int32)
        number_at[places] = np.arange(first, first + len(places))
        hashes.append(np.array(known.hashes, dtype=np.uint64))
        hashed.append(number_at[np.array(known.hashed, dtype=np.int64)])
    spellings = spell(known.names[place] for known, places, _ in ordered for place in places.tolist())
    del articles, entities, ordered, known
    name_hashes, name_nodes = np.concatenate(hashes), np.concatenate(hashed)
    by_hash = np.lexsort((name_nodes, name_hashes))

    edges = []
    for source, relation, target in _EDGES:
        sources, targets = read(graph, source, relation, target)
        edges.append((numbers[source][sources], numbers[target][targets]))
        del sources, targets
    indptr, indices = _adjacency(nodes, edges)
    return GraphIndex(
        digest=digest,
        articles=len(titles),
        text=bytes(text),
        ends=np.array(ends, dtype=np.int64),
        indptr=indptr,
        indices=indices,
        name_hashes=name_hashes[by_hash],
        name_nodes=name_nodes[by_hash],
        stored_spellings=spellings,
    )


class _Nodes:
    """The nodes of one table in the order in which they are read, with the hashes of their names."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.names: list[str] = []
        self.offsets = array("q")
        self.hashes = array("Q")
        self.hashed = array("q")  # the place of the node that has each of the hashes

    def add(self, offset: int, key: str, name: str, aliases: Sequence[str] | None) -> None:
        known_as = name or key
        for found in _keys((known_as, bare_name(known_as), *(aliases or ()))):
            self.hashes.append(int(name_hash(found)))
            self.hashed.append(len(self.keys))
        self.keys.append(key)
        self.names.append(name)
        self.offsets.append(offset)

    def sorted_places(self) -> NDArray[np.int64]:
        """Return the places of the nodes in order of their keys."""
        return np.array(sorted(range(len(self.keys)), key=self.keys.__getitem__), dtype=np.int64)


def _rows(graph: Graph, table: str, columns: str) -> Iterator[Sequence[Any]]:
    """Yield the offset and the ``columns`` of each row of a node table, read page by page."""
    last = graph.rows(f"MATCH (n:{table}) RETURN max(offset(id(n)))")[0][0]
    query = (
        f"MATCH (n:{table}) WHERE offset(id(n)) >= $first AND offset(id(n)) < $beyond RETURN offset(id(n)), {columns}"
    )
    for first in range(0, 0 if last is None else int(last) + 1, _ROWS):
        yield from graph.rows(query, {"first": first, "beyond": first + _ROWS})


def _numbers(offsets: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return an array that maps offsets to numbers, and other offsets up to the largest one to -1."""
    found = np.full(1 + int(offsets.max(initial=-1)), -1, dtype=np.int32)
    found[offsets] = numbers
    return found


def _adjacency(
    nodes: int, edges: Sequence[tuple[NDArray[np.int32], NDArray[np.int32]]]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return ``indptr`` and ``indices`` of the undirected simple graph of ``edges``; skip edges with negative ends.

    Memory use: 8 bytes per neighbor, and those of one range of nodes, with about ``_EDGES_PER_RANGE`` edges, as 64-bit
    keys to be sorted.
    """
    degrees = np.zeros(nodes, dtype=np.int64)
    for pair in edges:
        for ends in pair:
            degrees += np.bincount(ends[ends >= 0], minlength=nodes)
    cuts = np.searchsorted(np.cumsum(degrees), np.arange(0, int(degrees.sum()), _EDGES_PER_RANGE))
    columns = [np.zeros(0, dtype=np.int32)]
    counts = np.zeros(nodes, dtype=np.int64)
    for first, beyond in pairwise(np.unique([0, *cuts.tolist(), nodes]).tolist()):
        keys = [
            (source[within] - np.int64(first)) * nodes + target[within]
            for pair in edges
            for source, target in (pair, pair[::-1])
            for within in [(source >= first) & (source < beyond) & (target >= 0) & (source != target)]
        ]
        rows, found = np.divmod(np.unique(np.concatenate(keys)), nodes)
        counts[first:beyond] = np.bincount(rows, minlength=beyond - first)
        columns.append(found.astype(np.int32))
    indptr = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    return indptr, np.concatenate(columns)


def _keys(names: Iterable[str]) -> list[str]:
    found = dict.fromkeys(key for name in names for key in (fold(name), name_key(name)))
    return [key for key in found if key]


def name_hash(key: str) -> np.uint64:
    """Return the hash by which an index finds the name ``key``, which is folded or a key."""
    return np.uint64(int.from_bytes(hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "big"))
