"""The stage of the multi-strategy search."""

from __future__ import annotations

from wikigr.graph.neighborhood import Edge, article
from wikigr.graph_search.explore.stage import promote_facts
from wikigr.index.candidate import Candidate


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
