"""Infer what kind of thing a node is from the names of its relations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wikigr.embeddings.embedder import Embedder, Vectors
from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import Neighborhood, Node
from wikigr.graph.schema import section_id
from wikigr.retrieval.explore.relation_text import relation_words, share_stem
from wikigr.stop_words import FUNCTION_WORDS

_MAX_CACHED = 20_000
_MAX_RELATIONS = 12
# A relation whose name ends in a preposition describes its source ("capital of"), any other its target ("mayor").
_PREPOSITIONS = frozenset("of in at by on for to from with".split())


class NodeDescriber:
    """Describes nodes by their relations and text. Caches vectors; not thread-safe.

    Without ``graph``, nodes have no descriptions.
    """

    def __init__(self, encoder: Embedder, graph: Graph | None = None) -> None:
        self._encoder = encoder
        self._graph = graph
        self._neighborhood = Neighborhood(graph) if graph is not None else None
        self._vectors: dict[str, Vectors] = {}
        self._descriptions: dict[Node, tuple[list[str], list[str]]] = {}

    def encode(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return the unit vector of each text; encodes only texts that are not in the cache."""
        new = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        if len(self._vectors) + len(new) > _MAX_CACHED:
            self._vectors.clear()
            new = list(dict.fromkeys(texts))
        if new:
            self._vectors.update(zip(new, self._encoder.encode(new), strict=True))
        return {text: self._vectors[text] for text in texts}

    def fit(self, noun: str, node: Node) -> float:
        """Return how well ``noun`` describes ``node``: a cosine, or 1 if a relation states it."""
        kinds, relations = self._describe(node)
        if any(share_stem(noun, word) for word in kinds):
            return 1.0
        # A node that has a mayor is not a mayor itself.
        text = ", ".join(name for name in relations if not any(share_stem(noun, word) for word in name.split()))
        if not text:
            return 0.0
        vectors = self.encode([noun, text])
        return float(vectors[noun] @ vectors[text])

    def lead_vectors(self, titles: Sequence[str]) -> dict[str, Vectors]:
        """Return the stored vectors of the first sections of these articles, by title."""
        if self._graph is None or not titles:
            return {}
        rows = self._graph.rows(
            "UNWIND $keys AS key MATCH (s:Section {section_id: key}) RETURN s.article_title, s.embedding",
            {"keys": [section_id(title, 0) for title in titles]},
        )
        return {str(title): np.asarray(vector, dtype=np.float32) for title, vector in rows}

    def _describe(self, node: Node) -> tuple[list[str], list[str]]:
        """Return the words that describe ``node``, and the names of the relations from and to it.

        The target of ``mayor`` is a mayor, the source of ``capital_of`` a capital.
        """
        if self._neighborhood is None:
            return [], []
        if node not in self._descriptions:
            if len(self._descriptions) >= _MAX_CACHED:
                self._descriptions.clear()
            steps = list(self._neighborhood.facts_at(node))
            kinds: dict[str, None] = {}
            for step in steps:
                name = relation_words(step.relation).split()
                describes_source = len(name) > 1 and name[-1] in _PREPOSITIONS
                if step.inverse is not describes_source:
                    kinds.update(dict.fromkeys(word for word in name if word not in FUNCTION_WORDS))
            outgoing = [relation_words(step.relation) for step in steps if not step.inverse][:_MAX_RELATIONS]
            incoming = [relation_words(step.relation) for step in steps if step.inverse][:_MAX_RELATIONS]
            self._descriptions[node] = list(kinds), sorted(set(outgoing)) + sorted(set(incoming))
        return self._descriptions[node]
