from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.index.snippets import QueryTerms, Snippet, make_snippet

TERMS = QueryTerms({"electron": 2.0, "wavelength": 3.0})


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[start:end] for start, end in snippet.matches]


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    snippet = make_snippet("Two\n\n Electrons  met.", TERMS, 40)
    assert (snippet.text, marked(snippet)) == ("Two Electrons met.", ["Electrons"])


def test_the_best_part_is_the_sentence_with_most_of_the_query() -> None:
    text = (
        f"An electron is light. {'Filler words follow here. ' * 9}The wavelength of electrons was found. {'End. ' * 30}"
    )
    snippet = make_snippet(text, TERMS, 60)
    assert snippet.text.startswith("… The wavelength of electrons was found.")
    assert snippet.text.endswith(" …") and len(snippet.text) <= 60
    assert marked(snippet) == ["wavelength", "electrons"]


def test_a_long_sentence_is_cut_between_words_before_the_match() -> None:
    snippet = make_snippet(f"{'word ' * 60}électrons électron électronique electrons {'word ' * 60}", TERMS, 60)
    assert snippet.text.startswith("… électronique ") and snippet.text.endswith(" word …")
    # Stems, not letters: the French words have others.
    assert marked(snippet) == ["electrons"]


def test_near_the_end_the_sentences_before_fill_the_room() -> None:
    snippet = make_snippet(f"{'Filler words follow here. ' * 20}Here it is. It was an electron.", TERMS, 64)
    assert snippet.text == "… Filler words follow here. Here it is. It was an electron."


@pytest.mark.parametrize("weights", [{}, {"absent": 1.0}])
def test_without_a_match_it_is_the_beginning(weights: dict[str, float]) -> None:
    snippet = make_snippet("One electron after another. " * 9, QueryTerms(weights), 30)
    assert snippet == Snippet("One electron after another. …"[: len("One electron after")] + " …", ())


@given(st.text(st.sampled_from("ab electrons.\n…é"), max_size=300), st.integers(10, 80))
def test_it_fits_and_every_match_is_a_word_of_the_query(text: str, length: int) -> None:
    snippet = make_snippet(f"{text} electron {text}", TERMS, length)
    assert len(snippet.text) <= length
    assert "\n" not in snippet.text
    assert {word.lower() for word in marked(snippet)} <= {"electron", "electrons"}


def test_rows_and_items_are_told_apart_and_a_snippet_begins_with_one() -> None:
    rows = "\n".join(f"part: {name} | mass: {mass} kg" for name, mass in (("shell", 3), ("electron", 0), ("core", 9)))
    snippet = make_snippet(f"All of them.\n\n{rows}", TERMS, 60)
    assert snippet.text == "… part: electron | mass: 0 kg · part: core | mass: 9 kg"
    assert make_snippet("Of them: \n- one\n- two\n", TERMS, 60).text == "Of them: · - one · - two"
