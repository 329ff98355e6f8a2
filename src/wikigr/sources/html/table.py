"""Read the rows of an HTML table: its header cells, its row groups and the rows and columns that cells span."""

from __future__ import annotations

import re
from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from wikigr.sources.tables import MAX_COLUMN_SPAN, MAX_ROW_SPAN, Cell, Row

_NUMBER = re.compile(r"\s*\+?(\d{1,9})")


def table_row(row: LexborNode, cells: Sequence[LexborNode], texts: Sequence[str], *, may_be_bold: bool) -> Row:
    """Return the row of a table with the visible ``cells`` and their ``texts``."""
    parent = row.parent
    return Row(
        [
            Cell(text, cell.tag == "th", colspan(cell), rowspan(cell), may_be_bold and _is_bold(cell))
            for cell, text in zip(cells, texts, strict=True)
        ],
        is_head=parent is not None and parent.tag == "thead",
        group=parent.mem_id if parent is not None else 0,
    )


def _is_bold(cell: LexborNode) -> bool:
    bold = sum(len("".join(node.text().split())) for node in cell.css("b, strong") if not _is_in_bold(node))
    return bold > 0 and bold == len("".join(cell.text().split()))


def _is_in_bold(node: LexborNode) -> bool:
    return node.parent is not None and node.parent.tag in ("b", "strong")


def colspan(cell: LexborNode) -> int:
    """Return the number of columns that ``cell`` spans, 1 to 1,000."""
    return min(_number(cell, "colspan") or 1, MAX_COLUMN_SPAN)


def rowspan(cell: LexborNode) -> int:
    """Return the number of rows that ``cell`` spans, 1 to 65,534; ``rowspan=0`` spans all remaining rows."""
    number = _number(cell, "rowspan")
    return MAX_ROW_SPAN if number == 0 else min(number or 1, MAX_ROW_SPAN)


def _number(cell: LexborNode, name: str) -> int | None:
    match = _NUMBER.match(cell.attributes.get(name) or "")
    return int(match[1]) if match else None
