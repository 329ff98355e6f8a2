from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.ingest.conftest import article

from wikigr.ingest.entities import derive_entities
from wikigr.ingest.staging import Staging
from wikigr.sources.article import SourceArticle, SourceSection, Triple


def stating(title: str, source_id: str, *objects: tuple[str, str]) -> SourceArticle:
    triples = tuple(Triple(title, "knows", shown, link) for shown, link in objects)
    return SourceArticle(title, source_id, (SourceSection((), "Text."),), triples=triples)


def known(staging: Staging) -> set[tuple[str, str]]:
    derive_entities(staging)
    query = "SELECT s.name, o.name FROM fact f JOIN entity s ON s.id = f.subject JOIN entity o ON o.id = f.object"
    return set(staging.rows(query))


def test_objects_are_resolved_as_links_are(staged: Callable[..., Staging]) -> None:
    items = (
        stating("Doctor", "d", ("the WHO", "WHO"), ("an apple", "apple")),
        article("Who", "Text.", "w"),
        article("World Health Organization", "Text.", "o", aliases=("WHO",)),
        article("Apple", "A firm.", "firm"),
        article("Apple (fruit)", "A fruit.", "apple"),
    )
    assert known(staged(*items, by_id=True)) == {("Doctor", "World Health Organization"), ("Doctor", "Apple (fruit)")}


@pytest.mark.parametrize("by_id", [False, True])
def test_a_linked_thing_without_an_article_is_one_entity_where_links_are_titles(
    staged: Callable[..., Staging], by_id: bool
) -> None:
    staging = staged(
        stating(
            "Einstein", "1", ("UZH", "University of Zurich"), ("Swiss (1901–55)", "Switzerland"), ("16th", "Century")
        ),
        stating("Born", "2", ("University of Zurich", "University of Zurich"), ("Switzerland", "Switzerland")),
        stating("Pauli", "3", ("uzh", "University of Zurich"), ("Trinity", "Trinity (Cambridge)")),
        by_id=by_id,
    )
    university, country = ("UZH", "Swiss (1901–55)") if by_id else ("University of Zurich", "Switzerland")
    assert {("Einstein", university), ("Einstein", country)} < known(staging)
    assert {("Born", "University of Zurich"), ("Born", "Switzerland")} < known(staging)
    labeled = dict(staging.rows("SELECT name, aliases FROM entity WHERE aliases != '[]'"))
    assert labeled == ({} if by_id else {"Switzerland": '["Swiss"]', "University of Zurich": '["UZH"]'})
    owners = {title for (title,) in staging.rows("SELECT article FROM owned WHERE entity = 'university of zurich'")}
    assert owners == ({"Born"} if by_id else {"Born", "Einstein", "Pauli"})


def test_labels_join_the_aliases_that_were_read_from_the_text(staged: Callable[..., Staging]) -> None:
    staging = staged(stating("Einstein", "1", ("UZH", "Uni"), ("Unizh", "Uni"), ("Other", "Uni")), by_id=False)
    with staging.transaction():
        row = ("uni", "Uni", "organization", '["UNIZH","Zürich"]')
        staging.write("INSERT INTO extracted_entity VALUES (?, ?, ?, ?)", [row])
    derive_entities(staging)
    (stored,) = staging.rows("SELECT name, type, aliases FROM entity WHERE id = 'uni'")
    assert stored == ("Uni", "organization", '["Other","UNIZH","UZH","Zürich"]')


def test_titles_that_look_the_same_are_one_article(staged: Callable[..., Staging]) -> None:
    staging = staged(
        article("Café", "One.", "1"),
        stating("Cafe\u0301", "2", ("Beans", "Beans")),
        article("Reader", "In the Cafe\u0301.", "3", "Cafe\u0301"),
        by_id=True,
    )
    assert staging.count("article") == 2
    assert staging.count("link") == staging.count("mention") == 1
    assert known(staging) == {("Café", "Beans")}
    assert dict(staging.rows("SELECT name, type FROM entity"))["Café"] == "article"
