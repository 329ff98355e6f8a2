"""Read the sheets of a workbook: each table of a sheet with the names of its columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import groupby
from posixpath import basename, dirname, join, normpath
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import ZipFile

from wikigr.sources.article import BadPart
from wikigr.sources.documents import check_length
from wikigr.sources.header import column_names, mark_header
from wikigr.sources.html.document import STRUCK_MARK
from wikigr.sources.office.document import Document, archive, parse_xml, with_attributes, with_members
from wikigr.sources.office.number_format import Value, show
from wikigr.sources.plain_text import collapse_spaces
from wikigr.sources.tables import MAX_HEADER_ROWS, Cell, Row
from wikigr.text import some_of

if TYPE_CHECKING:
    from lxml.etree import _Element

# A place of a citation has at most so many rows.
_ROWS = 50
# Attributes of styles that openpyxl requires although they are optional. No text shows them.
_REQUIRED = (
    ("{*}cellStyles/{*}cellStyle", "name", "00000000"),
    ("{*}colors/{*}indexedColors/{*}rgbColor", "rgb", "00000000"),
)
# The elements of a sheet that are read before its cells.
_READ_BEFORE = ("{*}f", "{*}row", "{*}mergeCell", "{*}autoFilter")
_MAX_COLUMNS = 1_000
_RANGE = re.compile(r"([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?")


class _Range(NamedTuple):
    """Merged cells, from the first row and column to the last ones, counted from 1."""

    row: int
    column: int
    last_row: int
    last_column: int


@dataclass
class _Extras:
    """What openpyxl leaves out of a sheet when it reads row by row, by row and column.

    ``merged`` has the ranges by their first cell, and ``formulas`` those without a stored value. ``headers`` are
    the first cells of tables and filters, whose first row has names.
    """

    merged: dict[tuple[int, int], _Range] = field(default_factory=dict)
    comments: dict[tuple[int, int], str] = field(default_factory=dict)
    formulas: dict[tuple[int, int], str] = field(default_factory=dict)
    headers: set[tuple[int, int]] = field(default_factory=set)


class _Row(NamedTuple):
    """A row of a sheet, counted from 1, from the column ``first`` on; ``is_bold`` says that all its texts are.

    A cell that is merged over rows has its text in each of them. ``merged`` has the ranges by their first column.
    """

    number: int
    first: int
    texts: Sequence[str]
    is_bold: bool
    merged: Mapping[int, _Range]


def read(data: bytes, document: Document, where: str) -> None:
    """Add the visible sheets; empty rows and columns separate tables, whose first rows of names are the header.

    Formulas stand for the values that were stored with them.
    """
    from openpyxl import load_workbook

    with archive(data, where) as opened:
        styles = with_attributes(opened, "xl/styles.xml", _REQUIRED)
        book = load_workbook(BytesIO(with_members(opened, styles) if styles else data), read_only=True, data_only=True)
        extras = dict(_extras(opened))
    length = 0

    def counted(rows: Iterable[_Row]) -> Iterator[_Row]:
        # Here already: a table is held in memory until its last row, and its rows may share one long string.
        nonlocal length
        for row in rows:
            length += sum(map(len, row.texts))
            check_length(where, data, length)
            yield row

    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        document.writer.heading(1, sheet.title)
        # Some programs state too few rows.
        sheet.reset_dimensions()
        extra = extras.get(sheet.title, _Extras())
        if extra.formulas:
            cells = list(map(_name, extra.formulas))
            reason = "the formulas have no stored value; open the file in a spreadsheet program and save it"
            document.bad_parts.append(BadPart(f"{where}, {sheet.title}!{some_of(cells, 5)}", reason, is_lost=True))
        rows = counted(_rows(sheet.iter_rows(), extra))
        for has_text, block in groupby(rows, key=lambda row: any(row.texts)):
            for table in _tables(list(block)) if has_text else ():
                _write(table, sheet.title, extra, document)
        for cell, text in sorted(extra.comments.items()):
            _place(sheet.title, cell, cell, document)
            _write_comment(cell, text, document)


def _extras(opened: ZipFile) -> Iterator[tuple[str, _Extras]]:
    targets = {number: target for number, _, target in _relations(opened, "xl/workbook.xml")}
    for sheet in parse_xml(opened, "xl/workbook.xml").iter("{*}sheet"):
        path = next((targets.get(value, "") for name, value in sheet.items() if name.endswith("}id")), "")
        if path in opened.namelist():
            extra = _extras_of(opened, path)
            relations = list(_relations(opened, path))
            kinds = {kind: target for _, kind, target in relations}
            for _, kind, target in relations:
                if kind == "table" and target in opened.namelist():
                    table = parse_xml(opened, target)
                    if table.get("headerRowCount") != "0" and (found := _range(table.get("ref"))) is not None:
                        extra.headers.add((found.row, found.column))
            # Comments in threads come with a copy for programs that do not know them.
            for kind in ("comments", "threadedComment"):
                if kinds.get(kind) in opened.namelist():
                    extra.comments.update(_comments(parse_xml(opened, kinds[kind])))
            yield sheet.get("name", ""), extra


def _relations(opened: ZipFile, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield the id, the kind and the member of each file that the member ``path`` refers to."""
    name = join(dirname(path), "_rels", basename(path) + ".rels")
    if name in opened.namelist():
        for relation in parse_xml(opened, name):
            target = normpath(join("/", dirname(path), relation.get("Target", "")))
            yield relation.get("Id", ""), basename(relation.get("Type", "")), target.lstrip("/")


