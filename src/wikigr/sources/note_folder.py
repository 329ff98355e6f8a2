"""Read a folder of notes in a markup language: what Markdown, reStructuredText and plain text have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from wikigr.errors import RecordError, SourceError
from wikigr.sources.article import Skipped, SourceArticle, SourceItem, SourceSection
from wikigr.sources.folder import Folder, stem, unique_titles
from wikigr.sources.formats import format_named
from wikigr.sources.note_links import Notes
from wikigr.text import fold

_NO_NOTES = Notes((), ())

# File names that say nothing about the content.
_INDEX_NAMES = frozenset({"readme", "index", "_index"})


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """One file; ``title`` is unique in the folder, ``alias`` is the file's name if links may use it.

    ``problem`` says why the file is unreadable. ``notes`` resolves links; all records of a folder share it.
    """

    source_id: str
    data: bytes
    title: str
    alias: str = ""
    problem: str = ""
    notes: Notes = field(default=_NO_NOTES, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class NoteNames:
    """The names that a note gives itself; ``heading`` is the heading that its text need not repeat, or ``""``.

    ``labels`` are names of places in the note that links may use, with the headings there.
    """

    title: str = ""
    heading: str = ""
    aliases: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class NoteText:
    """The content of a parsed note."""

    sections: tuple[SourceSection, ...]
    links: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    url: str = ""


class NoteFolder(ABC):
    """Notes below a folder, or one note; the path relative to the folder is the ``source_id``.

    The title is the one that a note gives itself, otherwise the file's name.
    """

    format: ClassVar[str]
    # What messages call the files.
    kind: ClassVar[str]

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._folder = Folder(self.path, format_named(self.format).suffixes, self.kind)

    @abstractmethod
    def scan_names(self, source_id: str, data: bytes) -> NoteNames:
        """Return the names in one file quickly; raises ``RecordError`` as ``parse_note`` does."""

    @abstractmethod
    def parse_note(self, record: NoteRecord) -> NoteText:
        """Parse one file; raises ``RecordError`` with the file and, if known, the line."""

    def records(self) -> Iterator[NoteRecord]:
        """Yield one record per file, sorted by path; every file is read twice, because titles must be unique."""
        source_ids = self._folder.source_ids()
        names: dict[str, NoteNames] = {}
        for source_id in source_ids:
            try:
                names[source_id] = self.scan_names(source_id, self._folder.read(source_id))
            except SourceError:
                # ``parse`` reports the error for this record.
                names[source_id] = NoteNames()
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
            title, alias = titles[source_id], file_aliases[source_id]
            try:
                data = self._folder.read(source_id)
            except SourceError as error:
                yield NoteRecord(source_id, b"", title, problem=error.message)
            else:
                yield NoteRecord(source_id, data, title, alias, notes=notes)

    def parse(self, record: NoteRecord) -> Iterator[SourceItem]:
        """Turn one file into an article; raises ``RecordError`` with the file and, if known, the line."""
        if record.problem:
            raise RecordError(record.source_id, record.problem)
        note = self.parse_note(record)
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
