"""The links between a pack's articles as NumPy arrays, for computations on the whole graph."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wikigr.graph.engine import Graph
from wikigr.graph.pagerank import pagerank
from wikigr.graph.pagerank_cache import Parameters


@dataclass(frozen=True, eq=False)
class LinkGraph:
    """A directed graph: article ``i`` is ``titles[i]``, and edge ``i`` goes from ``sources[i]`` to ``targets[i]``."""

    titles: list[str]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]


def read_links(graph: Graph) -> LinkGraph:
    """Read every article and every link between two articles; raises ``QueryError``."""
    articles = graph.arrow("MATCH (a:Article) RETURN offset(id(a)) AS number, a.title AS title")
    offsets = articles["number"].to_numpy()
    if (offsets[1:] <= offsets[:-1]).any():
        articles = articles.take(np.argsort(offsets, kind="stable"))
        offsets = articles["number"].to_numpy()
    titles: list[str] = articles["title"].to_pylist()
    if not titles:
        return LinkGraph([], np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))
    sources, targets = read_edges(graph, "Article", "LINKS_TO", "Article")
    if int(offsets[-1]) + 1 != len(titles):  # articles were deleted, so their offsets have gaps
        number = np.zeros(int(offsets[-1]) + 1, dtype=np.int32)
        number[offsets] = np.arange(len(titles))
        sources, targets = number[sources], number[targets]
    return LinkGraph(titles, sources, targets)


def read_edges(graph: Graph, source: str, relation: str, target: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the edges ``(:source)-[:relation]->(:target)`` as two arrays of offsets in their node tables.

    The edges are exported through a temporary Parquet file (5 bytes per edge), which the engine writes in parallel and
    as a stream; query results are first buffered as a whole and then converted row by row. The names are not escaped,
    so they must not come from a user. Raises ``QueryError``.
    """
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory(prefix="wikigr-") as folder:
        path = Path(folder) / "edges.parquet"
        escaped = path.as_posix().replace("\\", "\\\\").replace("'", "\\'")
        graph.execute(
            f"COPY (MATCH (a:{source})-[:{relation}]->(b:{target}) "
            "RETURN cast(offset(id(a)), 'INT32') AS source, cast(offset(id(b)), 'INT32') AS target) "
            f"TO '{escaped}'"
        )
        edges = pq.read_table(path, memory_map=False)
    return edges["source"].to_numpy(), edges["target"].to_numpy()


def rank_articles(links: LinkGraph, parameters: Parameters) -> dict[str, float]:
    """Return the PageRank of every article by title, or ``{}`` for a graph without links.

    Raises the errors of ``pagerank``.
    """
    ranks = pagerank(
        links.sources,
        links.targets,
        len(links.titles),
        damping=parameters.damping,
        max_iter=parameters.max_iter,
        tol=parameters.tol,
    )
    return dict(zip(links.titles, ranks.tolist(), strict=True)) if len(links.sources) else {}
