from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.graph.engine import Graph
from wikigr.index.lexical import LexicalIndex
from wikigr.ingest.loading import article_links, content_digest, load
from wikigr.ingest.staging import Staging
from wikigr.pack.digest import database_digest
from wikigr.pack.layout import DATABASE, LEXICAL
from wikigr.progress import Silent
from wikigr.sources.article import SourceArticle, SourceSection, Triple

IDENTITY = EncoderIdentity("test/tiny", 2, "0" * 64)


@pytest.fixture
def filled(staged: Callable[..., Staging]) -> Staging:
    """A staging with two linked articles, a redirect-like alias, a triple and vectors."""
    staging = staged(
        SourceArticle(
            "Beta",
            "b",
            (SourceSection((), "Beta follows Alpha."), SourceSection(("Uses",), "Rays.")),
            links=("Alpha", "Nowhere"),
            categories=("Letters", "Greek"),
            url="https://example.org/b",
            revision="3",
        ),
        SourceArticle(
            "Alpha",
            "a",
            (SourceSection((), "Alpha is a letter."),),
            aliases=("First letter",),
            triples=(Triple("Alpha", "part of", "the alphabet", "Greek alphabet"),),
        ),
        by_id=True,
    )
    with staging.transaction():
        rows = staging.rows("SELECT DISTINCT hash FROM section")
        vector = np.array([0.6, 0.8], dtype=np.float32).tobytes()
        staging.write("INSERT INTO vector VALUES (?, ?)", [(key, vector) for (key,) in list(rows)])
    return staging


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "new").mkdir()
    return tmp_path / "new"


def test_the_lexical_index_covers_titles_headings_and_content(filled: Staging, tmp_path: Path, folder: Path) -> None:
    load(tmp_path / "other.sqlite", folder, IDENTITY, "en", Silent())
    index = LexicalIndex(folder / LEXICAL)
    assert len(index) == 3
    for query in ("beta", "uses", "rays"):
        assert "Beta#1" in [hit.section_id for hit in index.search(query, 3)], query


def test_the_staged_digest_is_that_of_the_database(filled: Staging, tmp_path: Path, folder: Path) -> None:
    load(tmp_path / "other.sqlite", folder, IDENTITY, "en", Silent())
    with Graph(folder / DATABASE) as graph:
        assert content_digest(filled, IDENTITY) == database_digest(graph, IDENTITY)
    before = content_digest(filled, IDENTITY)
    with filled.transaction():
        filled.write("UPDATE article SET revision = '4' WHERE title = ?", [("Beta",)])
    assert content_digest(filled, IDENTITY) != before


def test_links_are_numbered_by_title(filled: Staging) -> None:
    links = article_links(filled)
    assert links.titles == ["Alpha", "Beta"]
    assert (links.sources.tolist(), links.targets.tolist()) == ([1], [0])
