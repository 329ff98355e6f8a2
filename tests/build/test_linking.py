from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.build.drafting import draft_all
from wikigr.build.linking import NameMatcher, link_all
from wikigr.build.progress import Silent
from wikigr.build.staging import Staging
from wikigr.sources.article import Redirect, SourceArticle, SourceSection


def found(names: dict[str, int], text: str) -> list[tuple[str, int]]:
    return [(text[start:end], article) for start, end, article in NameMatcher(list(names.items())).find(text)]


def test_the_longest_name_wins_and_matches_do_not_overlap() -> None:
    names = {"Quantum": 1, "Quantum mechanics": 2, "Mechanics": 3}
    assert found(names, "In quantum mechanics the quantum rules.") == [("quantum mechanics", 2), ("quantum", 1)]


@pytest.mark.parametrize("text", ["spinning tops", "a topspin", "spin_orbit", "3spin"])
def test_names_match_at_word_boundaries_only(text: str) -> None:
    assert found({"Spin": 1}, text) == []


def test_a_name_matches_as_written_or_with_a_small_first_letter() -> None:
    names = {"Laser": 1, "NASA": 2, "Wave function": 3, "Max Planck": 4}
    assert found(names, "A laser, a Laser, LASER; NASA, nasa, nASA.") == [
        ("laser", 1),
        ("Laser", 1),
        ("NASA", 2),
        ("nASA", 2),
    ]
    assert found(names, "the wave function of Max Planck, not MAX PLANCK") == [("wave function", 3), ("Max Planck", 4)]


def test_function_words_and_numbers_match_only_as_written() -> None:
    assert found({"The Who": 2}, "the who, The Who") == [("The Who", 2)]
    assert found({"It": 3, "1984": 4}, "it rained in 1984; It did") == [("1984", 4), ("It", 3)]


@pytest.mark.parametrize("text", ["in the United States", "then Manchester United won", "at Leeds-United"])
def test_a_single_word_inside_a_longer_name_is_another_name(text: str) -> None:
    assert found({"United": 1}, text) == []


@pytest.mark.parametrize(
    "text", ["The United won.", "See United.", "United, States", "a United won", "they are United"]
)
def test_a_single_word_beside_other_words_is_a_name(text: str) -> None:
    assert found({"United": 1}, text) == [("United", 1)]


def test_a_qualified_title_is_matched_bare_as_written() -> None:
    assert found({"Mercury (planet)": 1}, "Mercury, the planet.") == [("Mercury", 1)]
    assert found({"Band (rock and pop)": 1}, "a rock band") == []
    assert found({"Oakdale, New York": 1}, "a school in Oakdale") == [("Oakdale", 1)]


def test_of_several_articles_of_one_name_the_text_decides() -> None:
    names = {"Mercury (planet)": 1, "Mercury": 2, "Mercury (element)": 3}
    assert found(names, "Mercury is hot.") == [("Mercury", 2)]
    assert found(names, "Mercury is a planet.") == [("Mercury", 1)]
    assert found({"Ada (town)": 1, "Ada (name)": 2}, "Ada is a name.") == [("Ada", 2)]
    assert found({"Ada (town)": 1, "Ada (name)": 2}, "Ada was here.") == []


def test_no_names_and_letters_that_change_length_when_lowered() -> None:
    assert found({}, "anything") == []
    assert found({"Spin": 1}, "İİİ spin İ, Spin") == [("spin", 1), ("Spin", 1)]


def article(title: str, text: str, source_id: str, *links: str, aliases: tuple[str, ...] = ()) -> SourceArticle:
    return SourceArticle(title, source_id, (SourceSection((), text),), links=links, aliases=aliases)


@pytest.fixture
def staging(tmp_path: Path) -> Staging:
    staging = Staging(tmp_path / "staging.sqlite")
    with staging.transaction():
        for item in (
            article("Alpha", "Alpha knows Beta ray.", "1", "Beta", "gamma_radiation", "3", "Nowhere", "Alpha"),
            article("Beta", "Text of B.", "2", "old alpha", "First redirect", aliases=("Beta ray",)),
            article("Gamma radiation", "Rays.", "3", "1"),
            article("3", "An article whose title is another's id.", "4"),
        ):
            assert staging.add_article(item)
        staging.add_redirect(Redirect("Old Alpha", "Alpha"))
        staging.add_redirect(Redirect("First redirect", "Second redirect"))
        staging.add_redirect(Redirect("Second redirect", "Gamma radiation"))
        staging.add_redirect(Redirect("Circle", "Circle"))
        staging.add_redirect(Redirect("Beta", "Alpha"))
    draft_all(staging, Silent())
    return staging


def edges(staging: Staging, table: str) -> set[tuple[str, str]]:
    return {
        (source, target)
        for source, target in staging.rows(
            f"SELECT a.title, b.title FROM {table} e "
            "JOIN article a ON a.id = e.source JOIN article b ON b.id = e.target"
        )
    }


def test_links_follow_ids_titles_aliases_and_chains_of_redirects(staging: Staging) -> None:
    lost = link_all(staging, Silent(), by_id=True)
    assert edges(staging, "link") == {
        ("Alpha", "Beta"),
        ("Alpha", "Gamma radiation"),
        ("Beta", "Alpha"),
        ("Beta", "Gamma radiation"),
        ("Gamma radiation", "Alpha"),
        ("Alpha", "3"),
    }
    assert lost == 1


def test_a_number_that_is_a_title_is_never_taken_for_an_id_and_ids_may_be_left_out(staging: Staging) -> None:
    lost = link_all(staging, Silent(), by_id=False)
    assert ("Alpha", "3") in edges(staging, "link")
    assert ("Gamma radiation", "Alpha") not in edges(staging, "link")
    assert lost == 2


def test_mentions_are_found_by_alias_and_never_of_oneself(staging: Staging) -> None:
    link_all(staging, Silent(), by_id=True)
    assert edges(staging, "mention") == {("Alpha", "Beta")}


def test_linking_again_changes_nothing(staging: Staging) -> None:
    first = link_all(staging, Silent(), by_id=True)
    before = edges(staging, "link"), edges(staging, "mention")
    assert link_all(staging, Silent(), by_id=True) == first
    assert (edges(staging, "link"), edges(staging, "mention")) == before
