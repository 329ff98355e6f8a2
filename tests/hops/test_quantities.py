"""Dates and numbers in short answers."""

from __future__ import annotations

import pytest

from wikigr.hops.comparing import date_in, may_describe, number_in


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
