"""Whole lists: the items of a list with the sentence before them, and all rows of a table that a question names."""

from __future__ import annotations

from collections.abc import Iterator

from wikigr.answer.candidates.blocks import MAX_CHARS, Block, bulleted_blocks, cells, numbered_blocks
from wikigr.answer.candidates.candidate import AnswerCandidate, Material, Quotation
from wikigr.answer.sentences import SentenceScore
from wikigr.index.candidate import Section
from wikigr.index.lexical import stems

# Lists that compete, those of the best sections first.
_MAX_LISTS = 8
# Characters of the sentence before a list that is quoted with it.
_MAX_INTRODUCTION = 300
_MAX_ROWS = 12
# A row is of the kind that the question names if one of its values says nothing else than that ("category: stoves").
_MAX_KIND_WORDS = 3


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
    said = f"{section.title} {section.heading}"
    before = [s for s in material.by_section.get(section.section_id, ()) if s.start < block.start]
    if before and block.start - before[-1].end <= 3 and block.end - before[-1].start <= MAX_CHARS:
        introduction = before[-1]
        if len(introduction.text) <= _MAX_INTRODUCTION and not _is_item(introduction):
            start = introduction.start
            said = f"{said} {introduction.text}"
    return start, material.question.coverage(set(stems(said)))


def _is_item(sentence: SentenceScore) -> bool:
    return bool(cells(sentence.text))


def find_tables(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the tables of the evidence, whole: their rows stand on lines one after the other."""
    found = 0
    for item in material.evidence:
        section = item.section
        run: list[SentenceScore] = []
        for sentence in (*material.by_section.get(section.section_id, ()), None):
            if sentence is not None and cells(sentence.text):
                run.append(sentence)
                continue
            if len(run) > 1 and run[-1].end - run[0].start <= MAX_CHARS and found < _MAX_LISTS:
                found += 1
                start, fit = _introduced(material, section, Block(run[0].start, run[-1].end, len(run)))
                yield AnswerCandidate("table", (Quotation(section, start, run[-1].end),), fit=fit)
            run = []


def find_rows(material: Material) -> Iterator[AnswerCandidate]:
    """Yield all rows of the evidence that share the value that the question names, such as all stoves of a catalog."""
    groups: dict[tuple[str, str], list[Quotation]] = {}
    asked = material.question.weights.keys()
    for item in material.evidence:
        section = item.section
        for sentence in material.by_section.get(section.section_id, ()):
            for cell in cells(sentence.text):
                value = sentence.text[cell.start : cell.end]
                named = set(stems(value))
                if named and len(named) <= _MAX_KIND_WORDS and named <= asked:
                    row = Quotation(section, sentence.start, sentence.end)
                    groups.setdefault((cell.column, value), []).append(row)
    for rows in groups.values():
        unique = list(dict.fromkeys(rows))
        if 1 < len(unique) <= _MAX_ROWS:
            fit = material.question.coverage(set(stems(" ".join(row.text for row in unique))))
            ordered = tuple(sorted(unique, key=lambda row: row.place))
            lead = f"{len(ordered)} rows: {'; '.join(map(_name_of, ordered))}."
            yield AnswerCandidate("rows", ordered, lead=lead, fit=fit)


def _name_of(row: Quotation) -> str:
    """Return the name of what a row describes: the article's title, if the row has it, or else its first value."""
    values = [row.text[cell.start : cell.end] for cell in cells(row.text)]
    return row.section.title if row.section.title in values else values[0]
