"""Questions for the cells of tables whose rows repeat the names of the columns."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from training.examples import Example
from training.structure.building import ATTRIBUTE, ENTITY_SWAP, answered, unanswered
from training.structure.passages import Passage
from training.structure.wording import choose, lower_first, words

NAME = "tables"

_MAX_COLUMNS = 7
_MAX_ROWS = 8
_MAX_CELL_WORDS = 12
_ROWS = re.compile(r"(?:^[^\n|]+(?: \| [^\n|]*)+(?:\n|$)){3,}", re.MULTILINE)
_NAMED_CELL = re.compile(r"(?:^| \| )([^:|]+): ((?:(?! \| ).)+)")
_NOT_A_HEADER = re.compile(r"[:=\d()<>\"“]|^-|\.$|^(?:yes|no|true|false)$", re.IGNORECASE)
_CELL = (
    "What is the {column} of {row}?",
    "What is the {column} of {row}?",
    "What is the {column} for {row}?",
    "What {column} does {row} have?",
    "Which {column} does {row} have?",
    "What is {row}'s {column}?",
    "{row} {column}",
    "Tell me the {column} of {row}",
)
_NUMBERS = (*_CELL, "How much is the {column} of {row}?", "How high is the {column} of {row}?")
_ROW = (
    "Which {key} has the {column} {value}?",
    "Which {key} has {value} as its {column}?",
    "What {key} has a {column} of {value}?",
    "For which {key} is the {column} {value}?",
    "What is the {key} with {column} {value}?",
)
_DESCRIPTIONS = ("description", "meaning", "purpose", "action", "effect", "comment", "comments", "notes", "explanation")
_DESCRIBED = (
    "What is {row}?",
    "What does {row} mean?",
    "What is the meaning of {row}?",
    "What does {row} do?",
    "What is {row} for?",
    "What does {row} stand for?",
    "Explain {row}",
)
_OTHER_COLUMNS = (
    "price;weight;color;owner;author;country;population;date of birth;phone "
    "number;size;supplier;capacity;length;license;"
    "release date;salary;address;height;temperature;default port;manager;warranty;delivery time;opening "
    "hours;rating;cost;"
    "deadline;nickname;speed;battery life;room;serial number;age;currency"
).split(";")


@dataclass(frozen=True, slots=True)
class Table:
    """A table with the names of its columns; the first column names the rows."""

    passage: Passage
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def render(columns: Sequence[str], row: Sequence[str]) -> str:
    """Return a row as one line, with the name of its column before each cell; empty cells are left out."""
    return " | ".join(f"{column}: {cell}" for column, cell in zip(columns, row, strict=True) if cell)


def generate(passages: Sequence[Passage], draw: random.Random) -> Iterator[Example]:
    """Yield questions for the cells of the tables of ``passages`` and of invented tables."""
    tables = [table for passage in passages for table in find_tables(passage)]
    for table in tables:
        yield from ask_table(table, draw)


def find_tables(passage: Passage) -> Iterator[Table]:
    """Yield the tables of a passage: lines that name the same columns, in the same order."""
    for block in _ROWS.finditer(passage.text):
        lines = [_NAMED_CELL.findall(line) for line in block[0].strip().split("\n")]
        columns, rows = (tuple(tuple(cell[part] for cell in line) for line in lines) for part in (0, 1))
        if len(set(columns)) != 1 or not 2 <= len(columns[0]) <= _MAX_COLUMNS:
            continue
        is_header = all(words(name) <= 4 and not _NOT_A_HEADER.search(name) for name in columns[0])
        unique = len(set(columns[0])) == len(columns[0]) and len({row[0] for row in rows}) == len(rows)
        if is_header and unique and columns[0][0][:1].isupper():
            yield Table(passage, columns[0], rows)


def ask_table(
    table: Table, draw: random.Random, questions: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Iterator[Example]:
    """Yield questions for some cells of a table, and for cells that it does not have.

    ``questions`` holds the templates for a column, with the row as ``{x}``.
    """
    first = draw.randrange(max(1, len(table.rows) - _MAX_ROWS + 1))
    shown = table.rows[first : first + _MAX_ROWS]
    hidden = [row for row in table.rows if row not in shown]
    lines = [render(table.columns, row) for row in shown]
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]
    text = "\n".join(lines)
    origin = table.passage
    passage = Passage(origin.source, origin.page, origin.title, origin.heading, origin.before, text)
    for number in draw.sample(range(len(shown)), min(3, len(shown))):
        row, column = shown[number], draw.randrange(1, len(table.columns))
        name, cell = table.columns[column], row[column]
        label = lower_first(name)
        if not cell or not row[0] or words(cell) > _MAX_CELL_WORDS or words(row[0]) > 6:
            continue
        before = render(table.columns[:column], row[:column])
        start = starts[number] + len(before) + len(f" | {name}: ")
        is_described = label in _DESCRIPTIONS and draw.random() < 0.7
        templates: Sequence[str] = _DESCRIBED if is_described else _NUMBERS if re.match(r"\d", cell) else _CELL
        if name in questions and draw.random() < 0.6:
            templates = questions[name]
        question = choose(draw, templates, column=label, row=row[0], x=row[0])
        yield answered(NAME, passage, question, [(start, start + len(cell))])
        same = Counter(other[column].lower() for other in table.rows)[cell.lower()]
        if same == 1 and words(cell) <= 5 and draw.random() < 0.5:
            key = starts[number] + len(f"{table.columns[0]}: ")
            reverse = choose(draw, _ROW, key=lower_first(table.columns[0]), column=label, value=cell)
            yield answered(NAME, passage, reverse, [(key, key + len(row[0]))])
        if draw.random() < 0.75:
            others = [other for other in _OTHER_COLUMNS if not any(word in text.lower() for word in other.split())]
            if others:
                yield unanswered(NAME, ATTRIBUTE, passage, choose(draw, _CELL, column=draw.choice(others), row=row[0]))
        if hidden and draw.random() < 0.5:
            other = draw.choice(hidden)
            if other[0] and other[0].lower() not in text.lower() and words(other[0]) <= 6:
                yield unanswered(
                    NAME, ENTITY_SWAP, passage, choose(draw, templates, column=label, row=other[0], x=other[0])
                )
        elif draw.random() < 0.5:
            rest = "\n".join(line for place, line in enumerate(lines) if place != number)
            if row[0].lower() not in rest.lower() and len(shown) > 2:
                without = Passage(origin.source, origin.page, origin.title, origin.heading, origin.before, rest)
                yield unanswered(NAME, ENTITY_SWAP, without, question)
