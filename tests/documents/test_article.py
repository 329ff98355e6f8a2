"""The documents of sections, articles and packs have the keys of their types, and say what was corrected."""

from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.documents import shapes
from wikigr.documents.article import article_document, section_document
from wikigr.documents.pack import pack_document, with_pack
from wikigr.pack.open import Pack


def test_an_article_and_its_sections(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        article = article_document(pack, "Spin", ["Using 'Spin'."])
        assert article.keys() == shapes.ArticleDocument.__annotations__.keys()
        assert article["warnings"] == ["Using 'Spin'."] and article["pack"] == pack_document(pack.manifest)
        ids = [entry["section_id"] for entry in article["sections"]]
        sections = [section_document(pack, section_id, []) for section_id in ids]
        for before, section, after in zip([None, *ids], sections, [*ids[1:], None], strict=False):
            assert section.keys() == shapes.SectionDocument.__annotations__.keys()
            found = [entry and entry["section_id"] for entry in (section["previous"], section["next"])]
            assert found == [before, after]
            assert section["content"] in article["content"]


def test_the_section_of_a_single_pack_keeps_its_fields(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        assert with_pack(pack, {"section_id": "Spin#1", "start": 3}) == {"section_id": "Spin#1", "start": 3}


def test_a_section_has_its_place_and_the_articles_that_it_names(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        section = section_document(pack, "Louis de Broglie#3", [])
        assert section["heading_path"] == ["Proof and prize"]
        assert section["next"] is not None and section["next"]["section"] == "Pilot waves"
        named = {link["title"]: link["kind"] for link in section["links"]}
        assert named["Schrödinger equation"] == "link"
        assert list(named) == sorted(named) and all(title in section["content"] for title in named)
        # The article links to more than this section names.
        rows = pack.graph.rows("MATCH (:Article {title: 'Louis de Broglie'})-[:LINKS_TO]->(b) RETURN b.title")
        assert set(named) < {title for (title,) in rows} | set(named)
        assert {title for (title,) in rows} - set(named)


def test_an_article_has_its_lead_and_other_names(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        article = article_document(pack, "Spin")
        assert [entry["section_id"] for entry in article["sections"]] == [f"Spin#{n}" for n in range(5)]
        assert article["lead"] and article["lead"] in article["content"]
        assert article["categories"] == ["Concept"] and "Electron spin" in article["aliases"]
        assert article["url"] is not None and article["url"].endswith("/spin.md")


def test_what_is_not_there_is_an_error(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        with pytest.raises(KeyError):
            section_document(pack, "Spin#99", [])
        with pytest.raises(KeyError):
            article_document(pack, "spin")
