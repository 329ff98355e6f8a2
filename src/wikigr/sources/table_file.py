"""Read a CSV or TSV file whose first row names the columns: an article per row, or the rows of one article."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wikigr.errors import RecordError, SourceError
from wikigr.sources.article import SourceArticle, SourceItem, SourceSection
from wikigr.sources.folder import stem
from wikigr.sources.plain_text import collapse_spaces
from wikigr.sources.streams import Line, line_place, open_bytes, read_lines
from wikigr.sources.tables import NAME_SEPARATOR, row_lines, shorten_name
from wikigr.sources.triples import find_columns
from wikigr.text import fold

DELIMITERS = ("\t", ",", ";")
# Rows from which the delimiter, the header and the column with the titles are recognized.
_SAMPLE_ROWS = 200
# An article has at most so many rows if no column has titles.
MAX_ROWS_PER_ARTICLE = 500
_MAX_NAME_CHARS = 100
_MAX_TITLE_CHARS = 200
# A longer cell, or one of several lines, is a paragraph of its own in the article of its row.
_MAX_CELL_CHARS = 200
# Columns with the titles of rows, likeliest first, and those of which all values must differ.
_TITLES = ("title", "name", "full name", "label", "question", "term", "product", "item", "heading")
_IDS = ("id", "identifier", "code", "key", "sku")
# The shares of rows that have a title, and of titles that differ; a column that is not called so needs more.
_MIN_FILLED = 0.9
_MIN_DISTINCT = 0.5
_MIN_DISTINCT_OF_OTHERS = 0.95
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
_NUMBER = re.compile(r"[^\w\s]*\d[\d\s.,:/%\-–+]*[^\w\s]*(?:[A-Za-z%]{1,3})?")
_MIN_EVIDENCE = 2
_MIN_ROWS_FOR_CASE = 3
# The column of a triple's relation.
_RELATION = 1


@dataclass(frozen=True, slots=True)
class TableRecord:
    """Rows of the table as ``(line, cells)``, with the names of their columns; ``problem`` makes one unreadable.

    ``titles`` is the number of the column with the title of the only row, ``None`` if ``title`` is that of the file.
    """

    where: str
    title: str
    names: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    titles: int | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    cells: tuple[str, ...]
    problem: str = ""


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
            lines = read_lines(stream, self.path)
            sample: list[Line] = []
            for line in lines:
                sample.append(line)
                if len(sample) > _SAMPLE_ROWS:
                    break
            yield from self._records(sample, lines)

    def parse(self, record: TableRecord) -> Iterator[SourceItem]:
        """Turn a record into an article; raises ``RecordError`` with the line of a bad row."""
        if record.problem:
            raise RecordError(record.where, record.problem)
        if record.titles is None:
            texts = [line for _, cells in record.rows for line in row_lines(record.names, cells)]
            section = SourceSection((), "\n".join(texts))
            yield SourceArticle(record.title, f"row-{record.rows[0][0]}", (section,))
        else:
            ((line, cells),) = record.rows
            yield _article(record.names, cells, cells[record.titles], f"row-{line}")

    def _records(self, sample: list[Line], lines: Iterator[Line]) -> Iterator[TableRecord]:
        delimiter = _delimiter([text for text, problem in map(_decode, sample) if not problem])
        rows = _rows((line for part in (sample, lines) for line in part), delimiter)
        names: tuple[str, ...] = ()
        first: list[_Row] = []
        for row in rows:
            if names or row.problem:
                first.append(row)
            else:
                names = tuple(map(collapse_spaces, row.cells))
            if len(first) >= _SAMPLE_ROWS:
                break
        if not names or not first:
            raise SourceError(f"{self.path} has no rows.", hint="The first row names the columns.")
        titles = _title_column(names, [row.cells for row in first if not row.problem])
        title = collapse_spaces(stem(self.path.name).replace("_", " "))
        batch: list[tuple[int, tuple[str, ...]]] = []
        count = 0
        for row in (row for part in (first, rows) for row in part):
            problem = row.problem
            if len(row.cells) > len(names):
                problem = f"expected {len(names)} columns, found {len(row.cells)}; quote cells that contain a delimiter"
            cells = (*row.cells, *("" for _ in names[len(row.cells) :]))
            has_title = titles is not None and not problem and bool(cells[titles])
            if problem or has_title:
                where = line_place(self.path, row.line)
                yield TableRecord(where, title, names, ((row.line, cells),), titles, problem)
                continue
            batch.append((row.line, cells))
            if len(batch) == MAX_ROWS_PER_ARTICLE:
                yield self._part(title, names, batch, count)
                count, batch = count + len(batch), []
        if batch:
            yield self._part(title, names, batch, count)

    def _part(
        self, title: str, names: tuple[str, ...], batch: list[tuple[int, tuple[str, ...]]], count: int
    ) -> TableRecord:
        if count:
            title = f"{title} (rows {count + 1} to {count + len(batch)})"
        return TableRecord(line_place(self.path, batch[0][0]), title, names, tuple(batch))


def has_header(head: bytes) -> bool:
    """Return whether a table that begins with ``head`` has a header that names columns other than those of triples.

    The first row of a table with three columns may be a triple, so it takes more to be a header.
    """
    lines = [text for text, problem in map(_decode, _whole_lines(head)) if not problem]
    rows = [row.cells for row in _rows(lines, _delimiter(lines)) if not row.problem]
    if len(rows) < 2 or not _may_be_header(rows[0]) or find_columns(list(rows[0])) is not None:
        return False
    return len(rows[0]) != 3 or _evidence_of_header(rows[0], rows[1:]) >= _MIN_EVIDENCE


def _whole_lines(head: bytes) -> list[Line]:
    return [Line(number, line) for number, line in enumerate(head.splitlines()[:_SAMPLE_ROWS], start=1)]


def _decode(line: Line) -> tuple[str, str]:
    """Return the text of a line, with its end, and the problem that makes it unreadable; one of the two is empty."""
    text, problem = line.decoded()
    return ("", problem) if problem else (text.replace("\0", "") + "\n", "")


def _rows(lines: Iterable[Line | str], delimiter: str) -> Iterator[_Row]:
    """Yield the rows that are not blank, with their cells trimmed and empty ones at the end dropped."""
    problems: list[str] = []
    count = 0

    def texts() -> Iterator[str]:
        nonlocal count
        for line in lines:
            text, problem = (line, "") if isinstance(line, str) else _decode(line)
            count += 1
            if problem:
                problems.append(problem)
            yield text or "\n"

    reader = csv.reader(texts(), delimiter=delimiter, skipinitialspace=True)
    while True:
        start = count + 1
        problems.clear()
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            yield _Row(start, (), f"a quoted cell is never closed ({error})")
            continue
        while cells and not cells[-1]:
            cells.pop()
        if problems:
            yield _Row(start, (), problems[0])
        elif cells:
            yield _Row(start, tuple(cells))


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that splits most rows into as many cells as the first; of several, the one of more cells."""

    def fit(mark: str) -> tuple[float, int]:
        widths = [len(row.cells) for row in _rows(lines, mark)]
        if not widths or widths[0] < 2:
            return 0.0, 0
        return sum(1 < width <= widths[0] for width in widths) / len(widths), widths[0]

    return max(DELIMITERS, key=fit)


