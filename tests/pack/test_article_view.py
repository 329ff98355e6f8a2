"""Sections and articles of the demo pack, with their neighbors and links."""

from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.pack.article_view import view_article, view_section
from wikigr.pack.open import Pack


def test_a_section_has_its_neighbors_and_the_articles_that_it_names(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        view = view_section(pack, "Louis de Broglie#3")
        assert view.heading_path == ("Proof and prize",)
        assert view.previous is not None and view.previous.section_id == "Louis de Broglie#2"
        assert view.next is not None and view.next.heading == "Pilot waves"
        named = {link.title: link.kind for link in view.links}
        assert named["Schrödinger equation"] == "link"
        content = view.section.content
        assert list(named) == sorted(named) and all(title in content for title in named)
        # The article links to more than this section names.
        rows = pack.graph.rows("MATCH (:Article {title: 'Louis de Broglie'})-[:LINKS_TO]->(b) RETURN b.title")
        assert set(named) < {title for (title,) in rows} | set(named)
        assert {title for (title,) in rows} - set(named)


def test_the_first_and_the_last_section_have_one_neighbor(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        first, last = view_section(pack, "Spin#0"), view_section(pack, "Spin#4")
        assert (first.heading_path, first.previous) == ((), None)
        assert first.next is not None and last.next is None


def test_an_article_has_its_lead_and_outline(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        view = view_article(pack, "Spin")
        assert [entry.section_id for entry in view.outline] == [f"Spin#{n}" for n in range(5)]
        assert view.lead and view.lead in view.content
        assert view.categories == ("Concept",) and "Electron spin" in view.aliases
        assert view.url is not None and view.url.endswith("/spin.md")


def test_what_is_not_there_is_an_error(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        with pytest.raises(KeyError):
            view_section(pack, "Spin#99")
        with pytest.raises(KeyError):
            view_article(pack, "spin")
