"""Parsing of metapaths."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.retrieval.explore.links import entity, fill, follow

from wikigr.errors import UsageError
from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import Neighborhood, Step, article
from wikigr.retrieval.explore.metapath import follow_metapath, parse_metapath


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


def test_stored_names_with_a_tilde_or_an_arrow_are_parsed(tmp_path: Path) -> None:
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
