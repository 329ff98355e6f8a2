"""Identifiers of three domains: parts and machines, programming, and releases."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.index.identifiers import find_identifiers, form, identifiers_in, normal, whole, widened


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("How heavy is the W40 winch, and the W400?", ["W40", "W400"]),
        ("What does alarm F-207 of the kiln mean?", ["F-207"]),
        ("Which drawer holds part 300x45x12?", ["300x45x12"]),
        ("What does the F# binding need, and C++?", ["F#", "C++"]),
        ("Who maintains the R bindings?", ["R"]),
        ("What does --dry-run do in store.toml?", ["--dry-run", "store.toml"]),
        ("Where is /var/lib/store and os.path.join()?", ["/var/lib/store", "os.path.join()"]),
        ("When was version 3.4 released?", ["3.4"]),
        ("What is new in 3.4?", ["3.4"]),
        ("What does release 3.4.1 fix?", ["3.4.1"]),
        ("Who has ticket 70415?", ["70415"]),
        ("What is the number 555-0142 for?", ["555-0142"]),
    ],
)
def test_names_with_digits_or_signs_are_identifiers(question: str, found: list[str]) -> None:
    assert identifiers_in(question) == found


def test_amounts_dates_and_words_are_none() -> None:
    text = (
        "What cost more than 2.50 in the mid-1990s, on 2024-03-01, 12.03.2024 or the 2nd and/or 3rd of May, to "
        "St. John, the U.S. or a well-known top-10 shop with 25 W, 10-20 m, over 50000 people, 18V and Lena B.?"
    )
    assert identifiers_in(text) == []


def test_an_identifier_is_found_where_it_is_not_part_of_another() -> None:
    same = [
        ("w40", "The W40 lifts 300 kg."),
        ("F207", "Alarm F-207: door open"),
        ("store.toml", "It reads store.toml."),
        ("lru_cache", "functools.lru_cache(f)"),
        ("C", "The C binding"),
        (".NET", "It needs .NET 8"),
        ("3.4", "In 3.4, the old parser went."),
    ]
    others = [
        ("W40", "The W400 lifts 3 t."),
        ("C", "C++ and C#"),
        ("3.4", "3.4.1 and 13.4"),
        ("--dry-run", "--dry-run-all"),
        ("K-10", "K-10-B"),
        ("store.example", "store.example.org"),
        ("C++", "C"),
    ]
    assert [pair for pair in same if not whole(pair[0]).search(pair[1])] == []
    assert [pair for pair in others if whole(pair[0]).search(pair[1])] == []


def test_forms_tell_what_may_be_mistaken_for_what() -> None:
    alike = [("E1042", "E1043"), ("C", "C++"), ("C#", "C++"), ("2.0.1", "2.1"), ("-v", "--quiet"), ("L-17", "D-4")]
    assert [pair for pair in alike if form(pair[0]) != form(pair[1])] == []
    assert form("E1042") != form("2.1")
    assert form("h264") != form("eth0")


def test_hyphens_and_case_do_not_count_in_the_index() -> None:
    assert normal("TB-208") == normal("tb208") == normal("TB_208")
    assert normal("C++") != normal("C#")


def test_a_stretch_does_not_end_inside_an_identifier() -> None:
    text = "The header is grid.hpp, since 2.4 too."
    start = text.index("hpp")
    assert text[slice(*widened(text, start, start + 3))] == "grid.hpp"
    assert text[slice(*widened(text, 4, 10))] == "header"
    assert text[slice(*widened(text, 24, text.index("2.4") + 1))] == "since 2.4"


@given(st.text(alphabet="aC1 .-_/\\+#:@()~$°\n", max_size=60))
def test_any_text_has_identifiers_in_order_that_are_found_in_it(text: str) -> None:
    places = list(find_identifiers(text))
    assert places == sorted(places)
    assert all(0 <= start < end <= len(text) and not text[start:end].isspace() for start, end in places)
    for name in identifiers_in(text):
        assert normal(name) == normal(name.lower())
        whole(name)


@pytest.mark.parametrize("piece", ["a-", ".", "a", "1.", "--", "a_", "/a", "C#"])
def test_long_runs_take_linear_time(piece: str) -> None:
    def seconds(count: int) -> float:
        text = piece * count
        begun = time.process_time()
        list(find_identifiers(text))
        identifiers_in(text)
        return time.process_time() - begun

    # Quadratic time would take 100 times as long.
    assert seconds(200_000) < 40 * max(seconds(20_000), 0.005)
