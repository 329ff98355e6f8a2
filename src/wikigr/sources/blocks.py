"""Blocks of a source: parts of a file that several processes or machines can read at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from wikigr.sources.article import Source


class Block(NamedTuple):
    """The bytes from ``start`` to ``end`` of the file with the absolute path ``path``, which have ``records`` records.

    ``first_line`` is the number of the first line, counted from 1, in formats that consist of lines.
    """

    path: str
    start: int
    end: int
    records: int
    first_line: int = 1


@runtime_checkable
class BlockSource(Source, Protocol):
    """A source that may consist of blocks. All blocks in order have the records of ``records`` in order."""

    def blocks(self) -> Sequence[Block]:
        """Return the blocks, each directly after the one before; none if they are unknown. Raises ``SourceError``."""
        ...

    def read_block(self, block: Block) -> Iterator[Any]:
        """Yield the records of one block, or of adjacent ones that were merged. Raises ``SourceError``."""
        ...


def merge_blocks(blocks: Sequence[Block], size: int) -> list[Block]:
    """Return ``blocks`` with adjacent ones merged until each has at least ``size`` bytes; the last may be smaller."""
    merged: list[Block] = []
    for block in blocks:
        last = merged[-1] if merged else None
        if last is None or last.end - last.start >= size:
            merged.append(block)
        else:
            merged[-1] = last._replace(end=block.end, records=last.records + block.records)
    return merged
