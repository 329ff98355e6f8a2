"""Reading the content of a pack: the same in bulk, by title and from the database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.distribution.letters import build_triples

from wikigr.embeddings.embedder import Embedder
from wikigr.graph.engine import Graph
from wikigr.pack import pack_reader
from wikigr.pack.layout import DATABASE
from wikigr.pack.pack_reader import PackReader, SectionText


@pytest.fixture
def reader(letters_pack: Path) -> Iterator[PackReader]:
    with Graph(letters_pack / DATABASE) as graph:
        yield PackReader(graph)


def test_articles_have_their_aliases_and_details(reader: PackReader) -> None:
    articles = {article.title: article for article in reader.articles()}
    assert list(articles) == ["Alpha", "Beta", "Gamma"]
    assert "Letter two" in articles["Beta"].aliases
    assert articles["Gamma"].details["categories"] == "Physics\nLight"
    assert articles["Gamma"].content == "Gamma rays are light of high energy."


def test_sections_come_in_order_of_position(reader: PackReader) -> None:
    sections = list(reader.sections())
    assert [(section.article, section.position) for section in sections] == [
        ("Alpha", 0),
        ("Alpha", 1),
        ("Beta", 0),
        ("Gamma", 0),
    ]
    assert [section.heading_path for section in sections] == [(), ("Use",), (), ()]


@pytest.mark.parametrize("window", [1, 2, 1_000])
def test_sections_of_an_article_are_the_same_before_and_after_a_pass(
    reader: PackReader, monkeypatch: pytest.MonkeyPatch, window: int
) -> None:
    monkeypatch.setattr(pack_reader, "_WINDOW", window)
    titles = ["Alpha", "Beta", "Gamma", "Alpha", "Delta"]
    looked_up = [reader.sections_of(title) for title in titles]
    by_title: dict[str, list[SectionText]] = {title: [] for title in titles}
    for section in reader.sections():
        by_title[section.article].append(section)
    assert [reader.sections_of(title) for title in titles] == looked_up == [by_title[title] for title in titles]
    assert [len(sections) for sections in looked_up] == [2, 1, 1, 2, 0]


def test_edges_refer_to_titles(reader: PackReader) -> None:
    links = reader.edges("LINKS_TO")
    pairs = [(links.titles[s], links.titles[t]) for s, t in zip(links.sources, links.targets, strict=True)]
    assert ("Beta", "Alpha") in pairs
    mentions = reader.edges("MENTIONS")
    mentioned = {
        (mentions.titles[s], mentions.titles[t]) for s, t in zip(mentions.sources, mentions.targets, strict=True)
    }
    assert ("Alpha", "Beta") in mentioned


def test_statements_name_their_entities_and_section(tmp_path: Path, encoder: Embedder) -> None:
    pack = build_triples(tmp_path / "people", encoder)
    with Graph(pack / DATABASE) as graph:
        statements = {(s.subject, s.relation, s.object, s.section_id) for s in PackReader(graph).statements()}
    assert ("Mira Holt", "born_in", "Varnstad", "Mira Holt#0") in statements
    assert ("Varnstad", "located_in", "Orlandia", "Varnstad#0") in statements
