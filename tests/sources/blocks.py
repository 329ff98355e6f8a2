"""What tests say about the blocks of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wikigr.sources.article import SourceArticle, SourceSection
from wikigr.sources.block import Block, fill_paragraphs


def without_blocks(article: SourceArticle) -> SourceArticle:
    return replace(article, sections=tuple(replace(section, blocks=()) for section in article.sections))


def described(section: SourceSection) -> list[tuple[int, str, str, str]]:
    """Return the depth, kind, label and text of each block of a section; see ``check_blocks``."""
    blocks = fill_paragraphs(section.text, section.blocks)
    check_blocks(section.text, blocks)
    return [(block.depth, block.kind, block.label, section.text[block.start : block.end]) for block in blocks]


def tables(section: SourceSection) -> list[list[dict[str, str]]]:
    """Return the rows of each table of a section: the texts of the cells by the names of their columns."""
    return [
        [{block.columns[cell.column]: section.text[cell.start : cell.end] for cell in row} for row in block.rows]
        for block in section.blocks
        if block.kind == "table"
    ]


def check_blocks(text: str, blocks: Sequence[Block]) -> None:
    """Check all blocks of a text: they are in order and hold all of it, and cells lie in their rows."""
    position = 0
    for block in blocks:
        assert position <= block.start < block.end <= len(text), block
        assert not text[position : block.start].strip(), block
        assert text[block.start : block.end].strip(), block
        assert block.depth >= 0, block
        assert bool(block.rows) == (block.kind in ("table", "property")), block
        end = block.start
        for row in block.rows:
            assert row, block
            assert end <= row[0].start, block
            for cell in row:
                assert cell.column in range(len(block.columns) or 1), block
                assert row[0].start <= cell.start < cell.end <= block.end, block
                assert text[cell.start : cell.end].strip() == text[cell.start : cell.end], block
                end = max(end, cell.end)
        position = block.end
    assert not text[position:].strip()


def table(section: SourceSection) -> list[tuple[str, ...]]:
    """Return the only table of a section: the names of its columns, then the texts of the cells of each row."""
    (block,) = (block for block in section.blocks if block.kind == "table")
    rows = [tuple(section.text[cell.start : cell.end] for cell in row) for row in block.rows]
    return [block.columns, *rows]
