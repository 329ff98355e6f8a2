from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.ingest.drafting import draft_all
from wikigr.ingest.linking import NameMatcher, aliases_of, link_all
from wikigr.ingest.loading import derive_entities
from wikigr.ingest.staging import Staging
from wikigr.names import bare_name
from wikigr.progress import Silent
from wikigr.sources.article import Redirect, SourceArticle, SourceItem, SourceSection, Triple


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
    assert found({"It": 3, "1984": 4}, "it rained in 1984, in It too") == [("1984", 4), ("It", 3)]


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


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("It (novel)", "It was a dog."),
        ("Her (film)", "A dog barked. Her dog did not."),
        ("May", "By night.\nMay it bark?"),
        ("One", 'the song "One of us"'),
        ("When (band)", "the film Only When I Laugh"),
        ("Here", "the album Wish You Were Here"),
        ("X", "seen in X-ray light"),
        ("B", "He left. B is next."),
        ("A", "in vitamin A, A dog"),
        ("I, Max", "what I said"),
        ("for", "it is for you"),
    ],
)
def test_a_plain_word_is_no_name_for_its_capital(name: str, text: str) -> None:
    assert found({name: 1}, text) == []


@pytest.mark.parametrize(
    ("name", "text", "written"),
    [
        ("It (novel)", "the novel It by King", "It"),
        ("Her (film)", 'Single: "Her" was seen.', "Her"),
        ("May", "In May it rained", "May"),
        ("The Who", "The Who were a band", "The Who"),
        ("IT", "IT is technology", "IT"),
        ("B", "the letter B and others", "B"),
    ],
)
def test_function_words_and_letters_are_names_where_nothing_else_explains_their_capital(
    name: str, text: str, written: str
) -> None:
    assert found({name: 1}, text) == [(written, 1)]


@pytest.mark.parametrize(
    ("title", "bare"),
    [
        ("Philadelphia, Here I Come!", None),
        ("September 11, 2007 Osama bin Laden video", None),
        ("Manchester, Point and Wabash bridge piers", None),
        ("September 11, 2001", None),
        ("Crosby, Stills, Nash and a few of their friends", None),
        ("Oakdale, New York", "Oakdale"),
        ("Paris, Texas", "Paris"),
        ("Charles, Prince of Wales", "Charles"),
        ("John Talbot, 3rd Earl of Shrewsbury", "John Talbot"),
        ("Washington, D.C.", "Washington"),
        ("Oakdale, State 200", "Oakdale"),
        ("Cortes de la Frontera, Serranía de Ronda", "Cortes de la Frontera"),
        ("Israeli presidential election, 2000", "Israeli presidential election"),
        ("Paris, Texas (film)", "Paris, Texas"),
    ],
)
def test_what_follows_a_comma_is_a_qualifier_only_where_it_looks_like_one(title: str, bare: str | None) -> None:
    assert bare_name(title) == (bare or title)


@pytest.mark.parametrize(
    ("name", "text", "written"),
    [
        ("日本", "東京は日本の首都である。", ["日本"]),
        ("北京", "我住在北京。", ["北京"]),
        ("アメリカ", "アメリカの人、アメリカン、ラテンアメリカ", ["アメリカ"]),
        ("コーヒー", "コーヒーを飲む", ["コーヒー"]),
        ("กรุงเทพ", "ฉันอยู่กรุงเทพมานาน", ["กรุงเทพ"]),
        ("Tokyo", "私はTokyoに住む", ["Tokyo"]),
        ("日", "東京は日本の首都", []),
        ("서울", "서울은 서울 이다", ["서울"]),
    ],
)
def test_scripts_without_spaces_need_no_word_boundaries(name: str, text: str, written: list[str]) -> None:
    assert [mention for mention, _ in found({name: 1}, text)] == written


@pytest.mark.parametrize("name", ["Café", "Cafe\u0301"])
def test_composed_and_decomposed_letters_are_the_same(name: str) -> None:
    text = "A Cafe\u0301 is a Café, no Cafes\u0301."
    assert found({name: 1}, text) == [("Cafe\u0301", 1), ("Café", 1)]
    assert found({"Cafe": 1}, text) == []


# Letters, marks, and what composes although it is no mark (Hangul jamo, Bengali vowels), or never does.
@given(st.text(st.sampled_from("ae \u0340\u0301\u0323\u1100\u1161\u11a8\u09c7\u09be\u0958é")))
def test_offsets_are_those_of_the_text_in_any_normal_form(text: str) -> None:
    assert found({"spin": 1}, f"{text} spin {text}") == [("spin", 1)]
    name = unicodedata.normalize("NFC", f"spin{text}".strip())
    ((written, _),) = found({name: 1}, f"{text} spin{text}")
    assert unicodedata.normalize("NFC", written) == name


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


@pytest.fixture
def staged(tmp_path: Path) -> Callable[..., Staging]:
    def make(*items: SourceItem, by_id: bool) -> Staging:
        staging = Staging(tmp_path / "other.sqlite")
        with staging.transaction():
            for item in items:
                if isinstance(item, SourceArticle):
                    assert staging.add_article(item)
                elif isinstance(item, Redirect):
                    staging.add_redirect(item)
        draft_all(staging, Silent())
        link_all(staging, Silent(), by_id=by_id)
        return staging

    return make


