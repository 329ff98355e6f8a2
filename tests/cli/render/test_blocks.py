"""Blocks in a terminal: nothing in them drives it, and columns of wide and narrow letters are aligned."""

from __future__ import annotations

import io
from typing import get_args

import pytest

from wikigr.documents.shapes import BlockShape, RunShape
from wikigr.sources.block import BlockKind
from wikigr_cli.environment import Environment
from wikigr_cli.render.blocks import print_blocks, shorten_blocks
from wikigr_cli.render.terminal import cells

from ..terminal import environment_of, widest

HOSTILE = "\x1b]0;title\x07\x1b[2J\u202e[1] [bold]:smile:"


def run(text: str) -> RunShape:
    return {"text": text, "role": "", "n": None}


def block(kind: BlockKind, text: str = "", *rows: tuple[str, ...], columns: tuple[str, ...] = ()) -> BlockShape:
    """Return a block with ``text`` as its label and its text, or with ``rows``, of which the first one is marked."""
    return {
        "kind": kind,
        "depth": 0,
        "label": text,
        "n": None,
        "runs": [run(text)] if text else [],
        "columns": list(columns),
        "rows": [
            {"cells": [[run(cell)] if cell else [] for cell in row], "marked": not number, "n": None}
            for number, row in enumerate(rows)
        ],
    }


@pytest.mark.parametrize("columns", [30, 120, None])
def test_nothing_in_a_block_drives_the_terminal(columns: int | None) -> None:
    kinds = [kind for kind in get_args(BlockKind) if kind != "table"]
    table = block("table", "", (HOSTILE, "b", "c"), ("d", HOSTILE, "e"), columns=(HOSTILE, "B", "C"))
    environment, out = Environment(io.StringIO(), io.StringIO(), io.StringIO(), {}), io.StringIO()
    if columns is not None:
        environment, out, _ = environment_of(columns)
    environment.stdout = out
    print_blocks(environment, [*(block(kind, HOSTILE) for kind in kinds), table], "[{}]".format)
    shown = out.getvalue()
    assert shown.isprintable() or set(filter(lambda c: not c.isprintable(), shown)) == {"\n"}
    # What other programs take for markup is text.
    assert shown.count("[bold]:smile:") >= len(kinds) and "�" in shown


def test_letters_of_two_columns_and_emoji_are_aligned() -> None:
    rows = (("茶碗", "x"), ("👩‍👩‍👧 mug ⚠️", "x"), ("cafe\u0301", "x"), ("ｱ", "x"))
    environment, out, _ = environment_of(60)
    print_blocks(environment, [block("table", "", *rows, columns=("Name", "Sign"))], str)
    lines = out.getvalue().splitlines()
    assert {cells(line[: line.rindex("x")]) for line in lines[2:]} == {cells(lines[0][: lines[0].index("Sign")])}


def test_long_words_and_code_keep_their_lines() -> None:
    environment, out, _ = environment_of(24)
    words = "one two three four five six seven"
    print_blocks(environment, [block("paragraph", f"{words}\n{words}"), block("code", f"{words}\n\n  {words}")], str)
    lines = out.getvalue().splitlines()
    assert lines[:4] == ["one two three four five", "six seven", "one two three four five", "six seven"]
    assert lines[6:9] == [words, "", f"  {words}"]
    assert widest("\n".join([*lines[:6], lines[9]])) <= 24


def test_blocks_are_cut_between_words_lines_and_blocks() -> None:
    made = [block("paragraph", "one two three"), block("code", "a\nb\nc"), block("paragraph", "four")]
    assert shorten_blocks(made, 100, 9) == made
    texts = [
        ["".join(r["text"] for r in b["runs"]) for b in shorten_blocks(made, *size)] for size in ((8, 9), (100, 3))
    ]
    assert texts == [["one two …"], ["one two three", "a\nb …"]]
    assert ["".join(r["text"] for r in b["runs"]) for b in shorten_blocks(made, 13, 9)] == ["one two three …"]
    # No line of code is one letter of its first word.
    assert ["".join(r["text"] for r in b["runs"]) for b in shorten_blocks(made[:1] * 2, 14, 9)] == ["one two three …"]
    assert shorten_blocks([block("code", "unbreakable")], 4, 9)[0]["runs"][0]["text"] == "unbr"
