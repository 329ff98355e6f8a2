"""Read tables of triples: TSV or CSV files with a subject, a relation and an object in each row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

from wikigr.errors import RecordError, SourceError
from wikigr.sources.article import SourceItem
from wikigr.sources.delimited_rows import DELIMITERS, Row, read_rows, sample_lines
from wikigr.sources.encodings import utf8_stream
from wikigr.sources.plain_text import collapse_spaces
from wikigr.sources.statements import (
    MAX_NAME_LENGTH,
    RELATIONS,
    GraphRecord,
    Node,
    Role,
    Statement,
    gather,
    parse_graph_record,
)
from wikigr.sources.streams import Line, line_place, open_bytes, read_lines
from wikigr.text import fold

# Column names in a header, folded, likeliest first: next to "subject", a column "source" is ignored.
_COLUMNS = (
    ("subject", "head", "source", "from", "entity", "s"),
    ("relation", "predicate", "property", "attribute", "edge", "p"),
    ("object", "tail", "target", "to", "value", "o"),
)

# Relations, folded, that are not plain facts. Bare "label" and "name" are facts: a music record has a label.
_ROLES = {
    "description": (Role.TEXT, 0),
    "alias": (Role.ALIAS, 0),
    **dict.fromkeys(("type", "instance of"), (Role.TYPE, 0)),
    **{fold(name): use for name, use in RELATIONS.items()},
    **{fold(name.replace("dct:", "dcterms:")): use for name, use in RELATIONS.items()},
}
_DATE_TIME = re.compile(r"[+-]?\d+(?:-\d\d){1,2}(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?")


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

    def _statements(self) -> Iterator[Statement | RecordError]:
        columns: tuple[int, int, int] | None = None
        width = 3
        is_empty = True
        with open_bytes(self.path) as stream:
            for row in read_triples(read_lines(utf8_stream(stream), self.path), str(self.path)):
                where = line_place(self.path, row.line)
                if row.problem:
                    yield RecordError(where, row.problem)
                elif columns is None and (named := find_columns(row.cells)) is not None:
                    columns, width = named, len(row.cells)
                    continue
                else:
                    columns = columns or (0, 1, 2)
                    yield _statement(where, row.cells, width, columns)
                is_empty = False
        if is_empty:
            raise SourceError(f"{self.path} has no triples.", hint="Each row is: subject, relation, object.")


def read_triples(lines: Iterable[Line], name: str = "The table") -> Iterator[Row]:
    """Yield the rows of a table, without empty cells after the third, which spreadsheets leave behind.

    Raises ``SourceError``, which calls the file ``name``, if no delimiter or more than one fits.
    """
    sample, lines = sample_lines(lines)
    for row in read_rows(lines, _delimiter(sample, name), strict=True):
        while len(row.cells) > 3 and not row.cells[-1]:
            row.cells.pop()
        yield row


def _delimiter(sample: list[Line], name: str) -> str:
    """Detect the delimiter; unlike ``csv.Sniffer``, expect three columns and report ambiguity."""
    readable = [line for line in sample if not line.decoded()[1]]
    rows = {mark: list(islice(read_rows(readable, mark, strict=True), 20)) for mark in DELIMITERS}
    if not rows["\t"]:
        return "\t"
    for mark, found in rows.items():
        first = next((row for row in found if not row.problem), None)
        if first is not None and find_columns(first.cells) is not None:
            return mark
    # Compare shares: a wrong delimiter breaks quoted cells into more rows.
    shares = {
        mark: sum(len(row.cells) >= 3 and all(row.cells[:3]) and not any(row.cells[3:]) for row in found) / len(found)
        for mark, found in rows.items()
    }
    best = [mark for mark, share in shares.items() if share == max(shares.values())]
    is_usual = shares[best[0]] >= 0.5
    # Names rarely contain tabs, so a tab wins a tie.
    if is_usual and (len(best) == 1 or best[0] == "\t"):
        return best[0]
    if is_usual:
        problem = f"{DELIMITERS[best[0]]} and {DELIMITERS[best[1]]} split equally many of its first rows into three"
    else:
        problem = "neither tabs nor commas nor semicolons split most of its first rows into three"
    raise SourceError(
        f"Cannot detect the columns of {name}: {problem}.",
        hint="Put tabs between subject, relation and object, or name the columns in a first row: "
        "subject, relation, object.",
    )


def find_columns(cells: list[str]) -> tuple[int, int, int] | None:
    """Return the columns of subject, relation and object if the row names all three; the likeliest names win."""
    names = [fold(cell) for cell in cells]
    found = [next((names.index(name) for name in known if name in names), -1) for known in _COLUMNS]
    return (found[0], found[1], found[2]) if -1 not in found else None


def _statement(where: str, cells: list[str], width: int, columns: tuple[int, int, int]) -> Statement | RecordError:
    count = len(cells)
    if count > width:
        advice = "" if width != 3 else " (in CSV, quote cells that contain the delimiter; other columns need a header)"
        return RecordError(where, f"expected {width} columns, found {count}{advice}")
    if count <= max(columns):
        found = f"{count} column{'s' * (count != 1)}"
        return RecordError(where, f"expected subject, relation and object, found {found}")
    subject, relation, value = (cells[column] for column in columns)
    for what, text in (("subject", subject), ("relation", relation), ("object", value)):
        if not fold(collapse_spaces(text)):
            return RecordError(where, f"the {what} is empty")
        if what != "object" and len(text) > MAX_NAME_LENGTH:
            limit = f"the limit for a name is {MAX_NAME_LENGTH}"
            return RecordError(where, f"the {what} has {len(text):,} characters, {limit}")
    role, priority = _ROLES.get(fold(relation), (Role.FACT, 0))
    if role in (Role.NAME, Role.ALIAS, Role.TEXT):
        if role is not Role.TEXT and len(value) > MAX_NAME_LENGTH:
            return RecordError(where, f"the name has {len(value):,} characters, the limit is {MAX_NAME_LENGTH}")
        text = value if role is Role.TEXT else collapse_spaces(value)
        return Statement(_node(subject), relation, text, role, priority=priority)
    if len(value) > MAX_NAME_LENGTH or "\n" in value:
        return Statement(_node(subject), relation, value, role)
    # A number, a date or the like rather than a name.
    is_value = not any(map(str.isalpha, value)) or _DATE_TIME.fullmatch(value) is not None
    return Statement(_node(subject), relation, _node(value), role, is_value=is_value)


@lru_cache(maxsize=65_536)
def _node(name: str) -> Node:
    name = collapse_spaces(name)
    if " " not in name and "://" not in name:
        # Many tables write New_York; titles have spaces.
        name = collapse_spaces(name.replace("_", " "))
    return Node(fold(name), name)
