"""Third stage: every section that has no vector yet gets one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wikigr.embeddings.embedder import Embedder
from wikigr.errors import ModelError
from wikigr.graph.engine import Graph
from wikigr.ingest.drafting import content_hash
from wikigr.ingest.sectioning import SectionDraft
from wikigr.ingest.staging import Staging
from wikigr.progress import Progress

# Sections encoded between two commits: seconds of work, so that a kill loses little.
WINDOW = 512

# Sections of an older pack held in memory at a time.
_PAGE = 20_000


def reuse_vectors(staging: Staging, database: Path) -> int:
    """Copy into ``staging`` the vectors of an older pack's sections whose text is wanted again.

    The caller has made sure that the older pack has the same encoder. Returns the number reused.
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
                draft = SectionDraft("", "", tuple(path), content, 0, 0, 0, "")
                key = content_hash(draft.embedding_text(title))
                found[key] = np.asarray(vector, dtype=np.float32).tobytes()
            with staging.transaction():
                staging.write(
                    "INSERT OR IGNORE INTO vector SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM section WHERE hash = ?1)",
                    found.items(),
                )
    return staging.count("vector") - before


def embed_all(staging: Staging, encoder: Embedder, progress: Progress) -> int:
    """Encode every section whose vector is missing, committing every ``WINDOW`` texts; returns how many."""
    (total,) = next(staging.rows("SELECT count(DISTINCT hash) FROM section"))
    (missing,) = next(
        staging.rows("SELECT count(DISTINCT hash) FROM section WHERE hash NOT IN (SELECT hash FROM vector)")
    )
    if not missing:
        return 0
    progress.start("embedding", total, "sections", done=total - missing)
    last = b""
    # Each text once, in a fixed order that mixes long and short ones: the rate shown stays true.
    while window := list(
        staging.rows(
            "SELECT hash, min(embedding_text) FROM section WHERE hash > ? AND hash NOT IN (SELECT hash FROM vector) "
            "GROUP BY hash ORDER BY hash LIMIT ?",
            (last, WINDOW),
        )
    ):
        vectors = encoder.encode([text for _, text in window])
        if not np.isfinite(vectors).all():
            raise ModelError(f"The encoder {encoder.identity.model_id} produced vectors that are not finite.")
        with staging.transaction():
            staging.write(
                "INSERT OR IGNORE INTO vector VALUES (?, ?)",
                [(key, vector.tobytes()) for (key, _), vector in zip(window, vectors, strict=True)],
            )
        last = window[-1][0]
        progress.advance(len(window))
    return int(missing)
