"""Splits of a source: parts of a file that several processes or machines can read at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from wikigr.sources.article import Source


class FileSplit(NamedTuple):
    """The bytes from ``start`` to ``end`` of the file with the absolute path ``path``, which have ``records`` records.

    ``first_line`` is the number of the first line, counted from 1, in formats that consist of lines.
    """

    path: str
    start: int
    end: int
    records: int
    first_line: int = 1


@runtime_checkable
class SplittableSource(Source, Protocol):
    """A source that may consist of splits. All splits in order have the records of ``records`` in order."""

    def splits(self) -> Sequence[FileSplit]:
        """Return the splits, each directly after the one before; none if they are unknown. Raises ``SourceError``."""
        ...

    def read_split(self, split: FileSplit) -> Iterator[Any]:
        """Yield the records of one split, or of adjacent ones that were merged. Raises ``SourceError``."""
        ...


def merge_splits(splits: Sequence[FileSplit], size: int) -> list[FileSplit]:
    """Return ``splits`` with adjacent ones merged until each has at least ``size`` bytes; the last may be smaller."""
    merged: list[FileSplit] = []
    for split in splits:
        last = merged[-1] if merged else None
        if last is None or last.end - last.start >= size:
            merged.append(split)
        else:
            merged[-1] = last._replace(end=split.end, records=last.records + split.records)
    return merged
