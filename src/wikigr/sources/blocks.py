"""Blocks of a source: byte ranges that can be read independently, on several machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from wikigr.sources.article import SourceItem

# A block is large enough that starting to read it costs little, and a source has enough blocks to keep workers busy.
_MIN_BYTES = 1 << 20
_MAX_BYTES = 32 << 20
_BLOCKS = 64


class Block(NamedTuple):
    """The bytes from ``start`` to ``end`` of the file with the absolute path ``path``.

    ``first_line`` is the number of the first line, counted from 1. ``header`` is the number of bytes at the beginning
    of the file that every block needs.
    """

    path: str
    start: int
    end: int
    first_line: int = 1
    header: int = 0


@runtime_checkable
class SplittableSource(Protocol):
    """A source that can be read in blocks. All blocks in order have the records of ``records`` in order."""

    format: str

    def blocks(self) -> Sequence[Block] | None:
        """Return the blocks of the input, or ``None`` if this input cannot be split; raises ``SourceError``."""
        ...

    def block_records(self, block: Block) -> Iterator[Any]:
        """Yield the records of one block; raises ``SourceError``."""
        ...

    def records(self) -> Iterator[Any]: ...

    def parse(self, record: Any) -> Iterator[SourceItem]: ...


def block_bytes(size: int) -> int:
    """Return the size of the blocks of a file of ``size`` bytes."""
    return max(_MIN_BYTES, min(_MAX_BYTES, size // _BLOCKS))
