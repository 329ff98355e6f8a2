"""Metapaths: parsing them and following them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.graph_search.explore.links import entity, fill, follow, shortest

from wikigr.errors import UsageError
from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import Neighborhood, Step, article
from wikigr.graph_search.explore.metapath import follow_metapath, parse_metapath


def test_a_metapath_is_parsed(around: Neighborhood) -> None:
    assert parse_metapath("born_in -> ~located_in->LINKS_TO", around) == (
        Step("born_in"),
        Step("located_in", inverse=True),
        Step("LINKS_TO"),
    )


@pytest.mark.parametrize("written", ["Born In", "bornIn", "BORN-IN", "born_in", " ~ born in"])
def test_case_and_separators_do_not_matter(around: Neighborhood, written: str) -> None:
    assert parse_metapath(written, around)[0].relation == "born_in"


def test_a_relation_without_edges_is_a_valid_step(around: Neighborhood) -> None:
    assert parse_metapath("mentions -> has entity", around) == (Step("MENTIONS"), Step("HAS_ENTITY"))
    assert follow_metapath(around, article("A"), parse_metapath("MENTIONS", around)).paths == ()


def test_a_misspelled_relation_gets_a_suggestion(around: Neighborhood) -> None:
    with pytest.raises(UsageError, match="no relation 'borne_in'") as raised:
        parse_metapath("borne_in", around)
    assert raised.value.hint == "Did you mean born_in?"
    with pytest.raises(UsageError, match="no relation") as raised:
        parse_metapath("zzzzzz" * 100, around)
    assert "schema" in str(raised.value.hint)
    assert len(raised.value.message) < 200


def test_stored_names_with_a_tilde_are_parsed(tmp_path: Path) -> None:
    facts = [("ada", "~crew", "bob"), ("bob", "part of", "london")]
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, [], facts)
        around = Neighborhood(graph)
        assert parse_metapath("~crew", around) == (Step("~crew"),)
        assert parse_metapath("~~crew", around) == (Step("~crew", inverse=True),)
        assert parse_metapath("~LINKS_TO -> ~part of", around) == (Step("LINKS_TO", True), Step("part of", True))
        assert follow(around, entity("ada"), "~crew -> part of") == ["Ada -> ~crew -> Bob -> part of -> London"]


@pytest.mark.parametrize("written", ["", "->", "born_in ->", "~", "born_in -> ~ -> knows"])
def test_an_empty_step_is_an_error(around: Neighborhood, written: str) -> None:
    with pytest.raises(UsageError, match="empty step"):
        parse_metapath(written, around)


def test_a_metapath_has_a_limit(around: Neighborhood) -> None:
    with pytest.raises(UsageError, match="9 steps"):
        parse_metapath("->".join(["knows"] * 9), around)


def test_a_path_reads_from_its_start_to_its_end(around: Neighborhood) -> None:
    assert follow(around, entity("ada"), "born_in -> located_in") == [
        "Ada -> born_in -> London -> located_in -> England"
    ]
    assert follow(around, entity("england"), "~located_in -> ~born_in") == [
        "England -> ~located_in -> London -> ~born_in -> Ada",
        "England -> ~located_in -> London -> ~born_in -> Bob",
    ]


def test_parallel_edges_are_one_step_and_keep_the_first_section(around: Neighborhood) -> None:
    (path,) = follow_metapath(around, entity("ada"), [Step("born_in")]).paths
    assert path.edges[0].section_id == "A#0"


def test_paths_visit_no_node_twice(around: Neighborhood) -> None:
    assert follow(around, entity("ada"), "knows") == ["Ada -> knows -> Bob"]
    assert follow(around, article("A"), "LINKS_TO -> LINKS_TO") == [
        "A -> LINKS_TO -> B -> LINKS_TO -> C",
        "A -> LINKS_TO -> E -> LINKS_TO -> D",
    ]


def test_a_node_without_a_name_shows_its_key(around: Neighborhood) -> None:
    assert follow(around, entity("bob"), "knows") == ["Bob -> knows -> x9"]


def test_a_target_ends_the_path(around: Neighborhood) -> None:
    for metapath in ("LINKS_TO -> LINKS_TO", "LINKS_TO -> LINKS_TO -> LINKS_TO"):
        free = follow(around, article("A"), metapath)
        to_d = follow(around, article("A"), metapath, target=article("D"))
        assert to_d == [path for path in free if path.endswith("-> D")] != []
    assert follow(around, article("A"), "LINKS_TO", target=article("F")) == []


def test_a_dead_end_of_one_path_is_not_one_of_another(tmp_path: Path) -> None:
    """S -> B -> A -> C -> B is no path, but S -> D -> A -> C -> B is."""
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, [("S", "B"), ("B", "A"), ("A", "C"), ("C", "B"), ("S", "D"), ("D", "A")], [])
        around = Neighborhood(graph)
        wanted = ["S -> LINKS_TO -> D -> LINKS_TO -> A -> LINKS_TO -> C -> LINKS_TO -> B"]
        assert follow(around, article("S"), "->".join(["LINKS_TO"] * 4)) == wanted
        assert follow(around, article("S"), "->".join(["LINKS_TO"] * 4), target=article("B")) == wanted


@pytest.mark.parametrize("limit", [1, 7, 100])
def test_a_complete_graph_is_not_enumerated(
    complete: Neighborhood, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [Step("LINKS_TO")] * 3
    for target in (None, article("N29")):
        found = follow_metapath(complete, article("N00"), steps, max_paths=limit, target=target)
        assert len(found.paths) == limit
        assert found.truncated
    # Only as many edges are walked as the paths need.
    monkeypatch.setattr("wikigr.graph_search.explore.metapath._MAX_TRAVERSED", 4 * limit + 10)
    assert len(follow_metapath(complete, article("N00"), steps, max_paths=limit).paths) == limit


@pytest.mark.parametrize("target", ["N00", "N01", "N29"])
def test_paths_to_a_target_do_not_pass_it_on_the_way(
    complete: Neighborhood, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wikigr.graph_search.explore.metapath._MAX_TRAVERSED", 60)
    found = follow_metapath(complete, article("N05"), [Step("LINKS_TO")] * 6, target=article(target), max_paths=3)
    assert len(found.paths) == 3
    for path in found.paths:
        assert len(set(path.nodes)) == 7
        assert path.nodes[-1] == article(target)


def test_exactly_max_paths_is_not_truncated(around: Neighborhood) -> None:
    steps = [Step("LINKS_TO")] * 2
    assert not follow_metapath(around, article("A"), steps, max_paths=2).truncated
    assert follow_metapath(around, article("A"), steps, max_paths=1).truncated


def test_every_limit_of_a_metapath_is_reported(complete: Neighborhood, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [Step("LINKS_TO")] * 2
    everything = follow_metapath(complete, article("N00"), steps, max_paths=10_000)
    assert len(everything.paths) == 29 * 28
    assert not everything.truncated
    few = follow_metapath(complete, article("N00"), steps, max_paths=10_000, max_edges_per_node=3)
    assert 0 < len(few.paths) <= 9
    assert few.truncated
    near = follow_metapath(complete, article("N00"), steps, max_paths=10_000, max_visited=3)
    assert len(near.paths) == 2 * 28
    assert near.truncated
    monkeypatch.setattr("wikigr.graph_search.explore.metapath._MAX_TRAVERSED", 50)
    for target in (None, article("N01")):
        steps = [Step("LINKS_TO")] * 4
        tired = follow_metapath(complete, article("N00"), steps, max_paths=10_000, target=target)
        assert tired.truncated
        assert len(tired.paths) <= 50


def test_bad_arguments_are_errors(around: Neighborhood) -> None:
    with pytest.raises(UsageError, match="no article 'Nobody'"):
        follow_metapath(around, article("Nobody"), [Step("LINKS_TO")])
    with pytest.raises(UsageError, match="at least one step"):
        follow_metapath(around, article("A"), [])
    with pytest.raises(UsageError, match="max_paths must be at least 1, not 0"):
        follow_metapath(around, article("A"), [Step("LINKS_TO")], max_paths=0)


def test_a_graph_without_edges(tmp_path: Path) -> None:
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, [], [])
        around = Neighborhood(graph)
        assert follow_metapath(around, article("A"), [Step("LINKS_TO")]).paths == ()
        assert shortest(around, article("A"), entity("ada")) == []
        with pytest.raises(UsageError, match="no relation 'born_in'"):
            parse_metapath("born_in", around)