def aliases(staging: Staging) -> dict[str, list[str]]:
    rows = staging.rows("SELECT id, title FROM article")
    return {title: found for number, title in list(rows) if (found := aliases_of(staging, number))}


def test_names_that_differ_in_case_only_are_told_apart(staged: Callable[..., Staging]) -> None:
    titles = (
        "Who",
        "Pi",
        "Us",
        "Aid",
        "World Health Organization",
        "HIV/AIDS",
        "Private investigator",
        "United States",
    )
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
        "Aid": ["Aids"],
        "HIV/AIDS": ["AIDS"],
        "Private investigator": ["PI"],
        "United States": ["US"],
        "World Health Organization": ["WHO"],
    }


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


def test_an_id_goes_before_a_title_of_another_case(staged: Callable[..., Staging]) -> None:
    items = (
        article("Reader", "Text.", "r", "apple"),
        article("Apple", "A firm.", "firm"),
        article("Apple (fruit)", "A fruit.", "apple"),
    )
    assert edges(staged(*items, by_id=True), "link") == {("Reader", "Apple (fruit)")}


def stating(title: str, source_id: str, *objects: tuple[str, str]) -> SourceArticle:
    triples = tuple(Triple(title, "knows", shown, link) for shown, link in objects)
    return SourceArticle(title, source_id, (SourceSection((), "Text."),), triples=triples)


def known(staging: Staging) -> set[tuple[str, str]]:
    derive_entities(staging)
    query = "SELECT s.name, o.name FROM fact f JOIN entity s ON s.id = f.subject JOIN entity o ON o.id = f.object"
    return set(staging.rows(query))


def test_objects_are_resolved_as_links_are(staged: Callable[..., Staging]) -> None:
    items = (
        stating("Doctor", "d", ("the WHO", "WHO"), ("an apple", "apple")),
        article("Who", "Text.", "w"),
        article("World Health Organization", "Text.", "o", aliases=("WHO",)),
        article("Apple", "A firm.", "firm"),
        article("Apple (fruit)", "A fruit.", "apple"),
    )
    assert known(staged(*items, by_id=True)) == {
        ("Doctor", "World Health Organization"),
        ("Doctor", "Apple (fruit)"),
    }


@pytest.mark.parametrize("by_id", [False, True])
def test_a_linked_thing_without_an_article_is_one_entity_where_links_are_titles(
    staged: Callable[..., Staging], by_id: bool
) -> None:
    staging = staged(
        stating(
            "Einstein", "1", ("UZH", "University of Zurich"), ("Swiss (1901–55)", "Switzerland"), ("16th", "Century")
        ),
        stating("Born", "2", ("University of Zurich", "University of Zurich"), ("Switzerland", "Switzerland")),
        stating("Pauli", "3", ("uzh", "University of Zurich"), ("Trinity", "Trinity (Cambridge)")),
        by_id=by_id,
    )
    university, country = ("UZH", "Swiss (1901–55)") if by_id else ("University of Zurich", "Switzerland")
    assert {("Einstein", university), ("Einstein", country)} < known(staging)
    assert {("Born", "University of Zurich"), ("Born", "Switzerland")} < known(staging)
    labeled = dict(staging.rows("SELECT name, aliases FROM entity WHERE aliases != '[]'"))
    assert labeled == ({} if by_id else {"Switzerland": '["Swiss"]', "University of Zurich": '["UZH"]'})
    owners = {title for (title,) in staging.rows("SELECT article FROM owned WHERE entity = 'university of zurich'")}
    assert owners == ({"Born"} if by_id else {"Born", "Einstein", "Pauli"})


def test_labels_join_the_aliases_that_were_read_from_the_text(staged: Callable[..., Staging]) -> None:
    staging = staged(stating("Einstein", "1", ("UZH", "Uni"), ("Unizh", "Uni"), ("Other", "Uni")), by_id=False)
    with staging.transaction():
        row = ("uni", "Uni", "organization", '["UNIZH","Zürich"]')
        staging.write("INSERT INTO extracted_entity VALUES (?, ?, ?, ?)", [row])
    derive_entities(staging)
    (stored,) = staging.rows("SELECT name, type, aliases FROM entity WHERE id = 'uni'")
    assert stored == ("Uni", "organization", '["Other","UNIZH","UZH","Zürich"]')


def test_titles_that_look_the_same_are_one_article(staged: Callable[..., Staging]) -> None:
    staging = staged(
        article("Café", "One.", "1"),
        stating("Cafe\u0301", "2", ("Beans", "Beans")),
        article("Reader", "In the Cafe\u0301.", "3", "Cafe\u0301"),
        by_id=True,
    )
    assert staging.count("article") == 2
    assert edges(staging, "link") == edges(staging, "mention") == {("Reader", "Café")}
    assert known(staging) == {("Café", "Beans")}
    assert dict(staging.rows("SELECT name, type FROM entity"))["Café"] == "article"
