"""Answers in lists and tables: whole ones, the rows and the cell that a question names, and the steps of a task.

A step is an item of a numbered list, or a command of a section whose heading names the task.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from wikigr.answer.candidates.blocks import BEFORE_CODE, MAX_CHARS, Block, Cell, bulleted_blocks, cells, numbered_blocks
from wikigr.answer.candidates.candidate import AnswerCandidate, Material, Quotation, quotation_of, span_in
from wikigr.index.candidate import Section
from wikigr.question.intent import asks_yes_no
from wikigr.question.question import Question
from wikigr.retrieval.sentences import SentenceScore

# Lists that compete, those of the best sections first.
_MAX_LISTS = 8


def find_lists(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the lists of the evidence, each whole and with the sentence that introduces it."""
    found = 0
    for item in material.evidence:
        section = item.section
        for block in (*numbered_blocks(section.content), *bulleted_blocks(section.content)):
            if found == _MAX_LISTS:
                return
            found += 1
            start, fit = _introduced(material, section, block)
            yield AnswerCandidate("list", (Quotation(section, start, block.end),), fit=fit)


def _introduced(material: Material, section: Section, block: Block) -> tuple[int, float]:
    """Return where the introduction of a list begins, and how much of the question it covers."""
    start = block.start
    said = material.place_stems(section)
    before = [s for s in material.by_section.get(section.section_id, ()) if s.start < block.start]
    if before and block.start - before[-1].end <= 3 and block.end - before[-1].start <= MAX_CHARS:
        introduction = before[-1]
        if len(introduction.text) <= 300 and not material.cells(introduction):
            start = introduction.start
            said |= set(material.question.stems(introduction.text))
    return start, material.question.coverage(said)


def find_tables(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the tables of the evidence, whole: their rows stand on lines one after the other."""
    found = 0
    for item in material.evidence:
        section = item.section
        run: list[SentenceScore] = []
        for sentence in (*material.by_section.get(section.section_id, ()), None):
            if sentence is not None and material.cells(sentence):
                run.append(sentence)
                continue
            if len(run) > 1 and run[-1].end - run[0].start <= MAX_CHARS and found < _MAX_LISTS:
                found += 1
                start, fit = _introduced(material, section, Block(run[0].start, run[-1].end))
                yield AnswerCandidate("table", (Quotation(section, start, run[-1].end),), fit=fit)
            run = []


def find_rows(material: Material) -> Iterator[AnswerCandidate]:
    """Yield all rows of the evidence that share the value that the question names, such as all stoves of a catalog."""
    groups: dict[tuple[str, str], list[Quotation]] = {}
    asked = material.question.weights.keys()
    for item in material.evidence:
        section = item.section
        for sentence in material.by_section.get(section.section_id, ()):
            for cell in material.cells(sentence):
                value = sentence.text[cell.start : cell.end]
                named = set(material.question.stems(value))
                # A row is of the kind that the question names if one of its values says nothing else than that
                # ("category: stoves").
                if named and len(named) <= 3 and named <= asked:
                    row = quotation_of(sentence)
                    groups.setdefault((cell.column, value), []).append(row)
    for rows in groups.values():
        unique = list(dict.fromkeys(rows))
        if 1 < len(unique) <= 12:
            said = material.question.stems(" ".join(row.text for row in unique))
            fit = material.question.coverage(set(said))
            ordered = tuple(sorted(unique, key=lambda row: row.place))
            lead = f"{len(ordered)} rows: {'; '.join(map(_name_of, ordered))}."
            yield AnswerCandidate("rows", ordered, lead=lead, fit=fit)


def _name_of(row: Quotation) -> str:
    """Return the name of what a row describes: the article's title, if the row has it, or else its first value."""
    values = [row.text[cell.start : cell.end] for cell in cells(row.text)]
    return row.section.title if row.section.title in values else values[0]


def find_cells(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the cells whose column and row the question names best."""
    if asks_yes_no(material.question):
        return
    # The best cells of the best rows compete.
    for sentence in islice(filter(material.cells, material.sentences), 6):
        row = material.cells(sentence)
        fits = [(cell, _fit(material.question, sentence, cell, row)) for cell in row]
        for cell, fit in sorted(fits, key=lambda item: -item[1])[:2]:
            span = span_in(sentence, cell.start, cell.end)
            yield AnswerCandidate("cell", (quotation_of(sentence),), span=span, fit=fit)


def _fit(question: Question, sentence: SentenceScore, cell: Cell, row: list[Cell]) -> float:
    """Return how well the question names the column of ``cell`` and the rest of its row, in [0, 1].

    A value that the question names is not what it asks for.
    """
    value = sentence.text[cell.start : cell.end]
    if set(question.stems(value)) <= question.weights.keys():
        return 0.0
    column = question.coverage(set(question.stems(cell.column.replace("_", " "))))
    others = " ".join(sentence.text[other.start : other.end] for other in row if other is not cell)
    place = f"{sentence.section.title} {sentence.section.heading}"
    said = question.coverage(set(question.stems(f"{place} {others}")))
    read = sentence.span is not None and sentence.start + cell.start <= sentence.span.start < sentence.start + cell.end
    is_type = question.answer_type is not None and question.is_answer_type_in(value)
    return min(1.0, 0.4 * min(1.0, column + said) + 0.3 * (column > 0) + 0.2 * read + 0.1 * is_type)


def find_steps(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the numbered lists, and the runs of commands, of the best sections; each is whole."""
    for item in material.evidence[:8]:
        section = item.section
        fit = material.question.coverage(material.place_stems(section))
        numbered = list(numbered_blocks(section.content))
        for block in numbered:
            yield AnswerCandidate("steps", (Quotation(section, block.start, block.end),), fit=fit)
        commands = _commands(material, section) if not numbered else None
        if commands is not None:
            yield AnswerCandidate("commands", (commands,), fit=fit)


def _commands(material: Material, section: Section) -> Quotation | None:
    """Return the text from the first to the last sentence of a section that introduces code, or ``None``."""
    own = [s for s in material.by_section.get(section.section_id, ()) if BEFORE_CODE in s.text]
    if not own or own[-1].end - own[0].start > MAX_CHARS:
        return None
    return Quotation(section, own[0].start, own[-1].end)
