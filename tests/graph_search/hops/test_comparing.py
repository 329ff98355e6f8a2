"""Comparisons, and the dates and numbers that they compare."""

from __future__ import annotations

import pytest

from wikigr.graph_search.hops.chain_search import choose, date_in, may_describe, number_in
from wikigr.index.candidate import Section
from wikigr.question.comparison import compare
from wikigr.reader.passage import Span
from wikigr.retrieval.chain import Chain, Hop


def test_dates() -> None:
    cases = {
        "7 October 1885": (1885, 10, 7),
        "October 7, 1885": (1885, 10, 7),
        "in May 1901": (1901, 5, 0),
        "the 1920s": (1920, 0, 0),
        "44 BC": None,
        "the 1957 BCS theory": (1957, 0, 0),
        "384 BC": (-384, 0, 0),
        "384 BCE": (-384, 0, 0),
        "384 B.C.": (-384, 0, 0),
        "18 May 384 B.C.E.": (-384, 5, 18),
        "1,500 people": None,
        "late": None,
        "": None,
    }
    assert {text: date_in(text) for text in cases} == cases


def test_numbers() -> None:
    cases = {
        "1,234,567": 1234567.0,
        "about 3.5 million": 3500000.0,
        "seven species": 7.0,
        "two of 30": 2.0,
        "8 848 m": 8848.0,
        "none": None,
        "": None,
    }
    assert {text: number_in(text) for text in cases} == cases


@pytest.mark.parametrize("value", ["1925", "7 October 1885", "October", "54.3", "–"])
def test_a_value_is_described_only_as_a_value(value: str) -> None:
    assert not may_describe("What is the rule that Pauli found?", value)
    assert may_describe("What is the year in which Pauli found it?", value)


def test_names_with_digits_and_months_are_names() -> None:
    assert may_describe("What is the compound that was tested?", "element 104")
    assert may_describe("Who is the general who led them?", "General May")


def chain_for(question: str, ada: str, bea: str) -> Chain | None:
    """Choose between Ada and Bea, for whom one sentence each has the values ``ada`` and ``bea``."""
    comparison = compare(question)
    assert comparison is not None

    def ask(asked: str) -> list[Hop]:
        name, value = ("Ada", ada) if "Ada" in asked else ("Bea", bea)
        text = f"{name}: {value}."
        section = Section(f"{name}#0", name, "Introduction", text, name, 0)
        start = text.index(value)
        return [Hop(asked, value, section, 0, len(text), Span(start, start + len(value), 5.0), True, 0.9)]

    return choose(comparison, ask)


@pytest.mark.parametrize(
    ("ada", "bea", "chosen"),
    [
        ("1885", "1886", "Ada"),
        ("7 October 1885", "6 October 1885", "Bea"),
        ("384 BC", "100 AD", "Ada"),
        # Nothing says which of them is first.
        ("1885", "October 1885", None),
        ("October 1885", "7 October 1885", None),
        ("1885", "1885", None),
        ("1885", "later", None),
    ],
)
def test_the_earlier_date_is_chosen_if_it_is_known(ada: str, bea: str, chosen: str | None) -> None:
    chain = chain_for("Who was born first, Ada or Bea?", ada, bea)
    assert (chain.last.name if chain is not None else None) == chosen
    if chain is not None:
        assert (chain.hops[0].answer, chain.last.answer) == ((bea, ada) if chosen == "Ada" else (ada, bea))
        assert chain.short_answer == Span(0, 3, 5.0)
