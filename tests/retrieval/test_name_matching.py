"""Matching of names with typos, compared with the edit distance computed by brute force."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from wikigr.graph.engine import Graph
from wikigr.graph.graph_index import index_graph
from wikigr.graph.schema import ddl
from wikigr.names import strip_possessive
from wikigr.retrieval.name_matching import NameMatcher, _one_typo_away

TITLES = ("Albert Einstein", "Alfred Einstein", "Niels Bohr", "Photosynthesis", "Apollo 11", "Go")


@pytest.fixture(scope="module")
def matcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NameMatcher]:
    with Graph(tmp_path_factory.mktemp("names") / "pack.db", read_only=False) as graph:
        for statement in ddl(4):
            graph.execute(statement)
        for title in TITLES:
            aliases = ["Chlorosynthese"] if title == "Photosynthesis" else None
            graph.execute("CREATE (:Article {title: $t, aliases: $a})", {"t": title, "a": aliases})
        yield NameMatcher(index_graph(graph, ""))


def labels(matcher: NameMatcher, found: tuple[list[int], float]) -> list[str]:
    return [matcher.index.node(number).label for number in found[0]]


def test_the_nearest_names(matcher: NameMatcher) -> None:
    cases = {
        "Nils Bohr": ["Niels Bohr"],
        "Neils Bohr": ["Niels Bohr"],
        "Photosinthesys": ["Photosynthesis"],
        "Photosxxxhesis": [],
        "Apollo 12": [],
        "Gp": [],
        "Niels Bohr": [],
        "Albrt Einstein": ["Albert Einstein"],
    }
    assert {name: labels(matcher, matcher.nearest_names(name)) for name in cases} == cases


def test_aliases_and_unique_surnames(matcher: NameMatcher) -> None:
    assert labels(matcher, matcher.misspelled("Chlorosynthesse", aliases=True)) == ["Photosynthesis"]
    assert matcher.misspelled("Chlorosynthesse", aliases=False) == ([], 0.0)
    # "Bohr" is shorter than five letters, and two articles end in "Einstein".
    assert labels(matcher, matcher.misspelled("Bohr", aliases=True)) == []
    assert labels(matcher, matcher.misspelled("Einstein", aliases=True)) == []


@given(st.text("abc1", min_size=1, max_size=5))
def test_every_spelling_is_one_typo_away(key: str) -> None:
    spellings = _one_typo_away(key)
    assert len(spellings) > 26
    assert {OSA.distance(key, spelling) for spelling in spellings} == {1}


def test_possessives_are_stripped() -> None:
    cases = {"einstein's": "einstein", "cats'": "cats", "it’s": "it", "s": "s"}
    assert {word: strip_possessive(word) for word in cases} == cases
