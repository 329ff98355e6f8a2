from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.ingest.conftest import article

from wikigr.ingest.chunking import chunk_all
from wikigr.ingest.engines.local import LocalEngine
from wikigr.ingest.linking import aliases_of, link_all
from wikigr.ingest.staging import Staging
from wikigr.progress import Silent
from wikigr.sources.article import Redirect


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
    chunk_all(staging, Silent())
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
    lost = link_all(staging, Silent(), LocalEngine(), by_id=True)
    assert edges(staging, "link") == {
        ("Alpha", "Beta"), ("Alpha", "Gamma radiation"), ("Beta", "Alpha"), ("Beta", "Gamma radiation"),
        ("Gamma radiation", "Alpha"), ("Alpha", "3"),
    }  # fmt: skip
    assert lost == 1


def test_a_number_that_is_a_title_is_never_taken_for_an_id_and_ids_may_be_left_out(staging: Staging) -> None:
    lost = link_all(staging, Silent(), LocalEngine(), by_id=False)
    assert ("Alpha", "3") in edges(staging, "link")
    assert ("Gamma radiation", "Alpha") not in edges(staging, "link")
    assert lost == 2


def test_mentions_are_found_by_alias_but_not_of_the_article_itself(staging: Staging) -> None:
    link_all(staging, Silent(), LocalEngine(), by_id=True)
    assert edges(staging, "mention") == {("Alpha", "Beta")}


def aliases(staging: Staging) -> dict[str, list[str]]:
    rows = staging.rows("SELECT id, title FROM article")
    return {title: found for number, title in list(rows) if (found := aliases_of(staging, number))}


def test_names_that_differ_only_in_case_are_distinguished(staged: Callable[..., Staging]) -> None:
    titles = (
        "Who", "Pi", "Us", "Aid", "World Health Organization", "HIV/AIDS", "Private investigator", "United States",
    )  # fmt: skip
    staging = staged(
        article("Doctor", "The WHO fights AIDS. The US too.", "d", "WHO", "AIDS", "PI", "US"),
        article("Nurse", "Text.", "n", "who", "Aids", "uS", "hiv/aids", "United_States"),
        *(article(title, "Text.", f"a{number}") for number, title in enumerate(titles)),
        Redirect("WHO", "World Health Organization"),
        Redirect("AIDS", "HIV/AIDS"),
        Redirect("Aids", "Aid"),
        Redirect("PI", "Private investigator"),
        Redirect("US", "United States"),
        Redirect("UNITED STATES", "United States"),
        by_id=False,
    )
    assert edges(staging, "link") == {
        *(("Doctor", t) for t in ("World Health Organization", "HIV/AIDS", "Private investigator", "United States")),
        *(("Nurse", t) for t in ("Who", "Aid", "Us", "HIV/AIDS", "United States")),
    }
    assert edges(staging, "mention") == {
        ("Doctor", t) for t in ("World Health Organization", "HIV/AIDS", "United States")
    }
    # "UNITED STATES" would say nothing that the title does not.
    assert aliases(staging) == {
        "Aid": ["Aids"], "HIV/AIDS": ["AIDS"], "Private investigator": ["PI"], "United States": ["US"],
        "World Health Organization": ["WHO"],
    }  # fmt: skip


def test_redirects_are_followed_to_the_exact_name_before_one_of_another_case(staged: Callable[..., Staging]) -> None:
    staging = staged(
        article("Reader", "Text.", "r", "A", "B", "C", "AIDS"),
        article("Aid", "Text.", "1"),
        article("aids", "Text.", "2"),
        article("HIV/AIDS", "Text.", "3"),
        Redirect("A", "AIDS"),
        Redirect("AIDS", "HIV"),
        Redirect("HIV", "HIV/AIDS"),
        Redirect("B", "AIds"),
        # Says nothing new as an alias, and is what "C" leads to nevertheless.
        Redirect("Hiv/aids", "aids"),
        Redirect("HIV/Aids", "HIV/AIDS"),
        Redirect("C", "HIV/Aids"),
        by_id=False,
    )
    assert dict(staging.rows("SELECT n.name, a.title FROM name n JOIN article a ON a.id = n.article")) == {
        **{title: title for title in ("Reader", "Aid", "aids", "HIV/AIDS")},
        **dict.fromkeys(("A", "AIDS", "HIV", "HIV/Aids", "C"), "HIV/AIDS"),
        **dict.fromkeys(("B", "Hiv/aids"), "aids"),
    }
    assert edges(staging, "link") == {("Reader", "HIV/AIDS"), ("Reader", "aids")}
    assert aliases(staging) == {"HIV/AIDS": ["A", "AIDS", "C", "HIV"], "aids": ["B", "Hiv/aids"]}


def test_the_first_article_by_title_has_an_alias_that_several_claim(staged: Callable[..., Staging]) -> None:
    staging = staged(
        article("Zulu", "Text.", "1", aliases=("The Z", "Last")),
        article("Yankee", "Text.", "2", aliases=("The Z", "LAST", "Yank", "YANK")),
        by_id=True,
    )
    assert aliases(staging) == {"Yankee": ["LAST", "The Z", "YANK"], "Zulu": ["Last"]}


def test_an_id_wins_over_a_title_in_another_case(staged: Callable[..., Staging]) -> None:
    items = (
        article("Reader", "Text.", "r", "apple"),
        article("Apple", "A firm.", "firm"),
        article("Apple (fruit)", "A fruit.", "apple"),
    )
    assert edges(staged(*items, by_id=True), "link") == {("Reader", "Apple (fruit)")}
