"""Names that somebody probably meant, and the hint that asks about them."""

from __future__ import annotations

import pytest

from wikigr.suggestions import did_you_mean, nearest

FORMATS = ("markdown", "Notes", "text")


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("markdwon", ["markdown"]),
        # Whatever the case of either.
        ("NOTE", ["Notes"]),
        ("md", ["markdown"]),
        ("text-file", ["text"]),
        ("x", []),
        ("zzz", []),
    ],
)
def test_the_nearest_name(word: str, near: list[str]) -> None:
    assert nearest(word, FORMATS) == near


def test_several_names_are_in_the_order_of_their_similarity() -> None:
    assert nearest("born in", ["born", "died", "born at", "was born in"], most=2) == ["was born in", "born"]


def test_the_hint_asks_about_every_name_or_says_something_else() -> None:
    assert did_you_mean(["a", "b"]) == "Did you mean 'a', 'b'?"
    assert did_you_mean([":open"], shown=str) == "Did you mean :open?"
    assert did_you_mean([], "Choose a.") == "Choose a."
    assert did_you_mean([]) is None
