"""The cell of a table, or the property, in the column and the row that the question names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of
from wikigr.answer.candidates.grid import Asked, Value, is_blank, spelled
from wikigr.question.intent import asks_yes_no
from wikigr.question.measure import are_sums, asked_attribute, states
from wikigr.question.question import Question
from wikigr.reader.passage import Span, as_probability

# The best rows, whose columns are compared with the question, and the best of their cells, which compete.
_MAX_RECORDS = 10
_MAX_CELLS = 10
# Margins of the reader are logits; a difference of so many is large.
MAX_MARGIN = 12.0
# The weights of the signals of a cell.
_WEIGHTS: Mapping[str, float] = {
    "row": 3.4,
    "whole": 1.5,
    "pairs": 1.7,
    "column": 1.4,
    "begins": 0.7,
    "header": 1.9,
    "below": 0.8,
    "place": 1.0,
    "read": 2.6,
    "rank": 1.1,
    "unread": -4.1,
    "type": 0.8,
    "key": -1.7,
}
_INTERCEPT = -3.2
_Element = TypeVar("_Element")


@dataclass(frozen=True)
class _Named:
    """What the question names of a row: the stems and the pairs in each value; ``rarity`` is that of a stem."""

    values: tuple[Value, ...]
    stems: tuple[frozenset[str], ...]
    pairs: tuple[frozenset[tuple[str, str]], ...]
    rarity: Mapping[str, float]

    @property
    def margin(self) -> float:
        """The margin of the cell that the reader likes best, or one that no answer has if it has read none."""
        return max((value.read.margin for value in self.values if value.read is not None), default=-MAX_MARGIN)

    def rank(self, asked: Asked) -> float:
        """Return how much of the question the row names, and how likely the reader finds it that it answers."""
        stems, pairs = frozenset[str]().union(*self.stems), frozenset[tuple[str, str]]().union(*self.pairs)
        return asked.share(stems, self.rarity) + _share_of_pairs(pairs) + as_probability(self.margin)


def _share_of_pairs(pairs: Collection[tuple[str, str]]) -> float:
    return min(2, len(pairs)) / 2


def _in_others(sets: Sequence[frozenset[_Element]]) -> list[frozenset[_Element]]:
    """Return for each of ``sets`` what all others together have, in time linear in their sizes."""
    count = Counter(chain.from_iterable(sets))
    return [frozenset(element for element in count if count[element] > (element in own)) for own in sets]


def find_cells(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the cells whose column and row the question names best; ``fit`` is how well it does."""
    if asks_yes_no(material.question):
        return
    attribute = asked_attribute(material.question.text)
    fits = [
        (value, as_probability(_INTERCEPT + sum(_WEIGHTS[name] * signal for name, signal in found.items())))
        for value, found in cell_signals(material)
        if is_blank(value.text)
        or states(attribute, f"{spelled(value.column)}: {value.text}")
        or (_is_number(value) and are_sums(attribute, value.sentence.section.heading))
    ]
    for value, fit in sorted(fits, key=lambda item: -item[1])[:_MAX_CELLS]:
        span = Span(value.start, value.end, value.read.margin if value.read is not None else 0.0)
        yield AnswerCandidate("cell", (quotation_of(value.sentence),), span=span, fit=fit)


def _is_number(value: Value) -> bool:
    return value.measured is not None and value.measured.kind == "number"


def cell_signals(material: Material) -> Iterator[tuple[Value, dict[str, float]]]:
    """Yield the cells of the rows that the question names best, with what speaks for each, about -1 to 1.

    ``row`` is the share of the question in the other cells of its row, as far as they tell it from other rows;
    ``whole`` that in those of them that say nothing else; and ``pairs`` how many neighboring words of the question they
    have. ``column`` is the share in the name of its column, ``begins`` is 1 if the question begins with it, ``header``
    is the cosine of that name with the question, and ``below`` how far it is below the nearest column. ``place`` is the
    share in title and heading. ``read`` is the margin of the reader, ``rank`` how far it is below that of the best cell
    of the row, and ``unread`` is 1 if it has read others. ``type`` is 1 if the value is of the type asked for, and -1
    if it is not. ``key`` is 1 for the first value of its row.
    """
    asked = material.asked
    rows = _named_rows(material)[:_MAX_RECORDS]
    has_read = any(sentence.span is not None for sentence in material.sentences)
    columns = list(dict.fromkeys(value.column for row in rows for value in row.values if value.column))
    cosines = dict(zip(columns, material.similarity([spelled(column) for column in columns]), strict=True))
    for row in rows:
        headers = [cosines.get(value.column, 0.0) for value in row.values]
        is_named = [asked.names(value) for value in row.values]
        whole = _in_others([stems if named else frozenset() for stems, named in zip(row.stems, is_named, strict=True)])
        stems_of_others, pairs_of_others = _in_others(row.stems), _in_others(row.pairs)
        for number, value in enumerate(row.values):
            # A value that the question names is not what it asks for.
            if is_named[number]:
                continue
            column = frozenset(asked.question.stems(spelled(value.column)))
            said = stems_of_others[number] | column
            signals = {
                "row": asked.share(stems_of_others[number], row.rarity),
                "whole": asked.share(whole[number], row.rarity),
                "pairs": _share_of_pairs(pairs_of_others[number]),
                "column": asked.share(column),
                "begins": float(asked.begins_with(value.column)),
                "header": headers[number],
                "below": headers[number] - max(headers),
                "place": asked.share(material.place_stems(value.sentence.section) - said),
                "read": value.read.margin / MAX_MARGIN if value.read is not None else 0.0,
                "rank": (value.read.margin - row.margin) / MAX_MARGIN if value.read is not None else 0.0,
                "unread": float(has_read and value.read is None),
                "type": _fits_type(asked.question, value),
                "key": float(number == 0),
            }
            yield value, signals


def _named_rows(material: Material) -> list[_Named]:
    """Return the rows of the evidence, those first of which the question names most."""
    asked = material.asked
    found: list[_Named] = []
    for grid in material.grids:
        named = [tuple(map(asked.named_in, record.values)) for record in grid.records]
        held = Counter(stem for stems in named for stem in frozenset[str]().union(*stems))
        # What most rows have in common tells none of them.
        rarity = {stem: 1.0 - (count - 1) / len(named) for stem, count in held.items()}
        found += (
            _Named(record.values, stems, tuple(map(asked.pairs_in, record.values)), rarity)
            for record, stems in zip(grid.records, named, strict=True)
        )
    return sorted(found, key=lambda row: -row.rank(asked))


def _fits_type(question: Question, value: Value) -> float:
    """Return 1 if ``value`` is of the type that the question asks for, -1 if it is not, and 0 if either may be."""
    text, kind = value.text.strip(), question.answer_type.name if question.answer_type is not None else ""
    has_digit = any(character.isdigit() for character in text)
    if kind == "name":
        fits = text[:1].isupper() and not has_digit and len(text) <= 60
    elif kind == "number":
        fits = has_digit or question.is_answer_type_in(text)
    elif kind == "date" and (value.dates or not has_digit):
        fits = bool(value.dates) or question.is_answer_type_in(text)
    else:
        # "When" may ask for a time of the day.
        return 0.0
    return 1.0 if fits else -1.0
