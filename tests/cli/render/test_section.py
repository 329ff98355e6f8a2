"""A section that is opened is printed as its blocks, with all rows, and with the quotation in reverse."""

from __future__ import annotations

from typing import Any

from wikigr.documents.blocks import Mark, show_blocks
from wikigr.sources.block import Block, Cell
from wikigr_cli.render.section import print_section

from ..terminal import environment_of


def test_all_rows_of_a_table_are_printed_in_columns_and_code_in_a_box() -> None:
    lines = [f"Size: {number} | Price: {number} €" for number in range(30)]
    text, rows, start = "\n".join(lines), [], 0
    for line in lines:
        value, price = line.index(" | "), line.rindex(": ") + 2
        rows.append((Cell(0, start + 6, start + value), Cell(1, start + price, start + len(line))))
        start += len(line) + 1
    table = Block("table", 0, len(text), columns=("Size", "Price"), rows=tuple(rows))
    code = Block("code", len(text) + 2, len(text) + 7, label="python")
    text += "\n\nx = 1"
    marks = [Mark(code.start, code.start + 1, "found")]
    document: dict[str, Any] = {
        "title": "Bottles", "heading_path": ["Prices"], "url": None, "previous": None, "next": None, "links": [],
        "blocks": show_blocks(text, [table, code], marks=marks),
    }  # fmt: skip
    environment, out, _ = environment_of(60)
    print_section(environment, document)
    shown = out.getvalue()
    assert "Bottles › Prices" in shown and "29   29 €" in shown and "more rows" not in shown
    assert "── python" in shown and " | " not in shown
    environment, out, _ = environment_of(60, NO_COLOR="", TERM="xterm")
    print_section(environment, document)
    assert "\x1b[7mx\x1b[0m" in out.getvalue()
