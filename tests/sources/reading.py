"""Read all of a source, as a build does."""

from __future__ import annotations

import pickle

from wikigr.errors import RecordError
from wikigr.sources.article import Source, SourceItem


def read_source(source: Source) -> tuple[list[SourceItem], list[str]]:
    """Return the items of a source whose records are sent to another process, and the messages of its bad records."""
    items: list[SourceItem] = []
    bad: list[str] = []
    for record in source.records():
        try:
            items += source.parse(pickle.loads(pickle.dumps(record)))
        except RecordError as error:
            bad.append(error.message)
    return items, bad
