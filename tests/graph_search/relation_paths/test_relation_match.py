"""Relations as words."""

from __future__ import annotations

from wikigr.graph_search.relation_paths.relation_match import relation_words, share_stem


def test_relations_become_words() -> None:
    cases = {
        "born_in": "born in",
        "birthPlace": "birth place",
        "http://dbpedia.org/ontology/birthPlace": "birth place",
        "http://example.org/schema#ISBNCode": "isbn code",
        "official-lang": "official lang",
        "strength2": "strength2",
        "///": "",
    }
    assert {relation: relation_words(relation) for relation in cases} == cases


def test_words_share_a_stem_by_their_prefix() -> None:
    cases = [
        ("founder", "founded", True),
        ("direct", "director", True),
        ("born", "born", True),
        ("mayor", "major", False),
        ("cat", "cats", False),
        ("production", "producer", True),
        ("constitution", "constant", False),
    ]
    assert [
        (one, other, shared)
        for one, other, shared in cases
        if not (share_stem(one, other) is share_stem(other, one) is shared)
    ] == []
