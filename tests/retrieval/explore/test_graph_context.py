from __future__ import annotations

from wikigr.graph.neighborhood import Edge, article
from wikigr.index.candidate import Candidate
from wikigr.retrieval.explore.multi_strategy import GraphContext, Piece, promote_facts

EDGE = Edge(article("A"), "r", article("B"), "A#0")


def test_pieces_keep_their_order_and_are_distinct() -> None:
    context = GraphContext(1000)
    assert context.add([Piece("A -> r -> B", "triplets", (EDGE,)), Piece("A -> s -> C", "paths")]) == 2
    assert context.add([Piece("A -> r -> B", "paths"), Piece("n: 1", "cypher", query="RETURN 1 AS n")]) == 1
    assert context.lines == ["A -> r -> B", "A -> s -> C", "n: 1"]
    first, _, last = context.pieces
    assert (first.strategy, first.section_ids, last.query) == ("triplets", ("A#0",), "RETURN 1 AS n")
    assert not context.truncated


def test_a_piece_lists_each_known_section_once() -> None:
    edges = (EDGE, Edge(article("B"), "LINKS_TO", article("C")), Edge(article("C"), "r", article("D"), "A#0"))
    assert Piece("A -> r -> B -> LINKS_TO -> C -> r -> D", "paths", edges).section_ids == ("A#0",)


def test_pieces_beyond_the_budget_are_dropped_and_reported() -> None:
    context = GraphContext(10)
    # 8 and 2 tokens; the one between has no room.
    assert context.add(Piece(text, "cypher") for text in ("x" * 31, "y" * 31, "z" * 7)) == 2
    assert (context.lines, context.truncated) == (["x" * 31, "z" * 7], True)


def test_a_repeated_piece_is_not_a_truncation() -> None:
    context = GraphContext(8)
    context.add([Piece("x" * 31, "cypher")])
    assert context.add([Piece("x" * 31, "cypher")]) == 0
    assert not context.truncated


def test_sections_of_facts_move_to_the_front_in_the_order_of_the_facts() -> None:
    candidates = [Candidate("X#0", 0.9, {"relevance": 0.9}), Candidate("B#0", 0.5, {"relevance": 0.5, "walk": 0.2})]
    facts = [
        Edge(article("A"), "LINKS_TO", article("B")),
        Edge(article("B"), "r", article("C"), "B#0"),
        Edge(article("B"), "s", article("D"), "B#0"),
        Edge(article("C"), "r", article("D"), "C#1"),
    ]
    first, second, third = promote_facts(candidates, facts)
    assert (first.section_id, first.scores) == ("B#0", {"relevance": 0.5, "walk": 0.2, "fact": 2.0})
    assert (second.section_id, second.scores) == ("C#1", {"relevance": 0.0, "fact": 4.0})
    assert first.score > second.score > 1.0
    assert third == candidates[0]
    assert promote_facts(candidates, []) == candidates
