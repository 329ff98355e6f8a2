"""A cell of a table, with its row, in which every value has the name of its column."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from wikigr.answer.candidates.blocks import Cell
from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of, share_named, span_in
from wikigr.answer.sentences import SentenceScore
from wikigr.index.lexical import stems
from wikigr.question.intent import asks_yes_no
from wikigr.question.question import Question

# Rows that compete, the best ones first, and cells of each.
_MAX_ROWS = 6
_MAX_CELLS = 2


def find_cells(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the cells whose column and row the question names best."""
    if asks_yes_no(material.question):
        return
    for sentence in islice(filter(material.cells, material.sentences), _MAX_ROWS):
        # A value that the question names is not what it asks for.
        asked = [cell for cell in material.cells(sentence) if not _names(material.question, _value(sentence, cell))]
        for cell in sorted(asked, key=lambda cell: _rank(material.question, sentence, cell))[:_MAX_CELLS]:
            span = span_in(sentence, cell.start, cell.end)
            fit = _share_of_column(material.question, cell)
            yield AnswerCandidate("cell", (quotation_of(sentence),), span=span, fit=fit)


def _names(question: Question, value: str) -> bool:
    return set(stems(value)) <= question.weights.keys()


def _rank(question: Question, sentence: SentenceScore, cell: Cell) -> tuple[float, bool, bool]:
    """Return the sort key of ``cell``: by the name of its column, by the reader's span, and by the type of its value."""
    span = sentence.span
    is_read = span is not None and sentence.start + cell.start <= span.start < sentence.start + cell.end
    is_type = question.answer_type is not None and question.is_answer_type_in(_value(sentence, cell))
    return -_share_of_column(question, cell), not is_read, not is_type


def _share_of_column(question: Question, cell: Cell) -> float:
    return share_named(question, cell.column.replace("_", " "))


def _value(sentence: SentenceScore, cell: Cell) -> str:
    return sentence.text[cell.start : cell.end]