def _extras_of(opened: ZipFile, path: str) -> _Extras:
    """Return the merged cells and the formulas without a value in the member ``path``, a sheet."""
    from lxml.etree import iterparse

    extra = _Extras()
    formulas: list[_Element] = []
    for _, element in iterparse(opened.open(path), tag=_READ_BEFORE, resolve_entities=False):
        if element.tag.endswith("}f"):
            formulas.append(element)
            continue
        if (found := _range(element.get("ref"))) is not None:
            if element.tag.endswith("}autoFilter"):
                extra.headers.add((found.row, found.column))
            else:
                extra.merged[found.row, found.column] = found
        for formula in formulas:
            cell = formula.getparent()
            if cell is not None and not cell.findtext("{*}v") and (found := _range(cell.get("r"))) is not None:
                extra.formulas[found.row, found.column] = f"={formula.text or ''} (not calculated)"
        formulas.clear()
        element.clear()
    return extra


def _range(name: str | None) -> _Range | None:
    from openpyxl.utils import column_index_from_string

    found = _RANGE.fullmatch(name or "")
    if found is None:
        return None
    column, row = column_index_from_string(found[1]), int(found[2])
    return _Range(row, column, int(found[4] or row), column_index_from_string(found[3]) if found[3] else column)


def _comments(root: _Element) -> dict[tuple[int, int], str]:
    """Return the comments by the row and column of their cell; those of one thread are joined."""
    comments: dict[tuple[int, int], str] = {}
    for comment in root.iter("{*}comment", "{*}threadedComment"):
        found = _range(comment.get("ref"))
        text = " ".join("".join(part.text or "" for part in comment.iter("{*}t", "{*}text") if part.text).split())
        if found is not None and text:
            before = comments.get((found.row, found.column))
            comments[found.row, found.column] = f"{before} {text}" if before else text
    return comments


def _rows(rows: Iterable[Sequence[Any]], extra: _Extras) -> Iterator[_Row]:
    open_cells: dict[int, tuple[_Range, str]] = {}
    for number, cells in enumerate(rows, start=1):
        cells = cells[:_MAX_COLUMNS]
        texts = list(map(_text, cells))
        is_bold = all(cell.font.b for cell, text in zip(cells, texts, strict=True) if text)
        merged: dict[int, _Range] = {}
        if extra.formulas:
            texts = [text or extra.formulas.get((number, column), "") for column, text in enumerate(texts, start=1)]
        while texts and not texts[-1]:
            texts.pop()
        for column, (found, text) in list(open_cells.items()):
            if number > found.last_row:
                del open_cells[column]
            elif column <= len(texts):
                texts[column - 1] = text
                merged[column] = found
        if extra.merged:
            for column, text in enumerate(texts, start=1):
                if (own := extra.merged.get((number, column))) is not None:
                    merged[column] = own
                    if own.last_row > number:
                        open_cells[column] = own, text
        yield _Row(number, 1, texts, is_bold, merged)


def _tables(rows: Sequence[_Row]) -> Iterator[Sequence[_Row]]:
    """Yield the tables in rows without an empty one: a title, then what is side by side."""
    width = max(len(row.texts) for row in rows)
    first = min(next(column for column, text in enumerate(row.texts, start=1) if text) for row in rows)
    start = next((number for number, row in enumerate(rows) if not _is_title(row, first, width)), len(rows))
    for part in (rows[:start], rows[start:]):
        filled = [any("".join(row.texts[column : column + 1]) for row in part) for column in range(width)]
        for row in part:
            for column, found in row.merged.items():
                filled[column - 1 : found.last_column] = [True] * (min(found.last_column, width) - column + 1)
        columns = [list(run) for is_filled, run in groupby(range(width), key=filled.__getitem__) if is_filled]
        tables = [_cut(part, run[0], run[-1] + 1) for run in columns]
        if not all(len(table) > 1 and _are_names(table[0].texts) for table in tables):
            tables = [_cut(part, columns[0][0], columns[-1][-1] + 1)] if columns else []
        yield from tables


