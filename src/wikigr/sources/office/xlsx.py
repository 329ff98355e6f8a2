"""Read the sheets of a workbook: each table of a sheet with the names of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, time
from html import escape
from io import BytesIO
from typing import Any

from wikigr.sources.office.archive import archive, title_of
from wikigr.sources.office.document import Document, names_columns, table_html

# A place of a citation has at most so many rows.
_ROWS = 50
_MAX_COLUMNS = 1_000


def read(data: bytes, document: Document, where: str) -> None:
    """Add the visible sheets; rows without values separate tables, whose first row of several texts names the columns.

    Formulas stand for the values that were stored with them.
    """
    from openpyxl import load_workbook
    from openpyxl.utils import get_column_letter

    with archive(data, where) as opened:
        document.title = title_of(opened)
    book = load_workbook(BytesIO(data), read_only=True, data_only=True)
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        document.heading(1, sheet.title)
        for table in _tables(sheet.iter_rows(max_col=_MAX_COLUMNS)):
            header = table[:1] if names_columns([cells for _, cells in table]) else []
            for first in range(len(header), len(table), _ROWS):
                rows = table[first : first + _ROWS]
                start = rows[0][0] if first > len(header) else table[0][0]
                width = max(len(cells) for _, cells in (*header, *rows))
                document.place(f"{sheet.title}!A{start}:{get_column_letter(width)}{rows[-1][0]}")
                document.html(_html([cells for _, cells in (*header, *rows)], has_header=bool(header)))


# The number of a row, counted from 1, and the texts of its cells.
_Row = tuple[int, list[str]]


def _tables(rows: Iterable[Sequence[Any]]) -> Iterator[list[_Row]]:
    table: list[_Row] = []
    for number, cells in enumerate(rows, start=1):
        texts = [_text(cell) for cell in cells]
        while texts and not texts[-1]:
            texts.pop()
        if texts:
            table.append((number, texts))
        elif table:
            yield table
            table = []
    if table:
        yield table


def _text(cell: Any) -> str:
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
    if isinstance(value, float):
        is_share = "%" in (cell.number_format or "")
        return f"{value * 100:.10g}%" if is_share else f"{value:.15g}"
    return " ".join(str(value).split())


def _html(rows: Sequence[Sequence[str]], *, has_header: bool) -> str:
    """Return rows as HTML; a row with one text is a remark."""
    if len(rows) == 1 and len([text for text in rows[0] if text]) == 1:
        return f"<p>{escape(''.join(rows[0]))}</p>"
    return table_html(rows, has_header=has_header)
