"""Read the documents below a folder, each with the converter of its format."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import cast

from wikigr.errors import RecordError, SourceError
from wikigr.sources.article import Names, RawDocument, Skipped, SourceArticle, SourceItem
from wikigr.sources.bylines import language_in_folder
from wikigr.sources.documents import INDEX_NAMES, Converter, NoteRecord, Notes, NoteText, check_length
from wikigr.sources.formats import FOLDER, converted_formats, format_named
from wikigr.sources.source_files import Folder
from wikigr.sources.streams import stem
from wikigr.text import fold


class FolderSource:
    """Documents below a folder, or one document; the path relative to the folder is the ``source_id``.

    ``format_name`` is the only format that is read, or ``folder`` for all that have a converter. The title is the one
    that a document gives itself, otherwise the file's name. Links between the documents are resolved.
    """

    def __init__(self, path: Path, format_name: str = FOLDER, *, follow_links: bool = False) -> None:
        self.path = Path(path)
        self.format = format_name
        self._folder = Folder(self.path, format_named(format_name), follow_links=follow_links)

    def documents(self) -> Iterator[RawDocument]:
        """Yield the readable documents, sorted by path."""
        for source_id in self._folder.source_ids():
            with suppress(SourceError):  # ``records`` reports the error
                yield RawDocument(source_id, self._folder.read(source_id))

    def scan(self, document: RawDocument) -> Names:
        """Return the names in one document quickly; raises ``RecordError`` as ``parse`` does."""
        return self._converter(document.source_id, document.data).scan(document)

    def records(self, scanned: Iterable[tuple[str, Names | RecordError]] | None = None) -> Iterator[NoteRecord]:
        """Yield one record per file, sorted by path; every file is read twice, because titles must be unique."""
        source_ids = self._folder.source_ids()
        names, errors = self._names(scanned)
        titles = unique_titles({source_id: names[source_id].title or stem(source_id) for source_id in source_ids})
        stems = Counter(fold(stem(source_id)) for source_id in source_ids)

        def file_alias(source_id: str) -> str:
            name = stem(source_id)
            is_name = stems[fold(name)] == 1 and name.casefold() not in INDEX_NAMES
            return name if is_name and fold(name) != fold(titles[source_id]) else ""

        aliases = {source_id: file_alias(source_id) for source_id in source_ids}
        notes = Notes(
            source_ids,
            [*titles.values(), *aliases.values(), *(alias for own in names.values() for alias in own.aliases)],
            format_named(FOLDER).suffixes,
            titles={source_id: names[source_id].title for source_id in source_ids},
            labels={
                label: (source_id, heading) for source_id in source_ids for label, heading in names[source_id].labels
            },
        )
        for source_id in source_ids:
            data, error = self._read(source_id, errors)
            yield NoteRecord(source_id, data, titles[source_id], aliases[source_id], error, notes)

    def parse(self, record: NoteRecord) -> Iterator[SourceItem]:
        """Turn one file into an article; raises ``RecordError`` with the file and, if known, the line."""
        if record.error is not None:
            raise record.error
        if record.instead:
            yield from record.instead
            return
        note = self._note(record)
        yield from note.bad_parts
        check_length(record.source_id, record.data, sum(len(section.text) for section in note.sections))
        if not note.sections:
            yield Skipped(record.source_id, note.reason)
            return
        aliases = (*note.aliases, record.alias)
        yield SourceArticle(
            title=record.title,
            source_id=record.source_id,
            sections=note.sections,
            links=note.links,
            categories=note.categories,
            aliases=tuple(dict.fromkeys(name for name in aliases if name and fold(name) != fold(record.title))),
            url=note.url,
            triples=note.triples,
        )

    def stated_language(self) -> str | None:
        """Return the code of the language that most files state, if they do."""
        return language_in_folder(self._folder)

    def _note(self, record: NoteRecord) -> NoteText:
        return self._converter(record.source_id, record.data).parse_note(record)

    def _converter(self, source_id: str, data: bytes) -> Converter:
        """Return what reads a document: the only converter, or the one that its content or its suffix asks for."""
        rows = converted_formats(self.format)
        by_content = (row for row in rows if row.content_decides and row.sniff is not None and row.sniff(data))
        row = rows[0] if len(rows) == 1 else next(by_content, None)
        row = row or next(row for row in rows if row.has_suffix(source_id))
        module, _, name = row.converter.partition(":")
        return cast(Converter, getattr(import_module(module), name)())

    def _names(
        self, scanned: Iterable[tuple[str, Names | RecordError]] | None
    ) -> tuple[defaultdict[str, Names], dict[str, RecordError]]:

        def scan(document: RawDocument) -> Names | RecordError:
            try:
                return self.scan(document)
            except RecordError as error:
                return error

        found = dict(((one.source_id, scan(one)) for one in self.documents()) if scanned is None else scanned)
        errors = {source_id: error for source_id, error in found.items() if isinstance(error, RecordError)}
        names = {source_id: own for source_id, own in found.items() if isinstance(own, Names)}
        return defaultdict(Names, names), errors

    def _read(self, source_id: str, errors: Mapping[str, RecordError]) -> tuple[bytes, RecordError | None]:
        if source_id in errors:
            return b"", errors[source_id]
        try:
            return self._folder.read(source_id), None
        except SourceError as error:
            return b"", RecordError(source_id, error.message)


def unique_titles(titles: Mapping[str, str]) -> dict[str, str]:
    """Return the titles by ``source_id``, with the path in parentheses after each title that is not unique."""
    uses = Counter(fold(title) for title in titles.values())
    return {
        source_id: title if uses[fold(title)] == 1 else f"{title} ({source_id})" for source_id, title in titles.items()
    }
