"""Fourth stage: encode every section that has no vector yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from wikigr.embeddings.embedder import Embedder, Vectors
from wikigr.errors import ModelError
from wikigr.graph.engine import Graph
from wikigr.ingest.chunking import Chunk, content_hash
from wikigr.ingest.engines.engine import Engine
from wikigr.ingest.staging import Staging
from wikigr.progress import Progress

# Texts to encode that are read and sorted by length at a time.
WINDOW = 1024

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


def embed_all(staging: Staging, encoder: Embedder, progress: Progress, engine: Engine) -> int:
    """Encode the sections without a vector; return how many texts were encoded. What is encoded is stored at once."""
    (total,) = next(staging.rows("SELECT count(DISTINCT hash) FROM section"))
    (missing,) = next(
        staging.rows("SELECT count(DISTINCT hash) FROM section WHERE hash NOT IN (SELECT hash FROM vector)")
    )
    if not missing:
        return 0
    progress.start("embedding", total, "sections", done=total - missing)
    for keys, vectors in engine.encode(encoder, _texts_without_vector(staging)):
        with staging.transaction():
            staging.write(
                "INSERT OR IGNORE INTO vector VALUES (?, ?)",
                [(key, vector.tobytes()) for key, vector in zip(keys, vectors, strict=True)],
            )
        progress.advance(len(keys))
    return int(missing)


def _texts_without_vector(staging: Staging) -> Iterator[tuple[bytes, str]]:
    """Yield each text to encode once, with its hash. Vectors may be stored meanwhile.

    The texts of a window are sorted by length, longest first, so that batches need little padding. The order of hashes
    mixes long and short texts, so that all windows take about as long and the displayed rate is accurate.
    """
    last = b""
    while window := list(
        staging.rows(
            "SELECT hash, min(embedding_text) FROM section WHERE hash > ? AND hash NOT IN (SELECT hash FROM vector) "
            "GROUP BY hash ORDER BY hash LIMIT ?",
            (last, WINDOW),
        )
    ):
        for key, text in sorted(window, key=lambda row: len(row[1]), reverse=True):
            yield bytes(key), str(text)
        last = window[-1][0]


def encode_texts(encoder: Embedder, texts: Sequence[str]) -> Vectors:
    """Return the vectors of ``texts``; raises ``ModelError`` if some are not finite."""
    vectors = encoder.encode(texts)
    if not np.isfinite(vectors).all():
        raise ModelError(f"The encoder {encoder.identity.model_id} returned vectors that are not finite.")
    return vectors
