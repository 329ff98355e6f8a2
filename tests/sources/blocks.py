"""The blocks of a section in a form that tests can read."""

from __future__ import annotations

from wikigr.sources.article import SourceSection
from wikigr.sources.block import fill_paragraphs


def outline(section: SourceSection) -> list[tuple[int, str, str, str]]:
    """Return depth, kind, label and text of each block; checks that they cover the text, with cells in their rows."""
    position = 0
    found = []
    for block in fill_paragraphs(section.text, section.blocks):
        assert not section.text[position : block.start].strip()
        assert position <= block.start < block.end
        for cell in (cell for row in block.rows for cell in row):
            assert block.start <= cell.start < cell.end <= block.end
        position = block.end
        found.append((block.depth, block.kind, block.label, section.text[block.start : block.end]))
    assert not section.text[position:].strip()
    return found


def table(section: SourceSection) -> list[tuple[str, ...]]:
    """Return the only table of a section: the names of its columns, then the texts of the cells of each row."""
    (block,) = (block for block in section.blocks if block.kind == "table")
    rows = [tuple(section.text[cell.start : cell.end] for cell in row) for row in block.rows]
    return [block.columns, *rows]
