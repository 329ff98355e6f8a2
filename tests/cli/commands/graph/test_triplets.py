"""``wikigr graph triplets``: exploration from the nodes that a question names."""

from __future__ import annotations

import json
from pathlib import Path

from ...conftest import Wikigr
from .conftest import BORN, article, document


def test_triplets_follow_the_question(wikigr: Wikigr, films: Path) -> None:
    found = document(wikigr, "graph", "triplets", BORN, "-p", str(films))
    assert list(found) == [
        "schema_version", "question", "sources", "triplets", "explored", "iterations", "stop_reason", "truncated",
        "warnings",
    ]  # fmt: skip
    assert found["sources"] == [article("The Iron Bell")]
    texts = [item["text"] for item in found["triplets"]]
    assert texts[0] == "The Iron Bell -> director -> Clara Voss"
    assert "Clara Voss -> born_in -> Kelburg" in texts
    assert set(found["triplets"][0]) == {"source", "relation", "target", "section_id", "text"}
    shown = wikigr("graph", "triplets", BORN, "-p", str(films)).out.splitlines()
    assert shown[0] == "The Iron Bell -> director -> Clara Voss  [The Iron Bell#0]"


def test_triplets_from_given_names_and_within_limits(wikigr: Wikigr, films: Path) -> None:
    start = document(wikigr, "graph", "triplets", "Where born?", "-p", str(films), "--start", "emil roth")
    assert start["sources"] == [article("Emil Roth")]
    few = wikigr("graph", "triplets", BORN, "-p", str(films), "--top-k", "1", "--json")
    assert len(json.loads(few.out)["triplets"]) == 1
    assert json.loads(few.out)["truncated"] is True and "Truncated" in few.err
    one = document(wikigr, "graph", "triplets", BORN, "-p", str(films), "--max-iterations", "1")
    assert one["explored"] == [article("The Iron Bell")] and one["iterations"] == 1
    assert wikigr("graph", "triplets", BORN, "-p", str(films), "--top-k", "0").code == 2
    assert wikigr("graph", "triplets", BORN, "-p", str(films), "--start", "Nobody at all").code == 2


def test_triplets_of_a_question_without_a_name(wikigr: Wikigr, films: Path) -> None:
    result = wikigr("graph", "triplets", "zzzz qqqq", "-p", str(films))
    assert (result.code, result.out) == (0, "") and "--start" in result.err
