from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wikigr.graph.engine import Graph
from wikigr.graph.fact_graph import FactGraph, read_facts
from wikigr.graph.neighborhood import Step
from wikigr.graph.schema import ddl

FACTS = [("b", "knows", "a"), ("a", "knows", "b"), ("a", "knows", "c"), ("a", "year", "1961"), ("a", "knows", "b")]


@pytest.fixture
def facts(tmp_path: Path) -> FactGraph:
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        for statement in ddl(384):
            graph.execute(statement)
        for key in ("c", "b", "1961", "a"):
            kind = "value" if key.isdigit() else "entity"
            graph.execute("CREATE (:Entity {entity_id: $k, name: $k, type: $t})", {"k": key, "t": kind})
        for number, (one, relation, other) in enumerate(FACTS):
            graph.execute(
                "MATCH (a:Entity {entity_id: $a}), (b:Entity {entity_id: $b}) "
                "CREATE (a)-[:RELATED_TO {relation: $r, section_id: $s}]->(b)",
                {"a": one, "b": other, "r": relation, "s": f"{one}#{number}"},
            )
        return read_facts(graph)


def follow(facts: FactGraph, key: str, step: Step, most: int = 10) -> tuple[list[tuple[str, str]], bool]:
    found, cut = facts.follow(np.array([facts.numbers[key]]), facts.steps.index(step), most)
    pairs = zip(found.ends.tolist(), found.rows.tolist(), strict=True)
    return [(facts.keys[end], facts.section_of(row)) for end, row in pairs], cut


def test_steps_lead_both_ways_and_name_the_first_section_that_states_them(facts: FactGraph) -> None:
    assert follow(facts, "a", Step("knows")) == ([("b", "a#1"), ("c", "a#2")], False)
    assert follow(facts, "a", Step("knows", inverse=True)) == ([("b", "b#0")], False)
    assert follow(facts, "1961", Step("year", inverse=True)) == ([("a", "a#3")], False)
    assert follow(facts, "c", Step("year")) == ([], False)


def test_a_limit_is_reported(facts: FactGraph) -> None:
    assert follow(facts, "a", Step("knows"), most=1) == ([("b", "a#1")], True)


def test_the_steps_at_several_nodes_are_distinct(facts: FactGraph) -> None:
    nodes = np.array([facts.numbers["a"], facts.numbers["1961"]])
    owners, steps = facts.steps_at(nodes)
    found = [(facts.keys[nodes[n]], str(facts.steps[s])) for n, s in zip(owners, steps, strict=True)]
    assert found == [("a", "knows"), ("a", "~knows"), ("a", "year"), ("1961", "~year")]


def test_values_are_marked_and_ends_sampled(facts: FactGraph) -> None:
    assert [key for key, value in zip(facts.keys, facts.is_value, strict=True) if value] == ["1961"]
    ends = facts.sample_ends(facts.steps.index(Step("knows")), 100)
    assert sorted(facts.keys[end] for end in ends) == ["a", "b", "c"]


def test_a_pack_without_facts_is_empty(tmp_path: Path) -> None:
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        for statement in ddl(384):
            graph.execute(statement)
        assert read_facts(graph).steps == ()
