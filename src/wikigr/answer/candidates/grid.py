"""The tables and properties of the evidence as rows of named values, and what the question says of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from wikigr.index.candidate import Section
from wikigr.question.dates import Date, Dates, dates_asked_for, dates_in, with_weekdays
from wikigr.question.grammar import NUMBERS, is_negation, tokenize
from wikigr.question.question import Question
from wikigr.question.values import Amounts, Measured, amounts_in, measured
from wikigr.reader.passage import Span
from wikigr.retrieval.sentences import SentenceScore
from wikigr.sources.facts import FACTS
from wikigr.text import words

# The dates and the amounts of a question that are compared with every value; a pasted log has more.
_MAX_ASKED = 10
# What stands in a cell that has no value.
_EMPTY = frozenset(("", "-", "–", "—", "no", "false", "none", "n/a", "0", "?"))
# What the cells of a column say that is true of some rows.
TRUTHS = frozenset(("yes", "no", "true", "false", "x", "✓", "✔", "-", "–", ""))


@dataclass(frozen=True)
class Asked:
    """The stems of a question, and those of its dates and amounts, which are compared as what they are."""

    question: Question
    dates: Sequence[tuple[Dates, frozenset[str]]]
    amounts: Sequence[tuple[Amounts, frozenset[str]]]

    @classmethod
    def by(cls, question: Question) -> Asked:
        """Return what ``question`` names."""

        def stems(start: int, end: int) -> frozenset[str]:
            return frozenset(question.weights.keys() & set(question.stems(question.text[start:end])))

        return cls(
            question,
            [(dates, stems(start, end)) for dates, start, end in dates_asked_for(question.text)[:_MAX_ASKED]],
            [(amounts, stems(start, end)) for amounts, start, end in amounts_in(question.text)[:_MAX_ASKED]],
        )

    @cached_property
    def _words(self) -> frozenset[str]:
        """The stems that are compared as words: the 1 of "after 1 May" is not that of "room 1"."""
        dates = [stems for _, stems in self.dates]
        ranges = [stems for amounts, stems in self.amounts if amounts.is_range]
        return frozenset(self.question.weights).difference(*dates, *ranges)

    @cached_property
    def _first(self) -> frozenset[str]:
        """The stems with which the question begins, which may name the column that it asks for ("Which hives …")."""
        stems = [stem for stem in self.question.stems(self.question.text) if stem in self.question.weights]
        # The column that a question asks for may be named by its first content words.
        return frozenset(stems[:2])

    @cached_property
    def negated(self) -> Question:
        """The question with the words after its first negation, if there are any; encoded once for all tables."""
        text = self.question.text
        found = next((word for word in tokenize(text) if is_negation(word.lowered)), None)
        return replace(self.question, text=(found and text[found.end :].strip(" ?.!")) or text)

    def begins_with(self, column: str) -> bool:
        """Return whether the question begins with the name of a column."""
        own = set(self.question.stems(spelled(column)))
        return bool(own & self._first) and own <= self.question.weights.keys()

    def share(self, stems: Set[str], rarity: Mapping[str, float] | None = None) -> float:
        """Return the share of the question in ``stems``, in [0, 1]; ``rarity`` may count some of them less."""
        weights = self.question.weights
        # In the order of the question: that of a set differs between processes, and so may the last digit of a sum.
        found = sum(weight * (rarity or {}).get(stem, 1.0) for stem, weight in weights.items() if stem in stems)
        return found / sum(weights.values()) if found else 0.0

    @cached_property
    def _spelled_numbers(self) -> dict[str, str]:
        """The stems of numbers that the question has as words, by their digits."""
        found = {word: str(number) for number, word in enumerate(NUMBERS) if word in words(self.question.text)}
        return {digits: stem for word, digits in found.items() for stem in self.question.stems(word)}

    def named_in(self, value: Value) -> frozenset[str]:
        """Return the stems of the question that ``value`` has: as words, as the same date, or in a range of numbers."""
        own = set(self.question.stems(value.spelled))
        named = self._words & own
        named |= {
            stem for digits, stem in self._spelled_numbers.items() if digits in own
        } & self.question.weights.keys()
        for dates, stems in self.dates:
            if not dates.is_range and any(map(dates.holds, value.dates)):
                named |= stems
        for amounts, stems in self.amounts:
            if any(other.is_range and other.holds(amounts) for other in value.amounts):
                named |= stems
        return named

    def pairs_in(self, value: Value) -> frozenset[tuple[str, str]]:
        """Return the neighboring words of the question that ``value`` has after the name of its column ("hive 9").

        Those in the name itself, which every row repeats, are left out.
        """
        name = self.question.stems(spelled(value.column))
        return self.question.pairs & set(pairwise([*name, *self.question.stems(value.text)])) - set(pairwise(name))

    def names(self, value: Value) -> bool:
        """Return whether ``value`` says nothing but what the question names, and therefore does not answer it."""
        own = set(self.question.stems(value.spelled))
        return bool(own) and own <= self.question.weights.keys()


@dataclass(frozen=True)
class Value:
    """What a row says in one ``column``: the characters ``start`` to ``end`` of the section of ``sentence``.

    ``sentence`` states it: its row, or its line. ``read`` is the short answer that the reader found in it.
    """

    column: str
    sentence: SentenceScore
    start: int
    end: int
    read: Span | None = None

    @cached_property
    def text(self) -> str:
        return self.sentence.section.content[self.start : self.end]

    @cached_property
    def spelled(self) -> str:
        """The text with the names of weekdays in full."""
        return with_weekdays(self.text)

    @property
    def is_empty(self) -> bool:
        return self.text.strip().lower() in _EMPTY

    @cached_property
    def dates(self) -> list[Date]:
        found = [date for date, _, _ in dates_in(self.text)]
        # A year alone is a date where it is the whole value.
        is_year = not found and self.measured is not None and self.measured.kind == "date"
        return [Date(*map(int, self.measured.key))] if is_year and self.measured is not None else found

    @cached_property
    def amounts(self) -> list[Amounts]:
        return [amounts for amounts, _, _ in amounts_in(self.text)]

    @cached_property
    def measured(self) -> Measured | None:
        """The one date, time of day or number that the value is or begins with, or ``None``."""
        return measured(self.text)


@dataclass(frozen=True)
class Record:
    """A row: its values in the order of the text; ``is_article`` if they are the properties of an article."""

    values: tuple[Value, ...]
    is_article: bool = False

    @property
    def name(self) -> str:
        """What the row describes: the title of its article if it has it, or else its first value."""
        title = self.section.title
        has_title = self.is_article or any(value.text == title for value in self.values)
        return title if has_title else self.values[0].text

    def named_for(self, asked: Asked) -> str:
        """Return the name; a number that is not asked for is followed by the words beside it: "3 Measuring fog"."""
        beside = self.values[1].text if len(self.values) > 1 else ""
        is_number = self.name.isdecimal() and (first := self.values[0]).measured is not None and not first.dates
        names = is_number and beside[:1].isalpha() and beside.lower() not in TRUTHS
        return f"{self.name} {beside}" if names and not asked.begins_with(self.values[0].column) else self.name

    @property
    def section(self) -> Section:
        return self.values[0].sentence.section

    def value_of(self, column: str) -> Value | None:
        return next((value for value in self.values if value.column == column), None)


@dataclass(frozen=True)
class Grid:
    """The rows of one table, as far as they are in the evidence, or those that the properties of articles are."""

    columns: tuple[str, ...]
    records: tuple[Record, ...]

    def is_whole(self, whole: Set[str]) -> bool:
        """Return whether all rows are here; ``whole`` are the ids of the sections whose tables are.

        Of rows that are articles of their own, or that several articles have, there may be more.
        """
        sections = [record.section for record in self.records]
        is_one = len({section.title for section in sections}) == 1 and not self.records[0].is_article
        return is_one and whole >= {section.section_id for section in sections}


def is_blank(text: str) -> bool:
    """Return whether ``text`` has only signs, which stand in a cell for a value that is not known."""
    return bool(text) and not any(map(str.isalnum, text))


def spelled(column: str) -> str:
    """Return the name of a column as words."""
    return column.replace("_", " ")


def grids_of(sections: Iterable[Sequence[SentenceScore]]) -> Iterator[Grid]:
    """Yield the tables of sections, the parts of one that was cut together, and at last all properties.

    ``sections`` has the sentences of each, in the order of its text.
    """
    tables: dict[tuple[str, tuple[str, ...]], list[Record]] = {}
    properties: dict[str, list[SentenceScore]] = {}
    for own in sections:
        for sentence in own:
            # Facts are candidates of a kind of their own, which compares their relation with the question.
            if sentence.row is None or sentence.section.heading == FACTS:
                continue
            if sentence.row.is_property:
                properties.setdefault(sentence.section.title, []).append(sentence)
            elif values := tuple(_values(sentence)):
                key = sentence.section.heading, sentence.row.columns
                tables.setdefault(key, []).append(Record(values))
    for (_, columns), records in tables.items():
        records.sort(key=lambda record: (record.section.title, record.section.position, record.values[0].start))
        yield Grid(tuple(filter(None, columns)), tuple(records))
    if properties:
        found = tuple(
            Record(tuple(value for sentence in lines for value in _values(sentence)), is_article=True)
            for lines in properties.values()
        )
        labels = dict.fromkeys(value.column for record in found for value in record.values)
        yield Grid(tuple(labels), found)


def _values(sentence: SentenceScore) -> Iterator[Value]:
    assert sentence.row is not None
    spans = sentence.cell_spans or (None,) * len(sentence.row.cells)
    known: set[int] = set()
    for cell, span in zip(sentence.row.cells, spans, strict=True):
        # The lines of a long row begin with the same cell.
        if cell.column not in known:
            known.add(cell.column)
            yield Value(sentence.row.column_of(cell), sentence, cell.start, cell.end, span)
