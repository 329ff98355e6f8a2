from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.test_hostile_input import limit

from wikigr.segmentation import ends_as_prose, extract_facts, has_statement, sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def assert_divided(marked: Sequence[str]) -> None:
    """Check that the sentences of each text begin where ``¦`` stands in it."""
    expected = [list(filter(None, map(str.strip, text.split("¦")))) for text in marked]
    assert [sentences(text.replace("¦", "")) for text in marked] == expected


def test_sentence_boundaries() -> None:
    assert_divided(
        [
            "Fact one. ¦Fact two. ¦Is this a fact?",
            "It cost $3.5 million in the U.S. in 1990. ¦Nobody paid.",
            "A talk between U.S. Secretary James Smith and Dr. Jones began. ¦It ended.",
            "The objectives were met. ¦On October 19 he spoke.",
            "It was cold. ¦A counter ticked at 5 p.m. sharp.",
            "It was against his will. ¦Trained in heat, he tried.",
            "A book trans. Smith and approx. Ten copies.",
            "He moved to the U.S. ¦The war began.",
            "- first item\n¦- second item",
            "a | b\n¦1 | 2",
            "A line that is hard\nwrapped ends here. ¦Another.",
            "A heading line\n¦The text below it.",
            "1. boil water\n¦2. add tea",
            "",
            " \n \n",
            "His little book What Is Life? of 1944 drew many. ¦The album Help! was sold.",
            "Rio ( pron. IPA [x]; Portuguese for River of January) is a city. ¦It is big.",
            "He was sad :( then. ¦It passed.",
            "The allowed energies are\n\nE = −13.6 eV / n²\n\nand the smallest orbit is small. ¦Balmer found it.",
            "Kennard gave the exact form:\n\nΔx Δp ≥ ħ/2\n\n¦Here Δ means the deviation.",
            "import os\n\n¦x = 1\n\n¦foo bar.",
            "def f(x):\n    ¦return x == 1",
            "What is npm? ¦npm is a package manager.",
            "Such as:\n\n¦- a = b\n¦- c",
            "Such as:\n\n¦name | a = b\n¦x | y",
        ]
    )


def test_a_table_row_is_one_span() -> None:
    rows = ["Code | Meaning | Class", "42P01 | The table is missing. Create it. | error", "00000 | Success. | none"]
    assert sentences("\n".join(rows)) == rows
    assert sentences("Type ls | wc and press Enter. Then wait.") == ["Type ls | wc and press Enter.", "Then wait."]
    long = f"a | {'A sentence of a long cell. ' * 20}"
    assert len(sentences(f"x | y\n{long}")) > 2


def test_a_fact_beside_another_about_its_subject_is_one_span() -> None:
    facts = ["Yes Indeed! (album) — label: Impulse!; A. Two.", "Yes Indeed! (album) — place: Ada, U.S.; London."]
    assert sentences("\n".join(facts)) == facts
    assert sentences(f"Facts. More.\n{facts[0]}\nYes Indeed! (album) — b: 1.")[:3] == ["Facts.", "More.", facts[0]]
    # Prose, a fact of another subject, and a fact that is longer than a row.
    assert len(sentences("He said it twice — and loudly: Never. Then he left.")) == 2
    assert len(sentences("Ada — a: Never. Then.\nBo — a: Never. Then.")) == 4
    assert len(sentences(f"Ada — a: {'A sentence of a long fact. ' * 20}\nAda — b: 1.")) > 2


@given(
    st.lists(st.sampled_from(["a", "B c.", "-m", "    ", "\n", "\n\n", ":", " | ", "x = 1", "- ", "Run it"])).map(
        "".join
    )
)
def test_structured_text_keeps_every_character_but_space(text: str) -> None:
    position = 0
    for start, end in sentence_spans(text):
        assert position <= start < end <= len(text)
        assert not text[position:start].strip() and text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()


@given(st.text(max_size=400))
def test_spans_are_ordered_disjoint_and_lose_only_space(text: str) -> None:
    spans = sentence_spans(text)
    position = 0
    for start, end in spans:
        assert position <= start < end <= len(text)
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()


def test_statements_end_as_prose() -> None:
    cases = ["It rained.", "He said “no.”", "(It rained!)", "पानी गिरा।", "下雨了。", "And so on…"]
    assert [text for text in cases if not ends_as_prose(text)] == []


def test_headings_rows_and_questions_do_not_end_as_prose() -> None:
    cases = ["Early life", "a | b", "Did it rain?", "Such as:", ""]
    assert [text for text in cases if ends_as_prose(text)] == []


def test_a_complete_sentence_is_a_statement() -> None:
    cases = [
        "Notes\n\nThe boiler is serviced by Meyer.",
        "Apollo 13 — commander: Jim Lovell.",
        "Campbell — work: Who Goes There?",
        "下雨了。",
        "Water is wet!",
    ]
    assert [text for text in cases if not has_statement(text)] == []


def test_headings_captions_and_links_are_not_statements() -> None:
    cases = ["", "See also.", "Early life", "Home | About us | Contact", "Is this a statement?", "Figure 3: a diagram"]
    assert [text for text in cases if has_statement(text)] == []


def test_statements() -> None:
    cases = {
        "Quantum mechanics is a theory. It describes atoms.": ["Quantum mechanics is a theory.", "It describes atoms."],
        "Fact one. Fact two. Is this a fact?": ["Fact one.", "Fact two."],
        "Planck et al. measured 6.6 units in the U.S. in 1900.": [
            "Planck et al. measured 6.6 units in the U.S. in 1900."
        ],
        "See also": [],
        "Yes.": [],
        "a long fragment without its full stop": ["a long fragment without its full stop"],
        "He asked “Why me?”": [],
        "It ends well! It ended.": ["It ends well!", "It ended."],
        "": [],
    }
    assert {text: extract_facts([text]) for text in cases} == cases


def test_each_once_in_order_over_all_texts() -> None:
    assert extract_facts(["Beta holds. Alpha holds.", "Alpha  holds. Gamma holds."]) == [
        "Beta holds.",
        "Alpha holds.",
        "Gamma holds.",
    ]


@pytest.mark.parametrize("unit", ["!", "a.)", "(!", '!"', "![a](", "?)", ". ", "! ", "! ! ", "(a. ", "-! ", '" . '])
def test_long_runs_are_split_in_linear_time(unit: str) -> None:
    with limit():
        sentence_spans(unit * (120_000 // len(unit)))


@pytest.mark.parametrize(("first", "unit"), [("The a b:\n\n", "x = y:\n\n"), ("- " * 60_000, "a? b ")])
def test_a_sentence_that_goes_on_is_split_in_linear_time(first: str, unit: str) -> None:
    with limit():
        sentence_spans(first + unit * (150_000 // len(unit)))


def test_a_sentence_ends_after_a_long_word() -> None:
    text = f"It is at http://a.example/{'a.b!' * 300}. The next one follows."
    first, second = sentence_spans(text)
    assert text[slice(*first)].endswith("a.b!.") and text[slice(*second)] == "The next one follows."
