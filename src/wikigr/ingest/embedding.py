"""Fourth stage: encode every section that has no vector yet."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wikigr.embeddings.batching import available_cores
from wikigr.embeddings.embedder import Embedder
from wikigr.errors import ModelError
from wikigr.graph.engine import Graph
from wikigr.ingest.chunking import Chunk, content_hash
from wikigr.ingest.staging import Staging
from wikigr.progress import Progress

# Sections encoded between two commits: a few seconds of work to lose if the process is killed.
WINDOW = 512

# Texts encoded between two reports of progress, for each core: about a second of work.
_TEXTS_PER_CORE = 16

# Sections of the existing pack read at a time: a vector of 384 Python numbers takes 25 KB. Every page is a pass over
# all offsets, so smaller ones take longer.
_PAGE = 8_000


def reuse_vectors(staging: Staging, database: Path) -> int:
    """Copy into ``staging`` the vectors of the existing pack's sections whose text has not changed; return how many.

    The caller has checked that the existing pack has the same encoder.
    """
    before = staging.count("vector")
    query = (
        "MATCH (s:Section) WHERE offset(id(s)) >= $first AND offset(id(s)) < $beyond "
        "RETURN s.article_title, s.heading_path, s.content, s.embedding"
    )
    with Graph(database) as graph:
        (sections,) = graph.rows("MATCH (s:Section) RETURN count(s)")[0]
        for first in range(0, sections, _PAGE):
            found: dict[bytes, bytes] = {}
            for title, path, content, vector in graph.rows(query, {"first": first, "beyond": first + _PAGE}):
                chunk = Chunk("", "", tuple(path), content, 0, 0, 0, "")
                key = content_hash(chunk.embedding_text(title))
                found[key] = np.asarray(vector, dtype=np.float32).tobytes()
            with staging.transaction():
                staging.write(
                    "INSERT OR IGNORE INTO vector SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM section WHERE hash = ?1)",
                    found.items(),
                )
    return staging.count("vector") - before


def embed_all(staging: Staging, encoder: Embedder, progress: Progress) -> int:
    """Encode the sections without a vector, committing every ``WINDOW`` texts; return how many texts were encoded."""
    (total,) = next(staging.rows("SELECT count(DISTINCT hash) FROM section"))
    (missing,) = next(
        staging.rows("SELECT count(DISTINCT hash) FROM section WHERE hash NOT IN (SELECT hash FROM vector)")
    )
    if not missing:
        return 0
    progress.start("embedding", total, "sections", done=total - missing)
    step = min(WINDOW, _TEXTS_PER_CORE * available_cores())
    last = b""
    # Each text once. Hash order mixes long and short texts, which keeps the displayed rate accurate.
    while window := list(
        staging.rows(
            "SELECT hash, min(embedding_text) FROM section WHERE hash > ? AND hash NOT IN (SELECT hash FROM vector) "
            "GROUP BY hash ORDER BY hash LIMIT ?",
            (last, WINDOW),
        )
    ):
        parts = []
        for first in range(0, len(window), step):
            parts.append(encoder.encode([text for _, text in window[first : first + step]]))
            progress.advance(len(parts[-1]))
        vectors = np.concatenate(parts)
        if not np.isfinite(vectors).all():
            raise ModelError(f"The encoder {encoder.identity.model_id} returned vectors that are not finite.")
        with staging.transaction():
            staging.write(
                "INSERT OR IGNORE INTO vector VALUES (?, ?)",
                [(key, vector.tobytes()) for (key, _), vector in zip(window, vectors, strict=True)],
            )
        last = window[-1][0]
    return int(missing)
