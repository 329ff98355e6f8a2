"""Read a CSV or TSV file whose first row names the columns: an article per row, or the rows of one article."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from wikigr.errors import RecordError, SourceError
from wikigr.sources.article import BadPart, Names, RawDocument, SourceArticle, SourceItem, SourceSection
from wikigr.sources.block import Block
from wikigr.sources.delimited_rows import DELIMITERS, SAMPLE_ROWS, Row, read_rows, sample_lines
from wikigr.sources.documents import NoteRecord, NoteText
from wikigr.sources.encodings import utf8_stream
from wikigr.sources.header import column_names, mark_header, names_columns
from wikigr.sources.plain_text import LINE_GAP, PlainTextWriter, collapse_spaces
from wikigr.sources.streams import Line, line_place, open_bytes, read_lines, stem
from wikigr.sources.tables import Cell, row_text, shorten_name
from wikigr.sources.tables import Row as TableRow
from wikigr.sources.triples import find_columns
from wikigr.text import fold

# An article has at most so many rows if no column has titles.
MAX_ROWS_PER_ARTICLE = 500
# Columns with the titles of rows, likeliest first, and those of which all values must differ.
_TITLES = ("title", "name", "full name", "label", "question", "term", "product", "item", "heading")
_IDS = ("id", "identifier", "code", "key", "sku")
# Names that columns often have. In a file of three columns, they tell a header from a triple.
_USUAL_NAMES = frozenset(
    (
        *_TITLES,
        *_IDS,
        *"address age amount answer author capital category city color comment cost country currency date department "
        "description email end genre group language link location model note notes number owner phone population "
        "position price quantity rank rating region role score size start state status street symbol text total type "
        "unit url value version website weight year".split(),
    )
)
_NUMBER = re.compile(r"[^\w\s]*\d[\d\s.,:/%\-–+]*+[^\w\s]*+(?:[A-Za-z%]{1,3})?")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
# The first line of files that Excel is to open in any country.
_DELIMITER = re.compile(rb'"?sep=([\x09\x20-\x7e])"?', re.IGNORECASE)
_OTHER_DELIMITER = re.compile(r"[\t,;|]")
_MIN_EVIDENCE = 2
# So many rows say whether there are levels of names.
_SHOWN_ROWS = 10
_MAX_TITLE_ROWS = 3
_QUESTION_MARKS = ("?", "？")
# Every row has the name of each of its columns.
_MAX_COLUMNS = 1_000


@dataclass(frozen=True, slots=True)
class TableRecord:
    """Rows of the table with the names of their columns; one that is unreadable stands alone.

    ``titles`` is the number of the column with the title of the only row, ``None`` if ``title`` is that of the rows.
    ``caption`` is what stands above the table.
    """

    where: str
    title: str
    names: tuple[str, ...]
    rows: tuple[Row, ...]
    titles: int | None = None
    caption: str = ""


class TableSource:
    """A table with a header; the delimiter is a tab, a comma or a semicolon.

    If a column has titles or names, every row is an article, and rows with the same title are passages of one.
    Otherwise the file is one article of at most 500 rows, followed by articles for the next 500 each. Columns called
    ``aliases``, ``categories`` (names separated by semicolons) and ``url`` have the meaning that they have in JSON
    Lines.
    """

    format = "table"

    def __init__(self, path: Path) -> None:
        self.path = Path(path)

    def records(self) -> Iterator[TableRecord]:
        """Yield one record per row or per 500 rows; raises ``SourceError`` for a file without rows."""
        with open_bytes(self.path) as stream:
            table = read_table(read_lines(utf8_stream(stream), self.path))
            if table is None:
                raise SourceError(f"{self.path} has no rows.", hint="The first row names the columns.")
            name = file_title(self.path.name)
            batch: list[Row] = []
            count = 0

            def part() -> TableRecord:
                title = f"{name} (rows {count + 1} to {count + len(batch)})" if count else name
                where = line_place(self.path, batch[0].line)
                return TableRecord(where, title, table.names, tuple(batch), None, table.caption)

            for row in table.rows:
                if row.problem or table.title_of(row):
                    where = line_place(self.path, row.line)
                    yield TableRecord(where, name, table.names, (row,), table.titles, table.caption)
                    continue
                batch.append(row)
                if len(batch) == MAX_ROWS_PER_ARTICLE:
                    yield part()
                    count, batch = count + len(batch), []
            if batch:
                yield part()

    def parse(self, record: TableRecord) -> Iterator[SourceItem]:
        """Turn a record into an article; raises ``RecordError`` with the line of a bad row."""
        first = record.rows[0]
        if first.problem:
            raise RecordError(record.where, first.problem)
        source_id = f"row-{first.line}"
        if record.titles is None:
            writer = _writer(record.caption)
            for row in record.rows:
                writer.row(row_text(record.names, row.cells))
            yield SourceArticle(record.title, source_id, writer.sections() or (SourceSection((), ""),))
            return
        title = first.cells[record.titles]
        of = dict(zip(_folded(record.names), first.cells, strict=False))
        yield SourceArticle(
            title=collapse_spaces(title),
            source_id=source_id,
            sections=(_row_section(record.names, first.cells, title, record.caption),),
            aliases=_list(of.get("aliases", "")),
            categories=_list(of.get("categories", "")),
            url=of.get("url", ""),
        )


class TableConverter:
    """Reads a table among other documents of a folder: a line for each row in one section.

    Rows with long cells, and those whose title is a question, are sections of their own.
    """

    def scan(self, document: RawDocument) -> Names:
        return Names(file_title(document.source_id))

    def parse_note(self, record: NoteRecord) -> NoteText:
        stream = cast(BinaryIO, io.BufferedReader(io.BytesIO(record.data)))
        table = read_table(read_lines(utf8_stream(stream), record.source_id))
        if table is None:
            return NoteText(())
        sections: list[SourceSection] = []
        others = _writer(table.caption)
        bad: list[BadPart] = []
        for row in table.rows:
            title = table.title_of(row)
            if row.problem:
                bad.append(BadPart(line_place(record.source_id, row.line), row.problem))
                continue
            section = _row_section(table.names, row.cells, title)
            if title and ("\n\n" in section.text or title.endswith(_QUESTION_MARKS)):
                path, anchor = (collapse_spaces(title),), f"row-{row.line}"
                sections.append(replace(section, heading_path=path, anchor=anchor))
            else:
                others.row(row_text(table.names, row.cells))
        return NoteText((*others.sections(), *sections), bad_parts=tuple(bad))


def file_title(name: str) -> str:
    """Return the title of the table in the file ``name``."""
    return collapse_spaces(stem(name).replace("_", " "))


class Table(NamedTuple):
    """The names of the columns, the number of the column with the titles of rows if there is one, and the rows.

    A row has no more cells than there are names, or a problem. ``caption`` is what stands above the header.
    """

    names: tuple[str, ...]
    titles: int | None
    rows: Iterator[Row]
    caption: str

    def title_of(self, row: Row) -> str:
        """Return the title of a row, ``""`` if it has none."""
        return row.cells[self.titles] if self.titles is not None and self.titles < len(row.cells) else ""


def read_table(lines: Iterable[Line]) -> Table | None:
    """Return the table whose first row names the columns, ``None`` if there is no other row.

    If none of the first rows can be read, it has no columns.
    """
    rows = _rows(lines)
    first = list(islice(rows, SAMPLE_ROWS + 1))
    readable = [row for row in first if not row.problem]
    if first and not readable:
        return Table((), None, chain(first, rows), "")
    above = _title_rows([row.cells for row in readable])
    if len(first) == above + 1 or len(readable) <= above:
        return None
    titles_above, header = readable[:above], readable[above]
    first = [row for row in first if row is not header and row not in titles_above]
    width = max(len(row.cells) for row in first)
    while header.cells and not header.cells[-1] and len(header.cells) > width:
        header.cells.pop()
    levels = [TableRow(list(map(Cell, row.cells))) for row in (header, *first[:_SHOWN_ROWS])]
    marked, depth = mark_header(levels)
    if depth > 1 and not any(row.problem for row in first[: depth - 1]):
        header, first = Row(header.line, column_names(marked[:depth])), first[depth - 1 :]
    elif _is_data(header.cells, [row.cells for row in first if not row.problem]):
        header, first = header._replace(cells=[""] * max(width, len(header.cells))), [header, *first]
    names = tuple(map(collapse_spaces, header.cells))
    titles = _title_column(names, [row.cells for row in first if not row.problem])
    caption = " ".join(collapse_spaces(row.cells[0]) for row in titles_above)
    return Table(names, titles, (_of_width(row, len(names)) for row in chain(first, rows)), caption)


def _is_data(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a first row with words has a number above others that is neither a year nor a running one."""
    columns = [number for number, text in enumerate(first) if _NUMBER.fullmatch(text) and not _YEAR.fullmatch(text)]
    if not any(any(map(str.isalpha, text)) for text in first):
        return False
    texts = [first[column] for column in columns]
    if len(texts) > 1 and all(text.isdecimal() for text in texts):
        numbers = list(map(int, texts))
        if numbers == list(range(numbers[0], numbers[0] + len(numbers))):
            return False
    values = [[row[column] for row in below if column < len(row) and row[column]] for column in columns]
    return any(len(found) > 1 and all(map(_NUMBER.fullmatch, found)) for found in values)


