"""The documents of sections, articles and packs have the keys of their types, and say what was corrected."""

from __future__ import annotations

from pathlib import Path

from wikigr.documents import shapes
from wikigr.documents.article import article_document, section_document
from wikigr.documents.pack import pack_document, with_pack
from wikigr.pack.article_view import view_article, view_section
from wikigr.pack.open import Pack


def test_an_article_and_its_sections(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        article = article_document(view_article(pack, "Spin"), pack.manifest, ["Using 'Spin'."])
        assert article.keys() == shapes.ArticleDocument.__annotations__.keys()
        assert article["warnings"] == ["Using 'Spin'."] and article["pack"] == pack_document(pack.manifest)
        ids = [entry["section_id"] for entry in article["sections"]]
        sections = [section_document(view_section(pack, section_id), pack.manifest, []) for section_id in ids]
        for before, section, after in zip([None, *ids], sections, [*ids[1:], None], strict=False):
            assert section.keys() == shapes.SectionDocument.__annotations__.keys()
            found = [entry and entry["section_id"] for entry in (section["previous"], section["next"])]
            assert found == [before, after]
            assert section["content"] in article["content"]


def test_the_section_of_a_single_pack_keeps_its_fields(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        assert with_pack(pack, {"section_id": "Spin#1", "start": 3}) == {"section_id": "Spin#1", "start": 3}
