"""The checks of an untrusted database: keys, relations and word counts that disagree with the stored rows."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from wikigr.checks import Check
from wikigr.distribution.untrusted_database import (
    check_relations,
    check_schema,
    check_values,
    edge_offsets,
    section_texts,
)
from wikigr.graph.engine import Graph
from wikigr.pack.layout import DATABASE, MANIFEST
from wikigr.pack.manifest import read_manifest


def failed(checks: Iterator[Check]) -> list[str]:
    return [check.name for check in checks if not check.passed]


def test_a_good_database_passes(letters_pack: Path, people_pack: Path) -> None:
    for pack, edges in ((letters_pack, "7 edges"), (people_pack, "17 edges")):
        with Graph(pack / DATABASE) as graph:
            assert failed(check_values(graph)) == []
            relations, words = check_relations(graph)
            assert relations.passed and words.passed
            assert relations.detail.startswith(edges)


def test_a_database_without_sections(letters_pack: Path, tmp_path: Path) -> None:
    """Regression: the engine's error was reported instead."""
    pack = shutil.copytree(letters_pack, tmp_path / "letters")
    with Graph(pack / DATABASE, read_only=False) as graph:
        graph.execute("DROP TABLE HAS_SECTION")
        graph.execute("DROP TABLE Section")
    with Graph(pack / DATABASE) as graph:
        assert [check.detail for check in check_schema(graph, read_manifest(pack / MANIFEST))] == [
            "the database has no table HAS_SECTION",
            "the database has no table Section",
        ]


def test_a_title_that_its_index_does_not_find(letters_pack: Path, tmp_path: Path) -> None:
    """Regression: the pack passed its checks, and `graph neighbors` did not know the article."""
    good = (letters_pack / DATABASE).read_bytes()
    found = set()
    place = -1
    while (place := good.find(b"Gamma", place + 1)) != -1:
        path = tmp_path / f"{place}.db"
        path.write_bytes(good[:place] + b"gamma" + good[place + 5 :])
        with Graph(path) as graph:
            titles = {title for (title,) in graph.rows("MATCH (a:Article) RETURN a.title")}
            known = {t for t in titles if graph.rows("MATCH (a:Article {title: $t}) RETURN a.title", {"t": t})}
            checks = failed(check_values(graph))
            assert ("keys" in checks) or known == titles
            found.update(checks)
    assert "keys" in found


def test_an_edge_that_differs_by_direction(people_pack: Path, tmp_path: Path) -> None:
    """The engine stores every edge twice, with its properties: once at each of its ends."""
    good = (people_pack / DATABASE).read_bytes()
    places = [match.start() for match in re.finditer(b"located_in", good)]
    assert len(places) == 2
    for place in places:
        path = tmp_path / f"{place}.db"
        path.write_bytes(good[:place] + b"L" + good[place + 1 :])
        with Graph(path) as graph:
            assert failed(check_values(graph)) == []
            assert failed(check_relations(graph)) == ["relations"]


def test_word_counts_are_counted_again(letters_pack: Path, tmp_path: Path) -> None:
    for table in ("Article", "Section"):
        pack = shutil.copytree(letters_pack, tmp_path / table)
        with Graph(pack / DATABASE, read_only=False) as graph:
            assert failed(check_relations(graph)) == []
            graph.execute(f"MATCH (n:{table}) SET n.word_count = n.word_count + 1")
            assert failed(check_relations(graph)) == ["word counts"]


def test_an_edge_is_found_from_both_ends(letters_pack: Path, tmp_path: Path) -> None:
    pack = shutil.copytree(letters_pack, tmp_path / "letters")
    with Graph(pack / DATABASE, read_only=False) as graph:
        before = list(edge_offsets(graph, "Article", "LINKS_TO", "Article"))
        graph.execute("MATCH (a:Article {title: 'Gamma'}), (b:Article {title: 'Alpha'}) CREATE (a)-[:LINKS_TO]->(b)")
        after = list(edge_offsets(graph, "Article", "LINKS_TO", "Article"))
        assert len(after) == len(before) + 1
        assert failed(check_relations(graph)) == []


def test_the_texts_of_the_lexical_index(letters_pack: Path) -> None:
    with Graph(letters_pack / DATABASE) as graph:
        texts = {text[0]: text[1:] for text in section_texts(graph)}
    assert texts["Alpha#1"] == ("Alpha", "Use", "Alpha decay.")
    assert texts["Beta#0"] == ("Beta", "", "Beta is the second letter.")


@pytest.mark.parametrize("relation", ["HAS_SECTION", "LINKS_TO", "RELATED_TO"])
def test_both_directions_are_read(people_pack: Path, relation: str) -> None:
    """The engine stores every edge twice. Pages of nodes decide from which end it reads."""
    source, target = {"HAS_SECTION": ("Article", "Section"), "LINKS_TO": ("Article", "Article")}.get(
        relation, ("Entity", "Entity")
    )
    where = "WHERE offset(id({0})) >= 0 AND offset(id({0})) < 9 RETURN offset(id(a)), offset(id(b))"
    with Graph(people_pack / DATABASE) as graph:
        plans = [
            str(graph.rows(f"EXPLAIN MATCH {pattern} {where.format(node)}"))
            for pattern, node in (
                (f"(a:{source})-[r:{relation}]->(b:{target})", "a"),
                (f"(b:{target})<-[r:{relation}]-(a:{source})", "b"),
            )
        ]
    directions = [re.findall(r"Direction: (\S+)", plan) for plan in plans]
    assert directions == [["(a)-[r]->(b)"], ["(b)<-[r]-(a)"]]
