"""Keys of names: what they fold, and that the words of a text are folded alike."""

from __future__ import annotations

import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wikigr.names import bare_name, is_part_of_name, merge_key, name_key, name_words

# Letters of many kinds, marks, apostrophes, and characters that stand for others ("ﬁ", "𝚺", "™", "½").
TEXTS = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from("aZéßİıΣςſﬁ𝚺𝛓™½'’＇ _-.ꭰᎠが한\u0301\u0345\u094d"))
)


@given(TEXTS)
@example("α𝚺")  # the key of a capital that folding does not know
@example("ΑΣ")
def test_a_key_is_its_own_key(name: str) -> None:
    assert name_key(name_key(name)) == name_key(name)


@given(TEXTS)
def test_case_and_unicode_form_of_a_name_do_not_matter(name: str) -> None:
    key = name_key(name)
    assert name_key(name.casefold()) == key
    assert {name_key(unicodedata.normalize(form, name)) for form in ("NFC", "NFD", "NFKC", "NFKD")} == {key}


@given(st.lists(st.from_regex(r"[a-z0-9]+", fullmatch=True), min_size=1), st.sampled_from([" ", "_", " - ", ", ", "/"]))
def test_what_is_between_words_does_not_matter(parts: list[str], between: str) -> None:
    assert name_key(between.join(parts)) == " ".join(parts)


def test_keys() -> None:
    cases = {
        "Amélie": "amelie",
        "AME\u0301LIE": "amelie",
        "Lord_Byron's": "lord byron's",
        "O’Neill": "o'neill",
        "Straße": "strasse",
        "C++": "c",
        "!!!": "",
        "": "",
        "Ｎｏ．１": "no 1",
    }
    assert {name: name_key(name) for name in cases} == cases


@given(TEXTS)
@example("Ame\u0301lie was here")
@example("Foo™ ½")
def test_the_words_of_a_text_are_those_of_its_key_and_stand_where_they_say(text: str) -> None:
    found = name_words(text)
    assert " ".join(word for word, _, _ in found) == name_key(text)
    for (_, _, end), (_, start, _) in pairwise(found):
        # One character may be two words ("½").
        assert end <= start or end - 1 == start
    for word, start, end in found:
        assert 0 <= start < end <= len(text)
        assert word in name_key(text[start:end])


def test_a_mark_belongs_to_the_word_that_it_ends() -> None:
    (found,) = name_words("(Cafe\u0301)")
    assert found == ("cafe", 1, 6)


def test_a_qualifier_is_no_part_of_the_bare_name() -> None:
    cases = {
        "Mercury (planet)": "Mercury",
        "Mercury  (planet)": "Mercury",
        "Oakdale, New York": "Oakdale",
        "Mercury": "Mercury",
        " (planet)": " (planet)",
        "f(x)": "f(x)",
        "Mercury (planet) II": "Mercury (planet) II",
    }
    assert {title: bare_name(title) for title in cases} == cases


def test_a_title_of_spaces_is_read_once() -> None:
    """It took time with the square of the spaces: 25 s for these."""
    begun = time.process_time()
    bare_name("a" + " " * 100_000 + "b")
    assert time.process_time() - begun < 5.0


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("in United States", True),
        ("by Barack United", True),
        ("See United. Now", False),
        ("Yes. See United", False),
        ("the United of", False),
        ("the United, States", False),
        ("the united States", False),
        ("The United", False),
    ],
)
def test_a_capitalized_word_beside_another_is_part_of_a_longer_name(text: str, part: bool) -> None:
    start = text.lower().index("united")
    assert is_part_of_name(text, start, start + len("united")) is part


def test_spellings_of_one_name_have_one_key_and_symbols_count() -> None:
    assert merge_key("Schrödinger  Equation") == merge_key("schrodinger-equation")
    assert len({merge_key("C"), merge_key("C++"), merge_key("C#")}) == 3
