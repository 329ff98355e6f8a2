from __future__ import annotations

import json
from collections.abc import Callable

from tests.ingest.conftest import article
from tests.ingest.extractions import graph

from wikigr.ingest.entity_resolution import resolve_entities
from wikigr.ingest.staging import Staging


def keep_reply(staging: Staging, article: str, extraction: object) -> None:
    """Store a reply for the sections of an article, as the extraction does."""
    with staging.transaction():
        staging.write(
            "INSERT INTO extraction SELECT s.hash, ? FROM section s JOIN article a ON a.id = s.article "
            "WHERE a.title = ?",
            [(json.dumps(extraction), article)],
        )


def test_an_exact_alias_wins_over_a_title_in_another_case(staged: Callable[..., Staging]) -> None:
    staging = staged(
        article("Who", "A word."),
        article("World Health Organization", "A body.", aliases=("WHO",)),
        article("Doctor", "The WHO acts."),
        by_id=True,
    )
    keep_reply(staging, "Doctor", graph([("WHO", "organization")]))
    resolve_entities(staging)
    named = list(staging.rows("SELECT name, type FROM extracted_entity ORDER BY id"))
    assert named == [("World Health Organization", "organization")]


def test_entities_without_an_article_are_merged_by_key_and_by_alias(staged: Callable[..., Staging]) -> None:
    staging = staged(
        article("One", "Wolfgang Pauli, known as Pauli, met Niels Bohr."),
        article("Two", "niels-bohr wrote to Pauli."),
        by_id=True,
    )
    keep_reply(
        staging,
        "One",
        graph(
            [("Wolfgang Pauli", "person", "Pauli"), ("Pauli", "person"), ("Niels Bohr", "person")],
            [("Pauli", "met", "Niels Bohr", "Pauli, met Niels Bohr")],
        ),
    )
    keep_reply(staging, "Two", graph([("niels-bohr", "object")]))
    dropped = resolve_entities(staging)
    entities = list(staging.rows("SELECT name, type, aliases FROM extracted_entity ORDER BY id"))
    # Ties between spellings or types break alphabetically.
    assert entities == [("Niels Bohr", "object", '["niels-bohr"]'), ("Pauli", "person", '["Wolfgang Pauli"]')]
    facts = list(staging.rows("SELECT subject, relation, object, section_id FROM extracted_fact"))
    assert facts == [("pauli", "met", "niels bohr", "One#0")]
    assert not dropped
