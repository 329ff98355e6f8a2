from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.segmentation import ends_as_prose, has_statement, sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fact one. Fact two. Is this a fact?", ["Fact one.", "Fact two.", "Is this a fact?"]),
        (
            "It cost $3.5 million in the U.S. in 1990. Nobody paid.",
            ["It cost $3.5 million in the U.S. in 1990.", "Nobody paid."],
        ),
        (
            "A talk between U.S. Secretary James Smith and Dr. Jones began. It ended.",
            ["A talk between U.S. Secretary James Smith and Dr. Jones began.", "It ended."],
        ),
        ("The objectives were met. On October 19 he spoke.", ["The objectives were met.", "On October 19 he spoke."]),
        ("It was cold. A counter ticked at 5 p.m. sharp.", ["It was cold.", "A counter ticked at 5 p.m. sharp."]),
        (
            "It was against his will. Trained in heat, he tried.",
            ["It was against his will.", "Trained in heat, he tried."],
        ),
        ("A book trans. Smith and approx. Ten copies.", ["A book trans. Smith and approx. Ten copies."]),
        ("He moved to the U.S. The war began.", ["He moved to the U.S.", "The war began."]),
        ("- first item\n- second item", ["- first item", "- second item"]),
        ("a | b\n1 | 2", ["a | b", "1 | 2"]),
        ("A line that is hard\nwrapped ends here. Another.", ["A line that is hard\nwrapped ends here.", "Another."]),
        ("A heading line\nThe text below it.", ["A heading line", "The text below it."]),
        ("1. boil water\n2. add tea", ["1. boil water", "2. add tea"]),
        ("", []),
        (" \n \n", []),
        (
            "His little book What Is Life? of 1944 drew many. The album Help! was sold.",
            ["His little book What Is Life? of 1944 drew many.", "The album Help! was sold."],
        ),
        (
            "Rio ( pron. IPA [x]; Portuguese for River of January) is a city. It is big.",
            ["Rio ( pron. IPA [x]; Portuguese for River of January) is a city.", "It is big."],
        ),
        ("He was sad :( then. It passed.", ["He was sad :( then.", "It passed."]),
        (
            "The allowed energies are\n\nE = −13.6 eV / n²\n\nand the smallest orbit is small. Balmer found it.",
            [
                "The allowed energies are\n\nE = −13.6 eV / n²\n\nand the smallest orbit is small.",
                "Balmer found it.",
            ],
        ),
        (
            "Kennard gave the exact form:\n\nΔx Δp ≥ ħ/2\n\nHere Δ means the deviation.",
            ["Kennard gave the exact form:\n\nΔx Δp ≥ ħ/2", "Here Δ means the deviation."],
        ),
        ("import os\n\nx = 1\n\nfoo bar.", ["import os", "x = 1", "foo bar."]),
        ("def f(x):\n    return x == 1", ["def f(x):", "return x == 1"]),
        ("What is npm? npm is a package manager.", ["What is npm?", "npm is a package manager."]),
        ("Such as:\n\n- a = b\n- c", ["Such as:", "- a = b", "- c"]),
        ("Such as:\n\nname | a = b\nx | y", ["Such as:", "name | a = b", "x | y"]),
    ],
)
def test_sentence_boundaries(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


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


@pytest.mark.parametrize(
    "text",
    [
        "It rained.",
        "He said “no.”",
        "(It rained!)",
        "पानी गिरा।",
        "下雨了。",
        "And so on…",
    ],
)
def test_statements_end_as_prose(text: str) -> None:
    assert ends_as_prose(text)


@pytest.mark.parametrize("text", ["Early life", "a | b", "Did it rain?", "Such as:", ""])
def test_headings_rows_and_questions_do_not_end_as_prose(text: str) -> None:
    assert not ends_as_prose(text)


@pytest.mark.parametrize(
    "text",
    [
        "Notes\n\nThe boiler is serviced by Meyer.",
        "Apollo 13 — commander: Jim Lovell.",
        "Campbell — work: Who Goes There?",
        "下雨了。",
        "Water is wet!",
    ],
)
def test_a_complete_sentence_is_a_statement(text: str) -> None:
    assert has_statement(text)


@pytest.mark.parametrize(
    "text", ["", "See also.", "Early life", "Home | About us | Contact", "Is this a statement?", "Figure 3: a diagram"]
)
def test_headings_captions_and_links_are_not_statements(text: str) -> None:
    assert not has_statement(text)
