"""Search over paragraphs, with the BM25 index and the encoder of wikigr."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from wikigr.embeddings.embedder import Embedder
from wikigr.index.lexical import LexicalIndex, LexicalWriter

_LEXICAL_DEPTH = 50


class ParagraphSearch:
    """Ranks paragraphs by the mean of the cosine and the BM25 score, which is divided by the question's best score."""

    def __init__(self, paragraphs: Sequence[tuple[str, str]], encoder: Embedder | None) -> None:
        """Index ``paragraphs``, which are pairs of a title and a text; without an encoder, only BM25 counts."""
        self._encoder = encoder
        self._size = len(paragraphs)
        if encoder is not None:
            self._vectors = encoder.encode([f"{title}\n{text}" for title, text in paragraphs])
        self._folder = TemporaryDirectory(prefix="wikigr-training-")
        folder = Path(self._folder.name) / "lexical"
        with LexicalWriter(folder) as writer:
            for number, (title, text) in enumerate(paragraphs):
                writer.add(str(number), title, "", text)
        self._lexical = LexicalIndex(folder)

    def search(self, questions: Sequence[str], limit: int) -> list[list[int]]:
        """Return the numbers of the best ``limit`` paragraphs for each question, best first."""
        found = []
        vectors = self._encoder.encode(questions) if self._encoder is not None else None
        for place, question in enumerate(questions):
            scores = np.zeros(self._size) if vectors is None else self._vectors @ vectors[place]
            hits = self._lexical.search(question, _LEXICAL_DEPTH)
            for hit in hits:
                scores[int(hit.section_id)] += hit.score / hits[0].score
            found.append([int(number) for number in np.argsort(-scores, kind="stable")[:limit]])
        return found
