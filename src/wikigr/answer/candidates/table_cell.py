"""A cell of a table, with its row, in which every value has the name of its column."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from wikigr.answer.candidates.blocks import Cell
from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of, span_in
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
        row = material.cells(sentence)
        fits = [(cell, _fit(material.question, sentence, cell, row)) for cell in row]
        for cell, fit in sorted(fits, key=lambda item: -item[1])[:_MAX_CELLS]:
            span = span_in(sentence, cell.start, cell.end)
            yield AnswerCandidate("cell", (quotation_of(sentence),), span=span, fit=fit)


def _fit(question: Question, sentence: SentenceScore, cell: Cell, row: list[Cell]) -> float:
    """Return how well the question names the column of ``cell`` and the rest of its row, in [0, 1].

    A value that the question names is not what it asks for.
    """
    value = sentence.text[cell.start : cell.end]
    if set(stems(value)) <= question.weights.keys():
        return 0.0
    column = question.coverage(set(stems(cell.column.replace("_", " "))))
    others = " ".join(sentence.text[other.start : other.end] for other in row if other is not cell)
    said = question.coverage(set(stems(f"{sentence.section.title} {sentence.section.heading} {others}")))
    read = sentence.span is not None and sentence.start + cell.start <= sentence.span.start < sentence.start + cell.end
    is_type = question.answer_type is not None and question.is_answer_type_in(value)
    return min(1.0, 0.4 * min(1.0, column + said) + 0.3 * (column > 0) + 0.2 * read + 0.1 * is_type)
