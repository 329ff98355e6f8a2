"""Dense search, the nearest sections by cosine: an exact scan in Cypher, or the engine's vector index if available."""

from __future__ import annotations

from collections.abc import Sequence

from wikigr.graph.engine import Graph, QueryError
from wikigr.graph.schema import VECTOR_INDEX
from wikigr.index.candidate import Hit


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