def _may_be_header(cells: Sequence[str]) -> bool:
    """Return whether the cells are several different names; the column of an index may lack one."""
    names = [fold(cell) for cell in cells]
    is_name = [0 < len(name) <= _MAX_NAME_CHARS and any(map(str.isalpha, name)) and "://" not in name for name in names]
    return len(names) > 1 and len(set(names)) == len(names) and all(is_name[0 if names[0] else 1 :])


def _evidence_of_header(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Count what tells a header from a row of data: usual names, and columns whose values look different."""
    evidence = sum(fold(name) in _USUAL_NAMES for name in header)
    in_case = set()
    for column, name in enumerate(header):
        values = [row[column] for row in rows if column < len(row) and row[column]]
        if values and all(map(_NUMBER.fullmatch, values)) and not _NUMBER.fullmatch(name):
            # The relation of a triple is not a number.
            evidence += _MIN_EVIDENCE if column == _RELATION else 1
        elif len(values) >= _MIN_ROWS_FOR_CASE and all(value[0].isupper() for value in values) and name.islower():
            in_case.add(column)
    # Names of things begin with capitals in many triples, but not only in those after the first.
    return evidence + (len(in_case) if _RELATION in in_case else 0)


def _title_column(names: Sequence[str], rows: Sequence[Sequence[str]]) -> int | None:
    """Return the column with the titles of rows: one that is called so, or a first column of different names."""
    known = [fold(name) for name in names]

    def fits(column: int, distinct: float) -> bool:
        values = [row[column] for row in rows if column < len(row) and row[column]]
        is_name = all(any(map(str.isalpha, value)) and len(value) <= _MAX_TITLE_CHARS for value in values)
        return (
            bool(values)
            and is_name
            and len(values) >= _MIN_FILLED * len(rows)
            and len(set(map(fold, values))) >= distinct * len(values)
        )

    wanted = [(name, _MIN_DISTINCT) for name in _TITLES]
    wanted += [(known[0], _MIN_DISTINCT_OF_OTHERS)] if _has_words(rows) else []
    wanted += [(name, 1.0) for name in _IDS]
    return next((known.index(name) for name, share in wanted if name in known and fits(known.index(name), share)), None)


def _has_words(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first column has words rather than codes and sizes such as "500 ml"."""
    values = [row[0] for row in rows if row and row[0]]
    return all(sum(map(str.isalpha, value)) > sum(map(str.isdigit, value)) for value in values)


def _article(names: Sequence[str], cells: Sequence[str], title: str, source_id: str) -> SourceArticle:
    """Return the article of one row: its short cells on one line, and each long one in a paragraph.

    A title that is a question is left out, so that the text is the answer.
    """
    is_long = [cell != title and (len(cell) > _MAX_CELL_CHARS or "\n" in cell) for cell in cells]
    is_question = title.endswith(("?", "？"))
    short = ["" if long or (is_question and cell == title) else cell for cell, long in zip(cells, is_long, strict=True)]
    paragraphs = ["\n".join(row_lines(names, short))]
    for name, cell, long in zip(names, cells, is_long, strict=True):
        if long:
            name = shorten_name(name)
            paragraphs.append(f"{name}{NAME_SEPARATOR}{cell}" if name else cell)
    of = dict(zip(map(fold, names), cells, strict=True))
    return SourceArticle(
        title=collapse_spaces(title),
        source_id=source_id,
        sections=(SourceSection((), "\n\n".join(filter(None, paragraphs))),),
        aliases=_list(of.get("aliases", "")),
        categories=_list(of.get("categories", "")),
        url=of.get("url", ""),
    )


def _list(cell: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(collapse_spaces, cell.split(";")))))
