"""Read a folder that mixes notes in several markup languages."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module

from wikigr.sources.formats import SourceFormat, format_named
from wikigr.sources.note_folder import NoteFolder, NoteNames, NoteRecord, NoteText


class MixedNotesSource(NoteFolder):
    """Markdown, reStructuredText and plain text below a folder; links between them are resolved."""

    format = "notes"
    kind = "Markdown, reStructuredText or text"

    def scan_names(self, source_id: str, data: bytes) -> NoteNames:
        return self._reader(source_id).scan_names(source_id, data)

    def parse_note(self, record: NoteRecord) -> NoteText:
        return self._reader(record.source_id).parse_note(record)

    def _reader(self, source_id: str) -> NoteFolder:
        return self._readers[next(row.name for row in _ROWS if row.has_suffix(source_id))]

    @cached_property
    def _readers(self) -> dict[str, NoteFolder]:
        return {row.name: _open(row, self) for row in _ROWS}


_ROWS = tuple(map(format_named, format_named("notes").combines))


def _open(row: SourceFormat, source: MixedNotesSource) -> NoteFolder:
    module, _, name = row.reader.partition(":")
    reader: NoteFolder = getattr(import_module(module), name)(source.path)
    return reader
