from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import networkx as nx
import pyarrow as pa
import pytest

from wikigr.errors import UsageError
from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import Neighborhood, Node, Step, article
from wikigr.graph.schema import ddl
from wikigr.retrieval.explore import metapath_search
from wikigr.retrieval.explore.metapath import parse_metapath
from wikigr.retrieval.explore.metapath_search import follow_metapath
from wikigr.retrieval.explore.paths import Path as Route
from wikigr.retrieval.explore.shortest_paths import shortest_paths

LINKS = [("A", "B"), ("B", "C"), ("C", "D"), ("A", "E"), ("E", "D"), ("B", "A"), ("B", "B"), ("F", "D"), ("A", "B")]
FACTS = [
    ("ada", "born_in", "london"),
    ("london", "located_in", "england"),
    ("ada", "born_in", "london"),
    ("bob", "born_in", "london"),
    ("ada", "knows", "bob"),
    ("ada", "spouse", "bob"),
    ("ada", "knows", "ada"),
    ("bob", "knows", "x9"),
]
NAMES = {"ada": "Ada", "bob": "Bob", "london": "London", "england": "England", "x9": ""}


def entity(key: str) -> Node:
    return Node("entity", key, NAMES[key])


def fill(graph: Graph, links: list[tuple[str, str]], facts: list[tuple[str, str, str]]) -> None:
    for statement in ddl(4):
        graph.execute(statement)
    for title in sorted({title for pair in links for title in pair}) or ["A"]:
        graph.execute("CREATE (:Article {title: $title})", {"title": title})
    for key, name in NAMES.items():
        graph.execute("CREATE (:Entity {entity_id: $key, name: $name})", {"key": key, "name": name})
    if links:
        graph.copy("LINKS_TO", pa.table({"from": [a for a, _ in links], "to": [b for _, b in links]}))
    if facts:
        columns = list(zip(*facts, strict=True))
        sections = [f"A#{n}" for n in range(len(facts))]
        graph.copy(
            "RELATED_TO",
            pa.table({"from": columns[0], "to": columns[2], "relation": columns[1], "section_id": sections}),
        )


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with Graph(tmp_path_factory.mktemp("paths") / "pack.db", read_only=False) as graph:
        fill(graph, LINKS, FACTS)
        yield graph


@pytest.fixture
def around(graph: Graph) -> Neighborhood:
    return Neighborhood(graph)


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neighborhood]:
    """Every one of 30 articles links to every other."""
    with Graph(tmp_path_factory.mktemp("complete") / "pack.db", read_only=False) as graph:
        fill(graph, list(permutations([f"N{n:02}" for n in range(30)], 2)), [])
        yield Neighborhood(graph)


# -- metapaths


def test_a_metapath_is_read(around: Neighborhood) -> None:
    assert parse_metapath("born_in -> ~located_in->LINKS_TO", around) == (
        Step("born_in"),
        Step("located_in", inverse=True),
        Step("LINKS_TO"),
    )


@pytest.mark.parametrize("written", ["Born In", "bornIn", "BORN-IN", "born_in", " ~ born in"])
def test_case_and_separators_do_not_matter(around: Neighborhood, written: str) -> None:
    assert parse_metapath(written, around)[0].relation == "born_in"


def test_a_relation_without_an_edge_is_a_step_too(around: Neighborhood) -> None:
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


def test_a_stored_name_with_a_sign_of_its_own_can_be_named(tmp_path: Path) -> None:
    facts = [("ada", "~crew", "bob"), ("bob", "is -> part of", "london"), ("ada", "part of", "london")]
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, [], facts)
        around = Neighborhood(graph)
        assert parse_metapath("~crew", around) == (Step("~crew"),)
        assert parse_metapath("~~crew", around) == (Step("~crew", inverse=True),)
        assert parse_metapath("is -> part of", around) == (Step("is -> part of"),)
        assert parse_metapath("~LINKS_TO -> ~part of", around) == (Step("LINKS_TO", True), Step("part of", True))
        whole = (Step("~crew"), Step("is -> part of"), Step("part of", inverse=True))
        assert parse_metapath("~crew->is -> part of-> ~part of", around) == whole
        assert parse_metapath("~is -> part of -> ~~crew", around) == (
            Step("is -> part of", inverse=True),
            Step("~crew", inverse=True),
        )
        assert follow(around, entity("ada"), "~crew -> is -> part of") == [
            "Ada -> ~crew -> Bob -> is -> part of -> London"
        ]
        with pytest.raises(UsageError, match="no relation 'is'"):
            parse_metapath("is -> part of it", around)


@pytest.mark.parametrize("written", ["", "->", "born_in ->", "~", "born_in -> ~ -> knows"])
def test_an_empty_step_is_an_error(around: Neighborhood, written: str) -> None:
    with pytest.raises(UsageError, match="empty step"):
        parse_metapath(written, around)