def _title_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of rows above the header: those with text in their first cell alone."""
    texts = [sum(map(bool, cells)) for cells in rows]
    above = 0
    while above < min(_MAX_TITLE_ROWS, len(rows)) and texts[above] == 1 and rows[above][0]:
        above += 1
    below = rows[above:]
    # The first row may also be the header of a table with one named column.
    is_header = bool(below) and (max(map(len, rows[:above]), default=0) == 1 or names_columns(below))
    return above if is_header and 2 * sum(count > 1 for count in texts[above:]) > len(below) else 0


def _of_width(row: Row, width: int) -> Row:
    """Return a row that has no more cells than there are columns."""
    count = len(row.cells)
    if count > width:
        return Row(row.line, [], f"expected {width} columns, found {count}; quote cells that contain a delimiter")
    return row


def has_header(head: bytes) -> bool:
    """Return whether a table that begins with ``head`` has a header that names columns other than those of triples.

    The first row of a table with three columns may be a triple, so it takes more to be a header.
    """
    stream = utf8_stream(cast(BinaryIO, io.BufferedReader(io.BytesIO(head), len(head) or 1)))
    lines = islice(read_lines(stream, ""), SAMPLE_ROWS)
    rows = [row.cells for row in _rows(lines) if not row.problem]
    rows = rows[_title_rows(rows) :]
    if len(rows) < 2 or find_columns(rows[0]) is not None:
        return False
    header, *below = rows
    if len(header) == 1:
        return any(map(str.isalpha, header[0])) and _OTHER_DELIMITER.search(header[0]) is None
    if len(header) != 3:
        return True
    if not all(header) or len(set(map(fold, header))) < 3:
        # A name is missing or repeated; all of a triple is there, and differs.
        return True
    values = [row[1] for row in below if len(row) > 1 and row[1]]
    is_number = [_NUMBER.fullmatch(name) is not None for name in header]
    if all(is_number):
        return all(map(_YEAR.fullmatch, header)) and not any(map(_YEAR.fullmatch, values))
    if 2 * sum(_NUMBER.fullmatch(value) is not None for value in values) > len(values) and is_number[1] <= is_number[2]:
        # The relation of a triple is not a number, or it is one in all rows.
        return True
    # Names; the column of an index may lack one.
    names = [fold(cell) for cell in header]
    is_name = [0 < len(name) <= 100 and any(map(str.isalpha, name)) and "://" not in name for name in names]
    return all(is_name[0 if names[0] else 1 :]) and _evidence_of_header(header, below) >= _MIN_EVIDENCE


def _rows(lines: Iterable[Line]) -> Iterator[Row]:
    """Yield the rows with text, without empty cells at the end; a first row may only name the delimiter."""
    sample, lines = sample_lines(lines)
    named = _DELIMITER.fullmatch(sample[0].data) if sample else None
    if named is not None:
        next(lines)
    delimiter = named[1].decode() if named is not None else _delimiter(sample)
    for row in _with_text(lines, delimiter):
        if len(row.cells) > _MAX_COLUMNS:
            yield Row(row.line, [], f"it has {len(row.cells):,} cells, more than {_MAX_COLUMNS:,}")
        else:
            yield row


def _with_text(lines: Iterable[Line], delimiter: str) -> Iterator[Row]:
    is_first = True
    for row in read_rows(lines, delimiter):
        cells = [cell.replace("\0", "") for cell in row.cells]
        width = len(cells)
        while cells and not cells[-1]:
            cells.pop()
        if cells or row.problem:
            # The last columns may have no name.
            yield Row(row.line, [*cells, *[""] * (width - len(cells))] if is_first else cells, row.problem)
            is_first = False


def _delimiter(lines: Sequence[Line]) -> str:
    """Return the delimiter that splits most rows into as many cells as the first that it splits.

    Of several such delimiters, it is the one of more cells.
    """
    readable = [line for line in lines if not line.decoded()[1]]

    def fit(mark: str) -> tuple[float, int]:
        if not any(mark.encode() in line.data for line in readable):
            return 0.0, 0
        widths = [len(row.cells) for row in _with_text(readable, mark)]
        # A title may stand above the header.
        first = next((width for width in widths[: _MAX_TITLE_ROWS + 1] if width > 1), 0)
        return sum(1 < width <= first for width in widths) / max(len(widths), 1), first

    return max((*DELIMITERS, "|"), key=fit)


def _evidence_of_header(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Count what tells a header from a row of data: usual names, and columns whose values look different."""
    evidence = sum(fold(name) in _USUAL_NAMES for name in header)
    in_case = set()
    for column, name in enumerate(header):
        values = [row[column] for row in rows if column < len(row) and row[column]]
        if values and all(map(_NUMBER.fullmatch, values)) and not _NUMBER.fullmatch(name):
            # The relation of a triple is not a number.
            evidence += _MIN_EVIDENCE if column == 1 else 1
        elif len(values) >= 3 and all(value[0].isupper() for value in values) and name.islower():
            in_case.add(column)
    # Names of things begin with capitals in many triples, but not only in those after the first.
    return evidence + (len(in_case) if 1 in in_case else 0)


