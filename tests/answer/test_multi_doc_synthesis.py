"""reference/multidoc-synthesizer.md: every example, range and error, on the demo pack."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wikigr.answer.multi_doc_synthesis import MultiDocSynthesizer
from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.loader import EmbeddingGenerator
from wikigr.graph.engine import import_engine

kuzu = import_engine()

QUESTION = "What is quantum entanglement?"


@pytest.fixture
def generator(encoder: Embedder) -> EmbeddingGenerator:
    return EmbeddingGenerator.of(encoder)


def test_defaults(physics_conn: Any) -> None:
    made = MultiDocSynthesizer(physics_conn)
    assert (made.num_docs, made.max_sections, made.min_relevance) == (5, 3, 0.7)
    assert made.conn is physics_conn


@pytest.mark.parametrize(
    "options",
    [{"num_docs": 0}, {"num_docs": 11}, {"max_sections": 0}, {"max_sections": 11}, {"min_relevance": -0.1},
     {"min_relevance": 1.1}, {"min_relevance": float("nan")}],
)  # fmt: skip
def test_ranges(physics_conn: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        MultiDocSynthesizer(physics_conn, **options)


def test_what_is_no_connection() -> None:
    with pytest.raises(TypeError, match="Connection"):
        MultiDocSynthesizer("physics.db")


@pytest.mark.parametrize(("num_docs", "max_sections"), [(1, 1), (3, 2), (5, 3), (7, 5), (10, 10)])
def test_articles_and_sections_stay_within_the_limits(
    physics_conn: Any, generator: EmbeddingGenerator, num_docs: int, max_sections: int
) -> None:
    context = MultiDocSynthesizer(physics_conn, num_docs, max_sections, 0.2).retrieve(QUESTION, generator)
    titles = [article["title"] for article in context["articles"]]
    assert titles == context["sources"]
    assert len(set(titles)) == len(titles) == num_docs
    held = [section["article_title"] for section in context["sections"]]
    assert set(held) == set(titles)
    assert all(1 <= held.count(title) <= max_sections for title in titles)
    assert "Quantum entanglement" in titles[:2]
    assert all(set(article) == {"title", "category", "word_count"} for article in context["articles"])
    assert all(
        set(section) == {"section_id", "title", "content", "article_title", "relevance_score"}
        for section in context["sections"]
    )
    assert len(set(context["facts"])) == len(context["facts"]) > 0


def test_relevance_is_the_cosine_and_articles_rank_by_its_sum(
    physics_conn: Any, generator: EmbeddingGenerator, encoder: Embedder
) -> None:
    made = MultiDocSynthesizer(physics_conn, max_sections=10, min_relevance=0.0)
    context = made.retrieve(QUESTION, generator)
    query = encoder.encode([QUESTION])[0]
    totals: dict[str, float] = {}
    assert len(context["sections"]) > 5
    for section in context["sections"]:
        (stored,) = physics_conn.execute(
            "MATCH (s:Section {section_id: $id}) RETURN s.embedding", {"id": section["section_id"]}
        ).get_all()[0]
        assert section["relevance_score"] == pytest.approx(float(np.dot(query, stored)), abs=1e-5)
        totals[section["article_title"]] = totals.get(section["article_title"], 0.0) + section["relevance_score"]
    assert list(totals.values()) == sorted(totals.values(), reverse=True)


@pytest.mark.parametrize("least", [0.3, 0.5, 0.9])
def test_min_relevance_really_filters(physics_conn: Any, generator: EmbeddingGenerator, least: float) -> None:
    context = MultiDocSynthesizer(physics_conn, 5, min_relevance=least).retrieve(QUESTION, generator)
    assert all(section["relevance_score"] >= least for section in context["sections"])
    everything = MultiDocSynthesizer(physics_conn, 10, 10, 0.0).retrieve(QUESTION, generator)
    wanted = sum(section["relevance_score"] >= least for section in everything["sections"])
    assert (len(context["sections"]) > 0) is (wanted > 0) is (least < 0.9)


def test_grouping_and_ranking_as_documented(physics_conn: Any) -> None:
    made = MultiDocSynthesizer(physics_conn)
    sections = [
        {"article_title": "A", "score": 0.9},
        {"article_title": "B", "score": 0.8},
        {"article_title": "A", "score": 0.85},
    ]
    grouped = made._group_by_article(sections)
    assert grouped == {"A": [sections[0], sections[2]], "B": [sections[1]]}
    ranked = made._rank_articles({"A": [{"score": 0.9}, {"score": 0.85}], "B": [{"score": 0.95}]})
    assert ranked == [("A", 1.75), ("B", 0.95)]
    assert made._rank_articles({"b": [{"score": 1.0}], "a": [{"score": 1.0}]}) == [("a", 1.0), ("b", 1.0)]
    assert made._rank_articles({}) == []


def test_facts_as_documented(physics_conn: Any) -> None:
    made = MultiDocSynthesizer(physics_conn)
    assert made._extract_facts([{"content": "Fact one. Fact two. Is this a fact?"}]) == ["Fact one.", "Fact two."]


@pytest.mark.parametrize("question", ["", "  \n"])
def test_an_empty_question(physics_conn: Any, generator: EmbeddingGenerator, question: str) -> None:
    with pytest.raises(ValueError, match="empty"):
        MultiDocSynthesizer(physics_conn).retrieve(question, generator)


def test_no_generator_is_both_documented_errors(physics_conn: Any) -> None:
    for kind in (ValueError, RuntimeError):
        with pytest.raises(kind, match="could not be embedded"):
            MultiDocSynthesizer(physics_conn).retrieve(question="test", embedding_generator=None)  # type: ignore[arg-type]


def test_a_database_without_sections_is_a_runtime_error(tmp_path: Path, generator: EmbeddingGenerator) -> None:
    database = kuzu.Database(str(tmp_path / "empty.db"), buffer_pool_size=64 << 20)
    conn = kuzu.Connection(database)
    with pytest.raises(RuntimeError, match="Section"):
        MultiDocSynthesizer(conn).retrieve("What is X?", generator)
    conn.close()
    database.close()


def test_the_documented_cache_by_inheritance(physics_conn: Any, generator: EmbeddingGenerator) -> None:
    class CachedSynthesizer(MultiDocSynthesizer):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._cache: dict[str, dict[str, Any]] = {}

        def retrieve(self, question: str, embedding_generator: EmbeddingGenerator) -> dict[str, Any]:
            key = hashlib.md5(question.encode()).hexdigest()
            if key not in self._cache:
                self._cache[key] = super().retrieve(question, embedding_generator)
            return self._cache[key]

    made = CachedSynthesizer(physics_conn, num_docs=5, min_relevance=0.2)
    assert made.retrieve(QUESTION, generator) is made.retrieve(QUESTION, generator)