def test_a_metapath_has_a_limit(around: Neighborhood) -> None:
    with pytest.raises(UsageError, match="9 steps"):
        parse_metapath("->".join(["knows"] * 9), around)


def follow(around: Neighborhood, start: Node, metapath: str, **limits: object) -> list[str]:
    return [str(p) for p in follow_metapath(around, start, parse_metapath(metapath, around), **limits).paths]  # type: ignore[arg-type]


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


def test_no_node_comes_twice(around: Neighborhood) -> None:
    assert follow(around, entity("ada"), "knows") == ["Ada -> knows -> Bob"]
    assert follow(around, article("A"), "LINKS_TO -> LINKS_TO") == [
        "A -> LINKS_TO -> B -> LINKS_TO -> C",
        "A -> LINKS_TO -> E -> LINKS_TO -> D",
    ]


def test_a_thing_without_a_name_shows_its_key(around: Neighborhood) -> None:
    assert follow(around, entity("bob"), "knows") == ["Bob -> knows -> x9"]


def test_a_target_ends_the_path(around: Neighborhood) -> None:
    for metapath in ("LINKS_TO -> LINKS_TO", "LINKS_TO -> LINKS_TO -> LINKS_TO"):
        free = follow(around, article("A"), metapath)
        to_d = follow(around, article("A"), metapath, target=article("D"))
        assert to_d == [path for path in free if path.endswith("-> D")] != []
    assert follow(around, article("A"), "LINKS_TO", target=article("F")) == []


def test_a_dead_end_by_one_way_is_none_by_another(tmp_path: Path) -> None:
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
    monkeypatch.setattr(metapath_search, "_MAX_TRAVERSED", 4 * limit + 10)
    assert len(follow_metapath(complete, article("N00"), steps, max_paths=limit).paths) == limit


@pytest.mark.parametrize("target", ["N00", "N01", "N29"])
def test_paths_to_a_target_do_not_pass_it_on_the_way(
    complete: Neighborhood, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metapath_search, "_MAX_TRAVERSED", 60)
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
    monkeypatch.setattr(metapath_search, "_MAX_TRAVERSED", 50)
    for target in (None, article("N01")):
        steps = [Step("LINKS_TO")] * 4
        tired = follow_metapath(complete, article("N00"), steps, max_paths=10_000, target=target)
        assert tired.truncated
        assert len(tired.paths) <= 50


def test_bad_arguments_are_errors(around: Neighborhood) -> None:
    with pytest.raises(UsageError, match="no article 'Nobody'"):
        follow_metapath(around, article("Nobody"), [Step("LINKS_TO")])
    with pytest.raises(UsageError, match="no entity"):
        shortest_paths(around, article("A"), Node("entity", "none", "None"))
    with pytest.raises(UsageError, match="at least one step"):
        follow_metapath(around, article("A"), [])
    with pytest.raises(UsageError, match="max_paths must be at least 1, not 0"):
        follow_metapath(around, article("A"), [Step("LINKS_TO")], max_paths=0)
    with pytest.raises(UsageError, match="max_hops must be at most 8, not 9"):
        shortest_paths(around, article("A"), article("B"), max_hops=9)


# -- shortest paths


def shortest(around: Neighborhood, start: Node, end: Node, **limits: object) -> list[str]:
    return [str(path) for path in shortest_paths(around, start, end, **limits).paths]  # type: ignore[arg-type]


def test_all_shortest_paths_in_both_directions(around: Neighborhood) -> None:
    assert shortest(around, article("A"), article("D")) == ["A -> LINKS_TO -> E -> LINKS_TO -> D"]
    assert (
        shortest(around, article("C"), article("E"))
        == [
            "C -> ~LINKS_TO -> B -> LINKS_TO -> A -> LINKS_TO -> E",
            "C -> LINKS_TO -> D -> ~LINKS_TO -> E",
        ][1:]
    )
    assert shortest(around, article("F"), article("B")) == ["F -> LINKS_TO -> D -> ~LINKS_TO -> C -> ~LINKS_TO -> B"]


def test_facts_between_two_nodes_are_paths_of_their_own(around: Neighborhood) -> None:
    assert shortest(around, entity("ada"), entity("bob")) == ["Ada -> knows -> Bob", "Ada -> spouse -> Bob"]
    assert shortest(around, entity("bob"), entity("ada")) == ["Bob -> ~knows -> Ada", "Bob -> ~spouse -> Ada"]
    assert shortest(around, entity("bob"), entity("ada"), relations=["spouse"]) == ["Bob -> ~spouse -> Ada"]
    assert shortest(around, entity("bob"), entity("ada"), relations=["born_in"]) == [
        "Bob -> born_in -> London -> ~born_in -> Ada"
    ]


