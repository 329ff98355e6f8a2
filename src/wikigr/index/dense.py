"""Dense search, the nearest sections by cosine.

Small packs are scanned exactly in Cypher. Large ones have quantized vectors (``quantized``), and a pack that was built
where the engine's extension is available may have its vector index instead.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wikigr.errors import PackError, WikigrError
from wikigr.graph.engine import Graph, QueryError
from wikigr.graph.schema import VECTOR_INDEX
from wikigr.index.candidate import Hit

if TYPE_CHECKING:
    from wikigr.embeddings.embedder import Vectors
    from wikigr.index.quantized import QuantizedVectors

# How vectors are compared: all of them in the database, with its vector index (HNSW), with quantized vectors, or in
# several of these ways, if there are several packs.
DenseMethod = Literal["exact", "index", "quantized", "mixed"]

# From this number of sections on, a pack has quantized vectors: below, its exact scan takes a few milliseconds.
MIN_QUANTIZED_SECTIONS = 20_000


class DenseIndex:
    """The vectors of a pack. ``warning`` says why they are compared in a slower way than they could be, if so."""

    def __init__(
        self,
        graph: Graph,
        quantized: Path | None,
        sections: int,
        dimension: int,
        digest: str,
        *,
        has_vector_index: bool,
        damage: str = "",
    ) -> None:
        """Use the vectors in ``graph``, and in the folder ``quantized`` if the pack has quantized vectors.

        ``sections``, ``dimension``, ``digest`` and ``has_vector_index`` are what the pack's manifest says, and
        ``damage`` is what is wrong with the quantized vectors, if anything is.
        """
        self._graph = graph
        self._dimension = dimension
        self._quantized: QuantizedVectors | None = None
        self.warning = ""
        if quantized is not None:
            # NumPy is not imported for small packs before the encoder needs it.
            from wikigr.index.quantized import QuantizedVectors

            try:
                if damage:
                    raise PackError(f"Cannot use the quantized vectors: {damage}.")
                self._quantized = QuantizedVectors(quantized, sections, dimension, digest)
            except PackError as error:
                self._lose_quantized(error)
        self._uses_vector_index = self._quantized is None and has_vector_index and load_vector_extension(graph)
        if self.method(1) == "exact" and sections >= MIN_QUANTIZED_SECTIONS and not self.warning:
            self.warning = (
                f"Every question is compared with all {sections:,} sections, because the pack has no quantized "
                f"vectors; `wikigr pack build` adds them, and encodes nothing again."
            )

    def method(self, limit: int) -> DenseMethod:
        """Return how ``nearest`` finds ``limit`` sections unless it is asked for the exact result."""
        if self._quantized is not None and limit <= self._quantized.max_hits:
            return "quantized"
        return "index" if self._uses_vector_index else "exact"

    def nearest(self, query: Vectors, limit: int, *, exact: bool = False) -> list[Hit]:
        """Return the ``limit`` sections nearest to ``query`` (float32, norm 1, shape ``(d,)``), best first.

        With ``exact``, all vectors are compared in single precision.
        """
        if not exact and self._quantized is not None and self.method(limit) == "quantized":
            try:
                return self._quantized.search(query, limit)
            except PackError as error:
                self._lose_quantized(error)
        search = index_search if self._uses_vector_index and not exact else exact_search
        return search(self._graph, query.tolist(), limit)

    def connect(self, graph: Graph) -> DenseIndex:
        """Return these vectors with the connection ``graph``, for another thread."""
        twin = copy.copy(self)
        twin._graph = graph
        return twin

    def read_ahead(self) -> None:
        """Read from disk what a search compares with a question."""
        if self._quantized is None:
            exact_search(self._graph, [1.0] * self._dimension, 1)
        else:
            self._quantized.read_ahead()

    def _lose_quantized(self, error: WikigrError) -> None:
        self._quantized = None
        self.warning = (
            f"{error.message} Every question is compared with all sections instead; `wikigr pack build` writes them "
            "again, and encodes nothing again."
        )


def exact_search(graph: Graph, query: Sequence[float], limit: int, *, unit_vectors: bool = True) -> list[Hit]:
    """Return the ``limit`` sections with the highest cosine to ``query``, best first.

    Scores are cosines in [-1, 1]; ties break by section id. ``unit_vectors`` states that all vectors have norm 1, as in
    a pack, so that the cheaper inner product equals the cosine.
    """
    measure = "array_inner_product" if unit_vectors else "array_cosine_similarity"
    scan = (
        f"MATCH (s:Section) RETURN s.section_id, {measure}(s.embedding, CAST($query AS FLOAT[{len(query)}])) AS score "
        "ORDER BY score DESC"
    )
    rows = graph.rows(f"{scan} LIMIT $limit", {"query": list(query), "limit": limit + 1})
    if len(rows) > limit and rows[limit][1] == rows[limit - 1][1]:
        # A tie at the cutoff: only section ids decide which sections are included. Sorting by them takes a fifth of the
        # scan's time, so it is done only when needed.
        rows = graph.rows(f"{scan}, s.section_id LIMIT $limit", {"query": list(query), "limit": limit})
    found = [Hit(section_id, float(score)) for section_id, score in rows[:limit]]
    return sorted(found, key=lambda hit: (-hit.score, hit.section_id))


def index_search(graph: Graph, query: Sequence[float], limit: int) -> list[Hit]:
    """Like ``exact_search``, but approximate: query the engine's vector index (HNSW over cosine distance)."""
    rows = graph.rows(
        f"CALL QUERY_VECTOR_INDEX('Section', '{VECTOR_INDEX}', $query, $limit) "
        "RETURN node.section_id, distance ORDER BY distance, node.section_id",
        {"query": list(query), "limit": limit},
    )
    return [Hit(section_id, 1.0 - float(distance)) for section_id, distance in rows]


def load_vector_extension(graph: Graph) -> bool:
    """Load the engine's VECTOR extension without downloading it; return whether it is available."""
    try:
        graph.execute("LOAD EXTENSION VECTOR")
    except QueryError:
        return False
    return True


def create_vector_index(graph: Graph) -> None:
    """Create the vector index over all sections; raises ``QueryError`` without the extension."""
    graph.execute(f"CALL CREATE_VECTOR_INDEX('Section', '{VECTOR_INDEX}', 'embedding', metric := 'cosine')")
