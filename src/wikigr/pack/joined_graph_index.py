"""The graph indexes of several packs, joined to one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from wikigr.graph.graph_index import GraphIndex, name_hash
from wikigr.text import fold


def article_titles(index: GraphIndex) -> list[str]:
    """Return the titles of the articles of ``index``, in order."""
    ends = [0, *index.ends[: 2 * index.articles].tolist()]
    return [index.text[ends[i] : ends[i + 1]].decode() for i in range(0, 2 * index.articles, 2)]


def join_graph_indexes(indexes: Sequence[GraphIndex], rename: Callable[[int, str], str], digest: str) -> GraphIndex:
    """Return one index of the nodes and edges of ``indexes``.

    ``rename`` maps the number of an index and a title in it to a title that is unique. An entity that several indexes
    contain becomes one node, and one that has the title of an article becomes part of it, as within a pack. These nodes
    connect the packs.
    """
    articles: list[tuple[bytes, bytes, int, int]] = []
    entities: dict[bytes, bytes] = {}
    members: list[tuple[bytes, int, int]] = []
    for i, index in enumerate(indexes):
        ends = [0, *index.ends.tolist()]
        for n in range(len(index)):
            key, name = index.text[ends[2 * n] : ends[2 * n + 1]], index.text[ends[2 * n + 1] : ends[2 * n + 2]]
            if n < index.articles:
                articles.append((rename(i, key.decode()).encode(), name, i, n))
            else:
                entities.setdefault(key, name)
                members.append((key, i, n))
    articles.sort()
    numbers = [np.zeros(len(index), dtype=np.int64) for index in indexes]
    places: dict[bytes, int] = {}
    for number, (key, _, i, n) in enumerate(articles):
        numbers[i][n] = number
        places.setdefault(fold(key.decode()).encode(), number)
    own = sorted(key for key in entities if key not in places)
    places |= {key: len(articles) + n for n, key in enumerate(own)}
    for key, i, n in members:
        numbers[i][n] = places[key]
    parts = [part for key, name, _, _ in articles for part in (key, name)]
    parts += [part for key in own for part in (key, entities[key])]
    nodes = len(parts) // 2
    indptr, indices = _join_edges(indexes, numbers, nodes)
    hashes, bearers = _join_names(indexes, numbers, [key.decode() for key, *_ in articles])
    return GraphIndex(
        digest=digest,
        articles=len(articles),
        text=b"".join(parts),
        ends=np.cumsum([len(part) for part in parts], dtype=np.int64),
        indptr=indptr,
        indices=indices,
        name_hashes=hashes,
        name_nodes=bearers,
    )


def _join_edges(
    indexes: Sequence[GraphIndex], numbers: Sequence[NDArray[np.int64]], nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return ``indptr`` and ``indices`` of the edges of ``indexes``, whose nodes have the new ``numbers``."""
    pairs = [
        np.repeat(new, np.diff(index.indptr)) * nodes + new[index.indices]
        for index, new in zip(indexes, numbers, strict=True)
    ]
    rows, columns = np.divmod(np.unique(np.concatenate(pairs)), max(nodes, 1))
    indptr = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=nodes), out=indptr[1:])
    return indptr, columns.astype(np.int32)


def _join_names(
    indexes: Sequence[GraphIndex], numbers: Sequence[NDArray[np.int64]], titles: Sequence[str]
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return the name hashes of ``indexes``, in ascending order, and the new numbers of the nodes with these names.

    The names include ``titles``, the new titles of the articles.
    """
    titled = np.array([name_hash(fold(title)) for title in titles], dtype=np.uint64)
    hashes = np.concatenate([titled, *(index.name_hashes for index in indexes)])
    renumbered = (new[index.name_nodes] for index, new in zip(indexes, numbers, strict=True))
    bearers = np.concatenate([np.arange(len(titles)), *renumbered])
    order = np.lexsort((bearers, hashes))
    hashes, bearers = hashes[order], bearers[order].astype(np.int32)
    is_new = np.ones(len(hashes), dtype=bool)
    is_new[1:] = (hashes[1:] != hashes[:-1]) | (bearers[1:] != bearers[:-1])
    return hashes[is_new], bearers[is_new]