def test_a_link_forward_stands_for_the_one_back(around: Neighborhood) -> None:
    assert shortest(around, article("A"), article("B")) == ["A -> LINKS_TO -> B"]
    assert shortest(around, article("B"), article("A")) == ["B -> LINKS_TO -> A"]


def test_links_both_ways_read_forward_on_the_far_side_too(tmp_path: Path) -> None:
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, [("X", "W"), ("X", "Y"), ("Y", "X"), ("Y", "Z"), ("Z", "Y")], [])
        assert shortest(Neighborhood(graph), article("X"), article("Z")) == ["X -> LINKS_TO -> Y -> LINKS_TO -> Z"]


def test_the_bound_counts_hops(around: Neighborhood) -> None:
    assert shortest(around, article("F"), article("B"), max_hops=2) == []
    assert not shortest_paths(around, article("F"), article("B"), max_hops=2).truncated
    assert len(shortest(around, article("F"), article("B"), max_hops=3)) == 1
    assert shortest(around, article("A"), entity("ada")) == []


def test_from_a_node_to_itself(around: Neighborhood) -> None:
    assert shortest_paths(around, article("A"), article("A")).paths == (Route((article("A"),)),)
    assert shortest(around, article("A"), article("A")) == ["A"]


def test_every_limit_of_shortest_paths_is_reported(complete: Neighborhood) -> None:
    neighbors = {"max_hops": 2, "relations": ["LINKS_TO"]}
    assert not shortest_paths(complete, article("N00"), article("N01"), **neighbors).truncated  # type: ignore[arg-type]
    few = shortest_paths(complete, article("N00"), article("N29"), max_edges_per_node=2)
    assert few.truncated
    none = shortest_paths(complete, article("N00"), article("N29"), max_visited=3)
    assert (none.paths, none.truncated) == ((), True)


def test_max_paths_limits_shortest_paths(tmp_path: Path) -> None:
    middle = [f"M{n}" for n in range(9)]
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, [("A", m) for m in middle] + [(m, "Z") for m in middle], [])
        around = Neighborhood(graph)
        whole = shortest_paths(around, article("A"), article("Z"), max_paths=9)
        assert [path.nodes[1].name for path in whole.paths] == middle
        assert not whole.truncated
        part = shortest_paths(around, article("A"), article("Z"), max_paths=4)
        assert part.paths == whole.paths[:4]
        assert part.truncated


def test_shortest_paths_are_those_of_networkx(tmp_path: Path) -> None:
    random = nx.gnm_random_graph(40, 70, seed=3)
    links = [(f"N{a:02}", f"N{b:02}") for a, b in random.edges]
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, links, [])
        around = Neighborhood(graph)
        titles = sorted({title for pair in links for title in pair})
        peer = nx.Graph(links)
        compared = 0
        for start, end in [(a, b) for a in titles[:6] for b in titles[-6:]]:
            if not nx.has_path(peer, start, end):
                assert shortest(around, article(start), article(end), max_hops=8) == []
                continue
            wanted = sorted(map(tuple, nx.all_shortest_paths(peer, start, end)))
            if len(wanted[0]) > 9:
                continue
            found = shortest_paths(around, article(start), article(end), max_hops=8, max_paths=1000)
            assert [tuple(node.key for node in path.nodes) for path in found.paths] == wanted
            compared += 1
        assert compared > 20


def test_a_graph_without_edges(tmp_path: Path) -> None:
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, [], [])
        around = Neighborhood(graph)
        assert follow_metapath(around, article("A"), [Step("LINKS_TO")]).paths == ()
        assert shortest(around, article("A"), entity("ada")) == []
        with pytest.raises(UsageError, match="no relation 'born_in'"):
            parse_metapath("born_in", around)


_SCRIPT = """
import sys
from pathlib import Path
from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import *
from wikigr.retrieval.explore.metapath import parse_metapath
from wikigr.retrieval.explore.metapath_search import follow_metapath
from wikigr.retrieval.explore.shortest_paths import shortest_paths
with Graph(Path(sys.argv[1])) as graph:
    around = Neighborhood(graph)
    for found in (
        shortest_paths(around, article("A"), article("D"), max_hops=3),
        shortest_paths(around, Node("entity", "ada", "Ada"), Node("entity", "bob", "Bob")),
        follow_metapath(around, article("A"), parse_metapath("links to -> ~LINKS_TO", around)),
        follow_metapath(around, article("A"), parse_metapath("links to -> ~LINKS_TO", around), target=article("F")),
    ):
        print([str(path) for path in found.paths], found.truncated)
"""


def test_the_hash_seed_does_not_matter(tmp_path: Path) -> None:
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, LINKS, FACTS)
    outputs = {
        subprocess.run(
            [sys.executable, "-c", _SCRIPT, str(tmp_path / "pack.db")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "42")
    }
    assert len(outputs) == 1
    assert b"A -> LINKS_TO" in outputs.pop()
