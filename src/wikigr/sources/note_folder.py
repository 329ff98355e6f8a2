"""Read a folder of notes: what Markdown, reStructuredText and plain text have in common, and folders that mix them."""

from __future__ import annotations

import posixpath
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Protocol, cast
from urllib.parse import unquote

from wikigr.errors import RecordError, SourceError
from wikigr.sources.article import (
    BadPart,
    Names,
    RawDocument,
    Shared,
    Skipped,
    SourceArticle,
    SourceItem,
    SourceSection,
)
from wikigr.sources.bylines import language_in_folder
from wikigr.sources.folder import Folder, Pages, resolve_link, stem, unique_titles
from wikigr.sources.formats import format_named, strip_compression
from wikigr.text import fold

# File names that say nothing about the content.
_INDEX_NAMES = frozenset({"readme", "index", "_index"})
_SUFFIXES = format_named("mixed").suffixes
# What an href begins with whose rest is the target of a link, already resolved.
_RESOLVED = "wikigr:"


class Notes(Shared):
    """The notes of one folder; ``names`` are their titles and aliases, ``pages`` looks them up by path.

    ``titles`` are the titles that notes give themselves, by ``source_id``. ``labels`` are the places that notes name,
    each with its ``source_id`` and the heading there, or ``""``.
    """

    def __init__(
        self,
        source_ids: Sequence[str],
        names: Iterable[str],
        *,
        titles: Mapping[str, str] | None = None,
        labels: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        self.pages = Pages(source_ids, _SUFFIXES)
        self.titles = dict(titles or {})
        self.labels = dict(labels or {})
        self._names = frozenset(map(fold, names))
        self._at: dict[str, str] = {}
        self._ending_in: dict[str, str] = {}
        for source_id in sorted(source_ids, key=lambda source_id: (source_id.count("/"), source_id)):
            key = _key(source_id)
            self._at.setdefault(key, source_id)
            parts = key.split("/")
            for start in range(len(parts)):
                self._ending_in.setdefault("/".join(parts[start:]), source_id)

    def resolve(self, source_id: str, target: str) -> str:
        """Return the name or, for paths, the ``source_id`` that ``[[target]]`` on the note ``source_id`` refers to.

        Titles and aliases come first. A path, with or without suffix, may be relative to the source folder or to any
        folder in it; ``./`` and ``../`` are relative to the note. If several notes match, the one at exactly that
        path wins, then the one in this note's folder, then the one with the fewest parent folders, then the first by
        path. An unknown target is returned unchanged.
        """
        if fold(target) in self._names:
            return target
        here = posixpath.dirname(source_id)
        if target.startswith(("./", "../")):
            return self._at.get(_key(posixpath.normpath(posixpath.join(here, target))), target)
        key = _key(posixpath.normpath(target))
        if target.startswith("/"):
            return self._at.get(key.lstrip("/"), target)
        # A bare name does not imply the top folder, so a note there has no priority.
        exact = self._at.get(key) if "/" in key else None
        return exact or self._at.get(_key(posixpath.join(here, key))) or self._ending_in.get(key, target)


_NO_NOTES = Notes((), ())


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """One file; ``title`` is unique in the folder, ``alias`` is the file's name if links may use it.

    ``error`` says why the file is unreadable. ``notes`` resolves links; all records of a folder share it.
    """

    source_id: str
    data: bytes
    title: str
    alias: str = ""
    error: RecordError | None = None
    notes: Notes = field(default=_NO_NOTES, repr=False, compare=False)

    @property
    def where(self) -> str:
        return self.source_id

    def targets(self, hrefs: Iterable[str], suffixes: tuple[str, ...]) -> tuple[str, ...]:
        """Return where the links of the note lead; ``suffixes`` are those of notes, the usual one first."""
        found = (
            unquote(href.removeprefix(_RESOLVED))
            if href.startswith(_RESOLVED)
            else resolve_link(self.source_id, href, suffixes, self.notes.pages)
            for href in hrefs
        )
        return tuple(dict.fromkeys(filter(None, found)))


@dataclass(frozen=True, slots=True)
class NoteText:
    """The content of a parsed note."""

    sections: tuple[SourceSection, ...]
    links: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    url: str = ""
    bad_parts: tuple[BadPart, ...] = ()


class NoteReader(Protocol):
    """Reads single documents of a folder that may hold others too."""

    def scan(self, document: RawDocument) -> Names:
        """Return the names in one file quickly; raises ``RecordError`` as ``parse_note`` does."""
        ...

    def parse_note(self, record: NoteRecord) -> NoteText:
        """Parse one file; raises ``RecordError`` with the file and, if known, the line."""
        ...


class NoteFolder(ABC):
    """Notes below a folder, or one note; the path relative to the folder is the ``source_id``.

    The title is the one that a note gives itself, otherwise the file's name.
    """

    format: ClassVar[str]
    # What messages call the files.
    kind: ClassVar[str]

    def __init__(self, path: Path, *, follow_links: bool = False) -> None:
        self.path = Path(path)
        self._folder = Folder(self.path, format_named(self.format).suffixes, self.kind, follow_links=follow_links)

    @abstractmethod
    def scan(self, document: RawDocument) -> Names:
        """See ``NoteReader``."""

    @abstractmethod
    def parse_note(self, record: NoteRecord) -> NoteText:
        """See ``NoteReader``."""

    def documents(self) -> Iterator[RawDocument]:
        """Yield the readable documents, sorted by path."""
        for source_id in self._folder.source_ids():
            with suppress(SourceError):  # ``records`` reports the error
                yield RawDocument(source_id, self._folder.read(source_id))

    def records(self, scanned: Iterable[tuple[str, Names | RecordError]] | None = None) -> Iterator[NoteRecord]:
        """Yield one record per file, sorted by path; every file is read twice, because titles must be unique."""
        source_ids = self._folder.source_ids()
        names, errors = self._names(scanned)
        titles = unique_titles({source_id: names[source_id].title or stem(source_id) for source_id in source_ids})
        files = Counter(fold(stem(source_id)) for source_id in source_ids)
        file_aliases: dict[str, str] = {}
        for source_id in source_ids:
            name = stem(source_id)
            is_name = files[fold(name)] == 1 and name.casefold() not in _INDEX_NAMES
            file_aliases[source_id] = name if is_name and fold(name) != fold(titles[source_id]) else ""
        aliases = [alias for own in names.values() for alias in own.aliases]
        notes = Notes(
            source_ids,
            filter(None, [*titles.values(), *file_aliases.values(), *aliases]),
            titles={source_id: names[source_id].title for source_id in source_ids},
            labels={
                label: (source_id, heading) for source_id in source_ids for label, heading in names[source_id].labels
            },
        )
        for source_id in source_ids:
            data, error = self._read(source_id, errors)
            yield NoteRecord(source_id, data, titles[source_id], file_aliases[source_id], error, notes)

    def _names(
        self, scanned: Iterable[tuple[str, Names | RecordError]] | None
    ) -> tuple[defaultdict[str, Names], dict[str, RecordError]]:
        """Return the names in each document, and the errors of those that have none."""
        names: defaultdict[str, Names] = defaultdict(Names)
        errors: dict[str, RecordError] = {}
        for source_id, found in self._scanned() if scanned is None else scanned:
            if isinstance(found, RecordError):
                errors[source_id] = found
            else:
                names[source_id] = found
        return names, errors

    def _scanned(self) -> Iterator[tuple[str, Names | RecordError]]:
        for document in self.documents():
            try:
                yield document.source_id, self.scan(document)
            except RecordError as error:
                yield document.source_id, error

    def _read(self, source_id: str, errors: Mapping[str, RecordError]) -> tuple[bytes, RecordError | None]:
        """Return the bytes of a document, or why it has none."""
        if source_id in errors:
            return b"", errors[source_id]
        try:
            return self._folder.read(source_id), None
        except SourceError as error:
            return b"", RecordError(source_id, error.message)

    def stated_language(self) -> str | None:
        """Return the code of the language that most files state, if they do."""
        return language_in_folder(self._folder)

    def parse(self, record: NoteRecord) -> Iterator[SourceItem]:
        """Turn one file into an article; raises ``RecordError`` with the file and, if known, the line."""
        if record.error is not None:
            raise record.error
        note = self.parse_note(record)
        yield from note.bad_parts
        if not note.sections:
            yield Skipped(record.source_id, "no text")
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
        )


