"""``MultiDocSynthesizer``: context from several articles (reference/multidoc-synthesizer.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wikigr.embeddings.loader import EmbeddingGenerator
from wikigr.errors import WikigrError
from wikigr.graph.engine import Graph, QueryError
from wikigr.index.candidate import Hit
from wikigr.index.dense import exact_search, index_search, load_vector_extension
from wikigr.segmentation import extract_facts
from wikigr.text import scrub


class EmbeddingFailedError(WikigrError, ValueError, RuntimeError):
    """The question cannot be embedded. The reference documents call this a ``ValueError`` and a ``RuntimeError``."""


class MultiDocSynthesizer:
    """Retrieves the sections nearest to a question from several articles.

    ``conn`` is an open LadybugDB connection. ``num_docs`` and ``max_sections`` (of each article) lie in 1-10,
    ``min_relevance``, the minimum cosine of a section, in [0, 1].
    """

    def __init__(self, conn: Any, num_docs: int = 5, max_sections: int = 3, min_relevance: float = 0.7) -> None:
        """Raises ``TypeError`` when ``conn`` is not a connection and ``ValueError`` for a number out of range."""
        self._graph = Graph.of(conn)
        for name, count in (("num_docs", num_docs), ("max_sections", max_sections)):
            if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= 10:
                raise ValueError(f"{name} must be an integer in 1-10, not {count!r}")
        if not 0.0 <= min_relevance <= 1.0:
            raise ValueError(f"min_relevance must lie in [0, 1], not {min_relevance}")
        self.conn = conn
        self.num_docs = num_docs
        self.max_sections = max_sections
        self.min_relevance = min_relevance
        self._indexed: bool | None = None

    def retrieve(self, question: str, embedding_generator: EmbeddingGenerator) -> dict[str, Any]:
        """Return the articles, sections, sources and facts for ``question``, best first.

        Sections are grouped by article, and articles ranked by the sum of their sections' relevance; the best
        ``max_sections`` of each are kept. Ties break by title, then section id. Raises ``ValueError`` for a question
        that is empty or cannot be embedded, ``RuntimeError`` when a query fails.
        """
        question = scrub(question)
        if not question.strip():
            raise ValueError("The question is empty.")
        found = self._nearest(self._embed(question, embedding_generator))
        kept = [hit for hit in found if hit.score >= self.min_relevance]
        grouped = self._group_by_article(self._describe(kept))
        ranked = self._rank_articles(grouped)[: self.num_docs]
        sections = [
            {
                "section_id": section["section_id"],
                "title": section["title"],
                "content": section["content"],
                "article_title": title,
                "relevance_score": section["score"],
            }
            for title, _ in ranked
            for section in grouped[title][: self.max_sections]
        ]
        articles = [
            {"title": title, "category": grouped[title][0]["category"], "word_count": grouped[title][0]["word_count"]}
            for title, _ in ranked
        ]
        return {
            "articles": articles,
            "sections": sections,
            "sources": [title for title, _ in ranked],
            "facts": self._extract_facts(sections),
        }

    def _embed(self, question: str, embedding_generator: EmbeddingGenerator) -> list[float]:
        try:
            return [float(x) for x in embedding_generator.generate([question])[0]]
        except (AttributeError, TypeError, IndexError, RuntimeError, WikigrError) as error:
            raise EmbeddingFailedError(f"The question could not be embedded: {error}") from error

    def _nearest(self, vector: Sequence[float]) -> list[Hit]:
        # Ten sections for each article (reference/phase1-enhancements.md).
        limit = self.num_docs * 10
        if self._indexed is None:
            self._indexed = load_vector_extension(self._graph)
        if self._indexed:
            try:
                return index_search(self._graph, vector, limit)
            except QueryError:
                # The extension is installed, but this database has no index. The exact scan gives the same result.
                self._indexed = False
        return exact_search(self._graph, vector, limit, unit_vectors=False)

    def _describe(self, found: Sequence[Hit]) -> list[dict[str, Any]]:
        query = (
            "MATCH (a:Article)-[:HAS_SECTION]->(s:Section {section_id: $id}) "
            "RETURN a.title, a.category, a.word_count, s.title, s.content"
        )
        names = ("article_title", "category", "word_count", "title", "content")
        return [
            {"section_id": hit.section_id, "score": hit.score, **dict(zip(names, row, strict=True))}
            for hit in found
            for row in self._graph.rows(query, {"id": hit.section_id})
        ]

    def _group_by_article(self, sections: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        """Group sections by ``article_title``, keeping their order."""
        grouped: dict[str, list[dict[str, Any]]] = {}
        for section in sections:
            grouped.setdefault(section["article_title"], []).append(dict(section))
        return grouped

    def _rank_articles(self, grouped: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[tuple[str, float]]:
        """Return titles with the sum of their sections' ``score``, highest first, ties by title."""
        totals = [(title, sum(section["score"] for section in sections)) for title, sections in grouped.items()]
        return sorted(totals, key=lambda item: (-item[1], item[0]))

    def _extract_facts(self, sections: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return the statements in the sections' ``content``: see ``answer.facts.extract_facts``."""
        return extract_facts(section["content"] for section in sections)