def _is_title(row: _Row, first: int, width: int) -> bool:
    """Return whether a row has one text that is not the label of some columns of a table up to ``width``."""
    columns = [column for column, text in enumerate(row.texts, start=1) if text]
    found = row.merged.get(columns[0])
    is_label = found is not None and first < columns[0] < found.last_column >= width
    return len(columns) == 1 and not is_label


def _cut(rows: Sequence[_Row], start: int, end: int) -> list[_Row]:
    cut = (row._replace(texts=row.texts[start:end], first=row.first + start) for row in rows)
    return [row for row in cut if any(row.texts)]


def _are_names(texts: Sequence[str]) -> bool:
    return len(texts) > 1 and all(text and not any(map(str.isdigit, text)) for text in texts)


def _write(rows: Sequence[_Row], sheet: str, extra: _Extras, document: Document) -> None:
    """Write a table in parts with the same header, each with the comments on its cells, which are used up."""
    end = rows[0].first + max(len(row.texts) for row in rows) - 1
    comments = extra.comments
    top = [_cells(row, end, top=rows[0].number) for row in rows[: 3 * MAX_HEADER_ROWS]]
    for number, row in enumerate(rows[: len(top)]):
        if (row.number, row.first) in extra.headers and len(rows) > number + 1:
            top[number] = replace(top[number], is_head=True)
    marked, header_rows = mark_header(top)
    header = marked[:header_rows]
    names = column_names(header)
    for first in range(header_rows, len(rows), _ROWS):
        part = rows[first : first + _ROWS]
        start = rows[0].number if first == header_rows else part[0].number
        _place(sheet, (start, rows[0].first), (part[-1].number, end), document)
        document.table([*header, *(_cells(row, end) for row in part)])
        if comments:
            for row in rows[:header_rows] if first == header_rows else ():
                _write_comments(row, names, comments, document, has_key=False)
            for row in part:
                _write_comments(row, names, comments, document, has_key=True)


def _cells(row: _Row, end: int, *, top: int | None = None) -> Row:
    """Return a row of a table up to the column ``end``; with ``top``, its first row, cells span the rows below."""
    cells = []
    column = row.first
    while column < row.first + len(row.texts):
        found = row.merged.get(column)
        if found is None or top is None or not top <= found.row < row.number:
            columns = min(found.last_column, end) - column + 1 if found is not None else 1
            below = found.last_row - row.number if found is not None and top is not None else 0
            cells.append(Cell(row.texts[column - row.first], False, columns, 1 + below, row.is_bold))
        column = found.last_column + 1 if found is not None else column + 1
    return Row(cells)


def _write_comments(
    row: _Row, names: Sequence[str], comments: dict[tuple[int, int], str], document: Document, *, has_key: bool
) -> None:
    for column in range(max(len(row.texts), len(names))):
        text = comments.pop((row.number, row.first + column), None)
        if text is not None:
            about = ", ".join(filter(None, [*row.texts[:has_key], *names[column : column + 1]]))
            _write_comment((row.number, row.first + column), f"{about}: {text}" if about else text, document)


def _write_comment(cell: tuple[int, int], text: str, document: Document) -> None:
    document.writer.open_kind("footnote", _name(cell))
    document.writer.write(text)
    document.writer.close_kind()
    document.writer.end_block()


def _name(cell: tuple[int, int]) -> str:
    from openpyxl.utils import get_column_letter

    return f"{get_column_letter(cell[1])}{cell[0]}"


def _place(sheet: str, first: tuple[int, int], last: tuple[int, int], document: Document) -> None:
    cells = f"{sheet}!{_name(first)}:{_name(last)}"
    document.writer.place(cells, cells)


def _text(cell: Any) -> str:
    """Return the text of a cell, between marks if it is struck through."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        text = "yes" if value else "no"
    else:
        has_format = isinstance(value, Value)
        text = show(value, cell.number_format or "General") if has_format else collapse_spaces(str(value))
    return f"{STRUCK_MARK}{text}{STRUCK_MARK}" if text and cell.font.strike else text
