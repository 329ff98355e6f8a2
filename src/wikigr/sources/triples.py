"""Read tables of triples: TSV or CSV files with a subject, a relation and an object in each row."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from wikigr.errors import SourceError
from wikigr.sources.article import SourceItem
from wikigr.sources.plain_text import collapse_spaces
from wikigr.sources.statements import (
    MAX_NAME_LENGTH,
    BadStatement,
    GraphRecord,
    Node,
    Role,
    Statement,
    gather,
    parse_graph_record,
)
from wikigr.sources.streams import Line, line_place, open_bytes, read_lines
from wikigr.text import fold

# A quoted cell may span several lines; the limit keeps one that is never closed from swallowing the file.
MAX_ROW_BYTES = 16 * 1024 * 1024

# The possible delimiters, and how much of a file is read to detect which one it uses.
_DELIMITERS = {"\t": "tabs", ",": "commas", ";": "semicolons"}
_SAMPLE_ROWS = 20
_SAMPLE_BYTES = 256 * 1024

# Column names in a header, folded, likeliest first: next to "subject", a column "source" is ignored.
_COLUMNS = (
    ("subject", "head", "source", "from", "entity", "s"),
    ("relation", "predicate", "property", "attribute", "edge", "p"),
    ("object", "tail", "target", "to", "value", "o"),
)

# Relations, folded, that are not plain facts. Bare "label" and "name" are facts: a music record has a label.
_ROLES = {
    **dict.fromkeys(("rdfs:label", "skos:preflabel", "schema:name", "foaf:name"), Role.NAME),
    **dict.fromkeys(("alias", "skos:altlabel", "schema:alternatename"), Role.ALIAS),
    **dict.fromkeys(
        (
            *("description", "rdfs:comment", "schema:description", "dct:abstract", "dct:description"),
            *("dcterms:abstract", "dcterms:description", "dbo:abstract", "skos:definition"),
        ),
        Role.TEXT,
    ),
    **dict.fromkeys(("rdf:type", "type", "instance of"), Role.TYPE),
}
_PRIORITIES = {relation: n for n, relation in enumerate(_ROLES)}
_QUOTED = re.compile(r'"((?:[^"]|"")*+)"')
_DATE_TIME = re.compile(r"[+-]?\d+(?:-\d\d){1,2}(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?")


class Row(NamedTuple):
    """The cells of a row that begins on ``line``, or the ``problem`` that makes it unreadable."""

    line: int
    cells: list[str]
    problem: str = ""


class TriplesSource:
    """One ``subject, relation, object`` per row, as TSV or CSV; the first row may name the columns.

    The delimiter is a tab, a comma or a semicolon: the one that makes the first row a header, otherwise the one that
    splits most of the first rows into three cells. Without a header there must be exactly three columns; with one
    they may be in any order, and other columns are ignored. Names are compared without regard to case, underscores
    and Unicode form.
    """

    format = "triples"

    def __init__(self, path: Path) -> None:
        self.path = path

    def records(self) -> Iterator[GraphRecord]:
        """Yield every bad row, then one record per subject; raises ``SourceError`` for a file without triples."""
        yield from gather(self._statements(), lambda key, name, spelled: (spelled, key))

    def parse(self, record: GraphRecord) -> Iterator[SourceItem]:
        """Turn one subject into its article; raises ``RecordError`` with the line of a bad row."""
        return parse_graph_record(record)

    def _statements(self) -> Iterator[Statement | BadStatement]:
        columns: tuple[int, int, int] | None = None
        width = 3
        is_empty = True
        with open_bytes(self.path) as stream:
            for row in read_rows(read_lines(stream, self.path), str(self.path)):
                if columns is None and not row.problem:
                    columns = find_columns(row.cells)
                    if columns is not None:
                        width = len(row.cells)
                        continue
                    columns = (0, 1, 2)
                is_empty = False
                problem = row.problem or _count_problem(row.cells, width, columns or (0, 1, 2))
                if problem:
                    yield BadStatement(line_place(self.path, row.line), problem)
                else:
                    subject, relation, value = (row.cells[column] for column in columns or (0, 1, 2))
                    yield _statement(line_place(self.path, row.line), subject, relation, value)
        if is_empty:
            raise SourceError(f"{self.path} has no triples.", hint="Each row is: subject, relation, object.")


def read_rows(lines: Iterable[Line], name: str = "The table") -> Iterator[Row]:
    """Yield the rows that are not blank; CSV cells may be quoted and span lines, TSV cells are taken as they are.

    Raises ``SourceError``, which calls the file ``name``, when the delimiter is ambiguous.
    """
    source = iter(lines)
    sample: list[Line] = []
    size = 0
    for line in source:
        sample.append(line)
        size += len(line.data)
        if size >= _SAMPLE_BYTES or len(sample) >= 10 * _SAMPLE_ROWS:
            break
    return _rows(chain(sample, source), _delimiter(sample, name))


def _rows(lines: Iterable[Line], delimiter: str) -> Iterator[Row]:
    source = iter(lines)
    waiting: deque[Line] = deque()

    def next_line() -> Line | None:
        return waiting.popleft() if waiting else next(source, None)

    while (line := next_line()) is not None:
        text, problem = line.decoded()
        if problem:
            yield Row(line.line, [], problem)
            continue
        if not text.strip():
            continue
        if delimiter == "\t" or '"' not in text:
            yield Row(line.line, _trimmed(text.split(delimiter)))
            continue
        # An open quote takes more lines, up to the next one with an odd number of quotes.
        taken = [line]
        parts = [text]
        length = len(line.data)
        is_open = _is_open(text, delimiter)
        while is_open and length <= MAX_ROW_BYTES and (more := next_line()) is not None:
            taken.append(more)
            length += len(more.data)
            text, problem = more.decoded()
            parts.append(text)
            if problem or text.count('"') % 2:
                break
        cells = None if problem else _split_quoted("\n".join(parts), delimiter)
        if isinstance(cells, list):
            yield Row(line.line, _trimmed(cells))
        else:
            # Skip only this line, because the following ones may be valid rows.
            waiting.extendleft(reversed(taken[1:]))
            yield Row(line.line, [], cells or "a quoted cell is never closed")


def _delimiter(sample: list[Line], name: str) -> str:
    """Detect the delimiter; unlike ``csv.Sniffer``, expect three columns and report ambiguity."""
    readable = [line for line in sample if not line.decoded()[1]]
    rows = {mark: list(islice(_rows(readable, mark), _SAMPLE_ROWS)) for mark in _DELIMITERS}
    if not rows["\t"]:
        return "\t"
    for mark, found in rows.items():
        first = next((row for row in found if not row.problem), None)
        if first is not None and find_columns(first.cells) is not None:
            return mark
    fit = {mark: sum(len(row.cells) == 3 and all(row.cells) for row in found) for mark, found in rows.items()}
    # Compare shares: a wrong delimiter breaks quoted cells into more rows.
    shares = {mark: count / len(rows[mark]) for mark, count in fit.items()}
    best = [mark for mark, share in shares.items() if share == max(shares.values())]
    # Names rarely contain tabs, so a tab wins a tie.
    if shares[best[0]] >= 0.5 and (len(best) == 1 or best[0] == "\t"):
        return best[0]
    if shares[best[0]] >= 0.5:
        problem = f"{_DELIMITERS[best[0]]} and {_DELIMITERS[best[1]]} split equally many of its first rows into three"
    else:
        problem = "neither tabs nor commas nor semicolons split most of its first rows into three"
    raise SourceError(
        f"Cannot detect the columns of {name}: {problem}.",
        hint="Put tabs between subject, relation and object, or name the columns in a first row: "
        "subject, relation, object.",
    )


def _is_open(text: str, delimiter: str) -> bool:
    return _split_quoted(text, delimiter) is None


def _split_quoted(text: str, delimiter: str) -> list[str] | str | None:
    """Return the cells of a CSV row, a string that describes an error, or ``None`` if a quoted cell is still open."""
    cells: list[str] = []
    position = 0
    while True:
        if text.startswith('"', position):
            match = _QUOTED.match(text, position)
            if match is None:
                return None
            cells.append(match[1].replace('""', '"'))
            position = match.end()
            if position < len(text) and text[position] != delimiter:
                return f"cell {len(cells)} continues after its closing quote; double the quotes inside a quoted cell"
        else:
            end = text.find(delimiter, position)
            end = len(text) if end < 0 else end
            cells.append(text[position:end])
            position = end
        if position >= len(text):
            return cells
        position += 1


def _trimmed(cells: list[str]) -> list[str]:
    """Strip the cells and drop empty ones after the third, which spreadsheets leave behind."""
    cells = [cell.strip() for cell in cells]
    while len(cells) > 3 and not cells[-1]:
        cells.pop()
    return cells


def find_columns(cells: list[str]) -> tuple[int, int, int] | None:
    """Return the columns of subject, relation and object if the row names all three; the likeliest names win."""
    names = [fold(cell) for cell in cells]
    found = [next((names.index(name) for name in known if name in names), -1) for known in _COLUMNS]
    return (found[0], found[1], found[2]) if -1 not in found else None


def _count_problem(cells: list[str], width: int, columns: tuple[int, int, int]) -> str:
    if len(cells) > width:
        advice = "" if width != 3 else " (in CSV, quote cells that contain the delimiter; other columns need a header)"
        return f"expected {width} columns, found {len(cells)}{advice}"
    if len(cells) <= max(columns):
        return f"expected subject, relation and object, found {len(cells)} column{'s' * (len(cells) != 1)}"
    return ""


def _statement(where: str, subject: str, relation: str, value: str) -> Statement | BadStatement:
    for what, name in (("subject", subject), ("relation", relation)):
        if not fold(collapse_spaces(name)):
            return BadStatement(where, f"the {what} is empty")
        if len(name) > MAX_NAME_LENGTH:
            return BadStatement(
                where, f"the {what} has {len(name):,} characters, the limit for a name is {MAX_NAME_LENGTH}"
            )
    if not fold(collapse_spaces(value)):
        return BadStatement(where, "the object is empty")
    known = fold(relation)
    role = _ROLES.get(known, Role.FACT)
    if role in (Role.NAME, Role.ALIAS, Role.TEXT):
        if role is not Role.TEXT and len(value) > MAX_NAME_LENGTH:
            return BadStatement(where, f"the name has {len(value):,} characters, the limit is {MAX_NAME_LENGTH}")
        text = value if role is Role.TEXT else collapse_spaces(value)
        return Statement(_node(subject), relation, text, role, priority=_PRIORITIES[known])
    if len(value) > MAX_NAME_LENGTH or "\n" in value:
        return Statement(_node(subject), relation, value, role)
    return Statement(_node(subject), relation, _node(value), role, is_value=_is_value(value))


@lru_cache(maxsize=65_536)
def _node(name: str) -> Node:
    name = collapse_spaces(name)
    if " " not in name and "://" not in name:
        # Many tables write New_York; titles have spaces.
        name = collapse_spaces(name.replace("_", " "))
    return Node(fold(name), name)


def _is_value(text: str) -> bool:
    """Return whether a cell is a number, a date or the like rather than a name."""
    return not any(character.isalpha() for character in text) or _DATE_TIME.fullmatch(text) is not None
