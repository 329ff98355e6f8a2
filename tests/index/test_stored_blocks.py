"""The stored form of blocks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikigr.errors import PackError
from wikigr.index.candidate import Section
from wikigr.index.stored_blocks import decode_blocks, encode_blocks
from wikigr.sources.block import Block, Cell

TEXT = "Prices:\n\nsize: 1 l | price: 2\nsize: 2 l | price: 3\n\n- one\n\n  more\n\n  still more\n\nborn: 1815"
TABLE = Block(
    "table", 9, 51, columns=("size", "price"),
    rows=((Cell(0, 15, 18), Cell(1, 28, 29)), (Cell(0, 36, 39), Cell(1, 49, 50))),
)  # fmt: skip
BLOCKS = (
    Block("table", 9, 50, 0, "", TABLE.columns, TABLE.rows),
    Block("item", 52, 57, 0, "-"),
    Block("paragraph", 61, 65, 1),
    Block("paragraph", 69, 79, 1),
    Block("property", 81, 91, 0, "born", rows=((Cell(0, 87, 91),),)),
)


def test_the_stored_form_is_compact_and_the_same_blocks_are_read() -> None:
    stored = encode_blocks(TEXT, BLOCKS)
    assert stored == (
        '[["b",9,41,0,"",["size","price"],[[0,6,3,0,10,1],[0,7,3,0,10,1]]],["i",2,5],["p",4,18,1],["y",2,10]]'
    )
    assert decode_blocks(TEXT, stored) == BLOCKS
    assert encode_blocks(TEXT, ()) == encode_blocks(TEXT, [Block("paragraph", 0, 7)]) == ""
    section = Section("A#0", "A", "", TEXT, "a", 0, stored)
    assert section.blocks == (Block("paragraph", 0, 7), *BLOCKS)
    assert [block.kind for block in Section("A#0", "A", "", TEXT, "a", 0).blocks] == ["paragraph"] * 6


def test_labels_and_values_that_the_text_does_not_say_are_stored() -> None:
    text = "Ada — born: 1815.\nnote: a: b\n1. x\nend: x."
    blocks = (
        Block("property", 0, 17, label="born", rows=((Cell(0, 12, 16),),)),
        Block("property", 18, 28, label="note: a", rows=((Cell(0, 27, 28),),)),
        Block("item", 29, 33, 2, "1)"),
        Block("property", 34, 41, label="end", rows=((Cell(0, 39, 41),),)),
    )
    assert decode_blocks(text, encode_blocks(text, blocks)) == blocks
    assert encode_blocks(text, blocks[:1]) == '[["y",0,17]]'


@pytest.mark.parametrize(
    "stored",
    [
        "x", "{}", "[1]", '[["i"]]', '[["i",0,0]]', '[["i",0,92]]', '[["i",-1,3]]', '[["i",0,3.0]]', '[["i",0,true]]',
        '[["z",0,3]]', '[["i",7,2]]', '[["i",0,3,1001]]', '[["i",0,3,0,1]]', '[["i",0,3],["i",-2,3]]',
        '[["b",0,7,0,"",["a"],[[1,0,1]]]]', '[["b",0,7,0,"",["a"],[[0,0,9]]]]', '[["b",0,7,0,"",["a"],[[0,0]]]]',
        '[["b",0,7,0,"",["a"],[[0,0,0]]]]', '[["b",0,7,0,"",["a"],[[-1,0,1]]]]', '[["b",0,7,0,"",["a"],[[]]]]',
        '[["b",0,7,0,"",["a"],[[0,3,1],[0,-4,1]]]]', '[["b",0,7,0,"",[1],[[0,3,1]]]]', '[["c",0,7,0,"",["a"]]]',
        '[["y",0,7]]', '[["b",0,7]]', '[["b",0,7,0,"",["a"]]]',
        '[["i",0,3,0,"",[],[],0]]', "[" * 100_000, '[["i",0,' + "9" * 5000 + "]]",
        json.dumps([["i", 0, 3, 0, "x" * 200_000]]),
    ],
)  # fmt: skip
def test_damaged_blocks_are_refused(stored: str) -> None:
    with pytest.raises(PackError, match="damaged"):
        decode_blocks(TEXT, stored)


_LEAVES = st.none() | st.booleans() | st.integers(-5, 120) | st.text("biy:", max_size=2)
_VALUES = st.recursive(_LEAVES, lambda inner: st.lists(inner, max_size=7))


@settings(max_examples=50)
@given(_VALUES | st.lists(st.tuples(st.sampled_from("phitdbcqyfn"), st.integers(-1, 50), st.integers(0, 50))))
def test_any_json_is_read_or_refused(value: object) -> None:
    try:
        blocks = decode_blocks(TEXT, json.dumps(value))
    except PackError:
        return
    position = 0
    for block in blocks:
        assert position <= block.start < block.end <= len(TEXT)
        position = block.end
