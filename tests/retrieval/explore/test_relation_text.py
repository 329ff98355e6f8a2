"""Relations as words."""

from __future__ import annotations

import pytest

from wikigr.retrieval.explore.relation_text import relation_words, share_stem


@pytest.mark.parametrize(
    ("relation", "said"),
    [
        ("born_in", "born in"),
        ("birthPlace", "birth place"),
        ("http://dbpedia.org/ontology/birthPlace", "birth place"),
        ("http://example.org/schema#ISBNCode", "isbn code"),
        ("official-lang", "official lang"),
        ("strength2", "strength2"),
        ("///", ""),
    ],
)
def test_relations_become_words(relation: str, said: str) -> None:
    assert relation_words(relation) == said


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("founder", "founded", True),
        ("direct", "director", True),
        ("born", "born", True),
        ("mayor", "major", False),
        ("cat", "cats", False),
        ("production", "producer", True),
        ("constitution", "constant", False),
    ],
)
def test_words_share_a_stem_by_their_prefix(one: str, other: str, shared: bool) -> None:
    assert share_stem(one, other) is share_stem(other, one) is shared
