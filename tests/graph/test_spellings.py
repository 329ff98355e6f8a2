"""Spellings: no name that is near enough is missed, and most of the others are left out."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from wikigr.graph.spellings import keys_of, spell

NAMES = st.lists(st.text("abcé 1(),-", min_size=0, max_size=14), max_size=20)


@given(names=NAMES, key=st.text("abcé 1", min_size=1, max_size=14), typos=st.integers(1, 2))
def test_no_near_name_is_missed(names: list[str], key: str, typos: int) -> None:
    near = [
        number for number, name in enumerate(names) if any(OSA.distance(key, own) <= typos for own in keys_of(name))
    ]
    assert set(near) <= set(spell(names).within(key, typos))


@given(names=NAMES, word=st.text("abcé1", min_size=1, max_size=6))
def test_no_name_that_ends_with_a_word_is_missed(names: list[str], word: str) -> None:
    ending = [
        number for number, name in enumerate(names) if any(own.split()[1:][-1:] == [word] for own in keys_of(name))
    ]
    assert set(ending) <= set(spell(names).ending_with(word))


def test_most_other_names_are_left_out() -> None:
    draw = random.Random(0)
    names = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(5, 15))) for _ in range(20_000)]
    found = spell(names).within("heisenberg", 2)
    assert len(found) < 200


def test_long_and_empty_names_have_a_place() -> None:
    names = ["", "x" * 70_000, "Spin (physics)"]
    spellings = spell(names)
    assert spellings.within("x" * 70_001, 1) == [1]
    assert spellings.within("spin", 1) == [2]
    assert spellings.nodes.tolist() == [0, 1, 2, 2]
    assert spellings.lengths.dtype == np.uint16