def _title_column(names: Sequence[str], rows: Sequence[Sequence[str]]) -> int | None:
    """Return the column with the titles of rows: one that is called so, or a first column of different names."""
    known = [fold(name) for name in names]

    def fits(column: int, distinct: float) -> bool:
        values = [row[column] for row in rows if column < len(row) and row[column]]
        is_name = all(any(map(str.isalpha, value)) and len(value) <= 200 for value in values)
        return (
            bool(values)
            and is_name
            and len(values) >= 0.9 * len(rows)
            and len(set(map(fold, values))) >= distinct * len(values)
        )

    # With the share of titles that must differ; a column that is not called so needs more.
    wanted = [(name, 0.5) for name in _TITLES]
    # The first column has words rather than codes and sizes such as "500 ml".
    first = [row[0] for row in rows if row and row[0]]
    has_words = all(sum(map(str.isalpha, value)) > sum(map(str.isdigit, value)) for value in first)
    wanted += [(known[0], 0.95)] if has_words else []
    wanted += [(name, 1.0) for name in _IDS]
    return next((known.index(name) for name, share in wanted if name in known and fits(known.index(name), share)), None)


def _writer(caption: str) -> PlainTextWriter:
    writer = PlainTextWriter("")
    if caption:
        writer.open_kind("caption")
        writer.write(caption)
        writer.close_kind()
        writer.end_block(LINE_GAP)
    return writer


def _row_section(names: Sequence[str], cells: Sequence[str], title: str, caption: str = "") -> SourceSection:
    """Return a row with the title ``title``: its short cells on one line, and each long one in a paragraph.

    A title that is a question is left out, so that the text is the answer.
    """
    is_long = [cell != title and (len(cell) > 200 or "\n" in cell) for cell in cells]
    is_question = title.endswith(_QUESTION_MARKS)
    short = ["" if long or (is_question and cell == title) else cell for cell, long in zip(cells, is_long, strict=True)]
    row = row_text(names, short)
    if len(row.lines) == 1 and not caption and True not in is_long:
        # Most rows of most files; laying them out would take half of the time of reading them.
        (line,) = row.lines
        return SourceSection((), line, blocks=(Block("table", 0, len(line), columns=row.columns, rows=row.cells),))
    writer = _writer(caption)
    writer.row(row)
    for name, cell, long in zip(names, cells, is_long, strict=False):
        if long:
            writer.end_block()
            writer.add_property(shorten_name(name), cell)
    return next(iter(writer.sections()), SourceSection((), ""))


@lru_cache(maxsize=8)
def _folded(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(fold, names))


def _list(cell: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(collapse_spaces, cell.split(";"))))) if cell else ()
