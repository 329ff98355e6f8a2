"""``wikigr graph link``: the articles and entities that a question names."""

from __future__ import annotations

import json
from pathlib import Path

from ...conftest import Wikigr
from .conftest import article, document


def test_a_long_question_is_linked_only_at_its_beginning(wikigr: Wikigr, physics_pack: Path) -> None:
    long = ("graph", "link", f"{'why ' * 130}Erwin Schrödinger", "--pack", str(physics_pack), "--json")
    done = wikigr(*long)
    assert json.loads(done.out)["warnings"] == ["The question is long: only its beginning was searched for names."]
    assert "only its beginning was searched" in done.err
    assert json.loads(wikigr("graph", "link", "Erwin Schrödinger", *long[3:]).out)["warnings"] == []


def test_link_shows_what_a_question_names(wikigr: Wikigr, films: Path) -> None:
    found = document(wikigr, "graph", "link", "Who directed The Iron Bell and Clara Vos?", "-p", str(films))
    assert list(found) == ["schema_version", "question", "links", "truncated", "warnings"]
    bell, door = found["links"]
    assert list(bell) == ["mention", "start", "end", "node", "method", "score"]
    assert (bell["mention"], bell["node"], bell["method"]) == ("The Iron Bell", article("The Iron Bell"), "exact")
    assert (door["mention"], door["node"], door["method"]) == ("Clara Vos", article("Clara Voss"), "fuzzy")
    assert found["question"][bell["start"] : bell["end"]] == bell["mention"]
    assert 0 < door["score"] < 1 and found["truncated"] is False


def test_link_without_fuzzy_and_with_a_limit(wikigr: Wikigr, films: Path) -> None:
    question = "Who directed The Iron Bell and Clara Vos?"
    exact = document(wikigr, "graph", "link", question, "-p", str(films), "--no-fuzzy")
    assert [item["method"] for item in exact["links"]] == ["exact"]
    one = wikigr("graph", "link", question, "-p", str(films), "--top-k", "1", "--json")
    assert len(json.loads(one.out)["links"]) == 1
    assert json.loads(one.out)["truncated"] is True and "Truncated" in one.err


def test_link_by_meaning(wikigr: Wikigr, physics_pack: Path) -> None:
    found = document(wikigr, "graph", "link", "who measured cold metal", "-p", str(physics_pack), "--semantic", "3")
    links = [item for item in found["links"] if item["method"] == "semantic"]
    assert links[0]["node"]["key"] == "Superconductivity"
    assert len(links) == len({item["node"]["key"] for item in links}) == 3
    assert [item["score"] for item in links] == sorted((item["score"] for item in links), reverse=True)
    shown = wikigr("graph", "link", "who measured cold metal", "-p", str(physics_pack), "--semantic", "1")
    assert "semantic  (the question) → Superconductivity" in shown.out


def test_a_question_that_names_nothing(wikigr: Wikigr, films: Path) -> None:
    result = wikigr("graph", "link", "zzzz qqqq", "-p", str(films))
    assert (result.code, result.out) == (0, "") and "names nothing" in result.err
    assert wikigr("graph", "link", "  ", "-p", str(films)).code == 2
