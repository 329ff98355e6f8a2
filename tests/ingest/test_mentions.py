from __future__ import annotations

import pickle
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.ingest.mentions import NameMatcher
from wikigr.names import bare_name


def found(names: dict[str, int], text: str) -> list[tuple[str, int]]:
    return [(text[start:end], article) for start, end, article in NameMatcher(list(names.items())).find(text)]


def test_the_longest_name_wins_and_matches_do_not_overlap() -> None:
    names = {"Quantum": 1, "Quantum mechanics": 2, "Mechanics": 3}
    assert found(names, "In quantum mechanics the quantum rules.") == [("quantum mechanics", 2), ("quantum", 1)]


def test_names_match_at_word_boundaries_only() -> None:
    cases = ["spinning tops", "a topspin", "spin_orbit", "3spin"]
    assert [text for text in cases if found({"Spin": 1}, text) != []] == []


def test_a_name_matches_as_written_or_with_a_small_first_letter() -> None:
    names = {"Laser": 1, "NASA": 2, "Wave function": 3, "Max Planck": 4}
    assert found(names, "A laser, a Laser, LASER; NASA, nasa, nASA.") == [
        ("laser", 1), ("Laser", 1), ("NASA", 2), ("nASA", 2),
    ]  # fmt: skip
    assert found(names, "the wave function of Max Planck, not MAX PLANCK") == [("wave function", 3), ("Max Planck", 4)]


def test_function_words_and_numbers_match_only_as_written() -> None:
    assert found({"The Who": 2}, "the who, The Who") == [("The Who", 2)]
    assert found({"It": 3, "1984": 4}, "it rained in 1984, in It too") == [("1984", 4), ("It", 3)]


def test_a_single_word_inside_a_longer_name_is_another_name() -> None:
    cases = ["in the United States", "then Manchester United won", "at Leeds-United"]
    assert [text for text in cases if found({"United": 1}, text) != []] == []


def test_a_single_word_beside_other_words_is_a_name() -> None:
    cases = ["The United won.", "See United.", "United, States", "a United won", "they are United"]
    assert [text for text in cases if found({"United": 1}, text) != [("United", 1)]] == []


def test_a_qualified_title_is_matched_bare_as_written() -> None:
    assert found({"Mercury (planet)": 1}, "Mercury, the planet.") == [("Mercury", 1)]
    assert found({"Band (rock and pop)": 1}, "a rock band") == []
    assert found({"Oakdale, New York": 1}, "a school in Oakdale") == [("Oakdale", 1)]


def test_the_text_decides_between_articles_with_the_same_name() -> None:
    names = {"Mercury (planet)": 1, "Mercury": 2, "Mercury (element)": 3}
    assert found(names, "Mercury is hot.") == [("Mercury", 2)]
    assert found(names, "Mercury is a planet.") == [("Mercury", 1)]
    assert found({"Ada (town)": 1, "Ada (name)": 2}, "Ada is a name.") == [("Ada", 2)]
    assert found({"Ada (town)": 1, "Ada (name)": 2}, "Ada was here.") == []


def test_a_capital_alone_does_not_make_a_word_a_name() -> None:
    cases = [
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
    ]
    assert [(name, text) for name, text in cases if found({name: 1}, text) != []] == []


def test_function_words_and_letters_are_names_where_nothing_else_explains_their_capital() -> None:
    cases = [
        ("It (novel)", "the novel It by King", "It"),
        ("Her (film)", 'Single: "Her" was seen.', "Her"),
        ("May", "In May it rained", "May"),
        ("The Who", "The Who were a band", "The Who"),
        ("IT", "IT is technology", "IT"),
        ("B", "the letter B and others", "B"),
    ]
    assert [(name, text, written) for name, text, written in cases if found({name: 1}, text) != [(written, 1)]] == []


def test_text_after_a_comma_is_a_qualifier_only_if_it_looks_like_one() -> None:
    cases = [
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
    ]
    assert [(title, bare) for title, bare in cases if bare_name(title) != (bare or title)] == []


def test_scripts_without_spaces_need_no_word_boundaries() -> None:
    cases = {
        ("日本", "東京は日本の首都である。"): ["日本"],
        ("北京", "我住在北京。"): ["北京"],
        ("アメリカ", "アメリカの人、アメリカン、ラテンアメリカ"): ["アメリカ"],
        ("コーヒー", "コーヒーを飲む"): ["コーヒー"],
        ("กรุงเทพ", "ฉันอยู่กรุงเทพมานาน"): ["กรุงเทพ"],
        ("Tokyo", "私はTokyoに住む"): ["Tokyo"],
        ("日", "東京は日本の首都"): [],
        ("서울", "서울은 서울 이다"): ["서울"],
    }
    assert {(name, text): [mention for mention, _ in found({name: 1}, text)] for name, text in cases} == cases


@pytest.mark.parametrize("name", ["Café", "Cafe\u0301"])
def test_composed_and_decomposed_letters_are_the_same(name: str) -> None:
    text = "A Cafe\u0301 is a Café, no Cafes\u0301."
    assert found({name: 1}, text) == [("Cafe\u0301", 1), ("Café", 1)]
    assert found({"Cafe": 1}, text) == []


# Letters, marks, and what composes although it is no mark (Hangul jamo, Bengali vowels), or never does.
@given(st.text(st.sampled_from("ae \u0340\u0301\u0323\u1100\u1161\u11a8\u09c7\u09be\u0958é")))
def test_offsets_refer_to_the_original_text(text: str) -> None:
    assert found({"spin": 1}, f"{text} spin {text}") == [("spin", 1)]
    name = unicodedata.normalize("NFC", f"spin{text}".strip())
    ((written, _),) = found({name: 1}, f"{text} spin{text}")
    assert unicodedata.normalize("NFC", written) == name


def test_no_names_and_letters_that_change_length_when_lowered() -> None:
    assert found({}, "anything") == []
    assert found({"Spin": 1}, "İİİ spin İ, Spin") == [("spin", 1), ("Spin", 1)]


def test_a_pickled_matcher_finds_the_same() -> None:
    names = {"Mercury (planet)": 1, "Mercury": 2, "The Who": 3, "May": 4, "日本": 5, "İz": 6, "Who": 7}
    text = "The Who saw Mercury, a planet. May 日本 see İz, who asks?"
    matcher = NameMatcher(names.items())
    expected = [("The Who", 3), ("Mercury", 1), ("日本", 5), ("İz", 6)]
    for same in (matcher, pickle.loads(pickle.dumps(matcher))):
        assert [(text[start:end], article) for start, end, article in same.find(text)] == expected
