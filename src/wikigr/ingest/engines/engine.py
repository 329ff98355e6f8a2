"""The protocol of the engines, which run the costly stages of a build: parsing, finding mentions and encoding.

Every engine calls the same functions (``parse_records``, ``find_targets``, ``encode_texts``), and one writer in the
process of the build stages what they return. The content of a pack therefore does not depend on the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from wikigr.embeddings.embedder import Embedder, Vectors
from wikigr.errors import RecordError
from wikigr.ingest.engines.items import parse_record
from wikigr.sources.article import Record, Source, SourceItem
from wikigr.sources.formats import FORMATS

if TYPE_CHECKING:
    from wikigr.ingest.mentions import NameMatcher

# The place of a record, and its items or its error.
Parsed = tuple[str, list[SourceItem] | RecordError]

# Formats in which parsing a record costs much more than sending it to another process.
PARSED_SLOWLY = frozenset(row.name for row in FORMATS if row.parses_slowly)

# Records sent to another process at a time.
CHUNK = 16


class Engine(Protocol):
    """Runs the stages whose cost grows with the text, on this machine or on several."""

    def parse(self, source: Source) -> Iterator[Parsed]:
        """Yield the parsed records of ``source`` in order."""
        ...

    def find_mentions(
        self, matcher: NameMatcher, articles: Iterable[tuple[int, str]]
    ) -> Iterator[tuple[int, list[int]]]:
        """Yield the number of each article and the numbers of those that its text mentions, in any order."""
        ...

    def encode(self, encoder: Embedder, texts: Iterable[tuple[bytes, str]]) -> Iterator[tuple[list[bytes], Vectors]]:
        """Encode ``texts``, each with its key; yield keys and their vectors, in any order.

        Raises ``ModelError`` if the encoder fails or returns vectors that are not finite.
        """
        ...


def parse_records(source: Source, records: Iterable[Record]) -> Iterator[Parsed]:
    """Parse ``records`` of ``source`` in this process."""
    return ((record.where, parse_record(source, record)) for record in records)
