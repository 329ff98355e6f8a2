"""Read the sheets of a workbook: each table of a sheet with the names of its columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time
from html import escape
from io import BytesIO
from itertools import groupby
from typing import Any, NamedTuple
from zipfile import ZipFile

from wikigr.sources.office.document import Document, archive, names_columns, parse_xml, table_html, title_of

# A place of a citation has at most so many rows.
_ROWS = 50
_RELATIONS = "xl/_rels/workbook.xml.rels"
_MERGED = re.compile(r"(?P<column>[A-Z]{1,3})(?P<row>\d{1,7}):[A-Z]{1,3}(?P<last>\d{1,7})")


class _Row(NamedTuple):
    """A row of a sheet, counted from 1; ``is_bold`` says that all its texts are."""

    number: int
    texts: Sequence[str]
    is_bold: bool


def read(data: bytes, document: Document, where: str) -> None:
    """Add the visible sheets; empty rows and columns separate tables, whose first row of names is the header.

    Formulas stand for the values that were stored with them, and a cell merged over rows for each of them.
    """
    from openpyxl import load_workbook

    with archive(data, where) as opened:
        document.title = title_of(opened)
        book = load_workbook(BytesIO(data), read_only=True, data_only=True)
        merged = _merged_down(opened)
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        document.writer.heading(1, sheet.title)
        # Some programs state too few rows.
        sheet.reset_dimensions()
        rows = _rows(sheet.iter_rows(), merged.get(sheet.title, {}))
        for has_text, block in groupby(rows, key=lambda row: any(row.texts)):
            for column, table in _tables(list(block)) if has_text else ():
                _write(table, column, sheet.title, document)


def _merged_down(opened: ZipFile) -> dict[str, dict[tuple[int, int], int]]:
    """Return the cells that are merged over rows by sheet: (row, column) with the number of the last row."""
    from lxml.etree import iterparse
    from openpyxl.utils import column_index_from_string

    targets = {relation.get("Id"): relation.get("Target", "") for relation in parse_xml(opened, _RELATIONS)}
    found: dict[str, dict[tuple[int, int], int]] = {}
    for sheet in parse_xml(opened, "xl/workbook.xml").iter("{*}sheet"):
        target = next((targets.get(value, "") for name, value in sheet.items() if name.endswith("}id")), "")
        path = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
        merged = found.setdefault(sheet.get("name", ""), {})
        if path not in opened.namelist():
            continue
        for _, element in iterparse(opened.open(path), tag=("{*}row", "{*}mergeCell"), resolve_entities=False):
            if cells := _MERGED.fullmatch(element.get("ref", "")):
                row, last = int(cells["row"]), int(cells["last"])
                if last > row:
                    merged[row, column_index_from_string(cells["column"])] = last
            element.clear()
    return found


def _rows(rows: Iterable[Sequence[Any]], merged: Mapping[tuple[int, int], int]) -> Iterator[_Row]:
    open_cells: dict[int, tuple[int, str]] = {}
    for number, cells in enumerate(rows, start=1):
        cells = cells[:1_000]
        texts = [_text(cell) for cell in cells]
        is_bold = all(cell.font.b for cell, text in zip(cells, texts, strict=True) if text)
        for column, (last, text) in open_cells.items():
            if number <= last and any(texts[column:]):
                texts[column - 1] = text
        for column, text in enumerate(texts, start=1):
            if (number, column) in merged:
                open_cells[column] = merged[number, column], text
        while texts and not texts[-1]:
            texts.pop()
        yield _Row(number, texts, is_bold)


def _tables(rows: Sequence[_Row]) -> Iterator[tuple[int, Sequence[_Row]]]:
    """Yield the tables in rows without an empty one, each with its first column: a title, then what is side by side."""
    start = next((number for number, row in enumerate(rows) if sum(map(bool, row.texts)) > 1), len(rows))
    width = max(len(row.texts) for row in rows)
    for part in (rows[:start], rows[start:]):
        filled = [any("".join(row.texts[column : column + 1]) for row in part) for column in range(width)]
        columns = [list(run) for is_filled, run in groupby(range(width), key=filled.__getitem__) if is_filled]
        tables = [_cut(part, run[0], run[-1] + 1) for run in columns]
        if not all(map(_has_names, tables)):
            tables = [_cut(part, columns[0][0], columns[-1][-1] + 1)] if columns else []
            columns = columns[:1]
        yield from zip((run[0] + 1 for run in columns), tables, strict=True)


def _cut(rows: Sequence[_Row], start: int, end: int) -> list[_Row]:
    cut = (row._replace(texts=row.texts[start:end]) for row in rows)
    return [row for row in cut if any(row.texts)]


def _has_names(rows: Sequence[_Row]) -> bool:
    """Return whether a table has several columns, all with a name."""
    names = rows[0].texts
    return len(names) > 1 and len(rows) > 1 and all(text and not any(map(str.isdigit, text)) for text in names)


def _write(rows: Sequence[_Row], column: int, sheet: str, document: Document) -> None:
    from openpyxl.utils import get_column_letter

    texts = [row.texts for row in rows]
    is_bold = len(rows) > 1 and sum(map(bool, texts[0])) > 1 and rows[0].is_bold and not rows[1].is_bold
    has_header = is_bold or names_columns(texts)
    end = get_column_letter(column - 1 + max(map(len, texts)))
    for first in range(int(has_header), len(rows), _ROWS):
        start = rows[first if first > has_header else 0].number
        last = rows[first : first + _ROWS][-1].number
        cells = f"{sheet}!{get_column_letter(column)}{start}:{end}{last}"
        document.writer.place(cells, cells)
        if len(texts[0]) == 1 and not has_header:
            document.html("".join(f"<p>{escape(text)}</p>" for (text,) in texts[first : first + _ROWS]))
        else:
            shown = texts[first : first + _ROWS]
            document.html(table_html([*texts[:has_header], *shown], has_header=has_header))


def _text(cell: Any) -> str:
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
    if isinstance(value, time):
        return value.isoformat("auto" if value.second else "minutes")
    if isinstance(value, int | float):
        is_share = "%" in (cell.number_format or "")
        return f"{value * 100:.10g}%" if is_share else f"{value:.15g}"
    return " ".join(str(value).split())