def resolved_href(target: str) -> str:
    """Return the href of a link whose target is known: a title, an alias or a ``source_id``; see ``targets``."""
    return _RESOLVED + target.replace("%", "%25").replace("#", "%23")


class MixedNotesSource(NoteFolder):
    """Markdown, reStructuredText and plain text below a folder; links between them are resolved."""

    format = "notes"
    kind = "Markdown, reStructuredText or text"

    def scan(self, document: RawDocument) -> Names:
        return self._reader(document.source_id, document.data).scan(document)

    def parse_note(self, record: NoteRecord) -> NoteText:
        return self._reader(record.source_id, record.data).parse_note(record)

    def _reader(self, source_id: str, data: bytes) -> NoteReader:
        rows = [format_named(name) for name in format_named(self.format).combines]
        by_content = (row for row in rows if row.content_decides and row.sniff is not None and row.sniff(data))
        return self._readers[next(by_content, next(row for row in rows if row.has_suffix(source_id))).name]

    @cached_property
    def _readers(self) -> dict[str, NoteReader]:
        rows = map(format_named, format_named(self.format).combines)
        return {row.name: cast(NoteReader, row.open(self.path)) for row in rows}


class MixedSource(MixedNotesSource):
    """Notes, HTML pages and office files below a folder; links between them are resolved."""

    format = "mixed"
    kind = "Markdown, reStructuredText, text, HTML or office"


def decode_note(source_id: str, data: bytes) -> str:
    """Decode a file as UTF-8, or as UTF-16 if it begins with a byte order mark of it.

    Raises ``RecordError`` with the line of invalid bytes.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise RecordError(
                source_id, f"invalid UTF-16 at byte {error.start + 1} of the file", hint="Convert the file to UTF-8."
            ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RecordError(
            f"{source_id}, line {line}",
            f"invalid UTF-8 at byte {error.start + 1} of the file (0x{data[error.start]:02x})",
            hint="Convert the file to UTF-8, for example with iconv.",
        ) from error


def decode_lines(source_id: str, data: bytes) -> list[str]:
    """Decode a file that has no other structure than its lines; raises ``RecordError`` as ``decode_note`` does.

    A file with NUL characters is refused, because it is not text.
    """
    text = decode_note(source_id, data)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise RecordError(f"{source_id}, line {line}", "the file contains a NUL character, so it is not a text file")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").split("\n")


def _key(path: str) -> str:
    """Return the form in which paths are compared: folded, without the suffix of a note."""
    path = strip_compression(path)
    suffix = next((suffix for suffix in _SUFFIXES if path.lower().endswith(suffix)), "")
    return fold(path[: len(path) - len(suffix)])
