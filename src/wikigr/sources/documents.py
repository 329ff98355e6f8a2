"""The documents of a folder: what a converter gets and returns, how links are resolved, and anchors of headings."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import unquote, urlsplit

from wikigr.errors import RecordError
from wikigr.sources.article import BadPart, Names, RawDocument, Redirect, Shared, Skipped, SourceSection, Triple
from wikigr.sources.encodings import decode
from wikigr.sources.streams import COMPRESSION_SUFFIXES, stem, strip_compression
from wikigr.text import fold

# What an href begins with whose rest is the target of a link, already resolved.
_RESOLVED = "wikigr:"
# Names of a folder's index page, in order of preference, without suffix and case-folded.
INDEX_NAMES = ("index", "_index", "readme")


# The text of a document may have so many characters, and as many more for each of its bytes, which may be compressed.
MIN_TEXT_LIMIT = 1_000_000
MAX_EXPANSION = 100


def check_length(where: str, data: bytes, characters: int) -> None:
    """Raise ``RecordError`` if the file ``data`` has too many characters of text for its size.

    Parts of a document may be shown again and again: strings of a workbook, merged cells, substitutions.
    """
    limit = MIN_TEXT_LIMIT + MAX_EXPANSION * len(data)
    if characters > limit:
        raise RecordError(where, f"its text expands to more than {limit:,} characters")


class Converter(Protocol):
    """Reads the documents of one format; ``formats.py`` names it. It has no state."""

    def scan(self, document: RawDocument) -> Names:
        """Return the names in one document quickly; raises ``RecordError`` as ``parse_note`` does."""
        ...

    def parse_note(self, record: NoteRecord) -> NoteText:
        """Parse one document; raises ``RecordError`` with the file and, if known, the line."""
        ...


@dataclass(frozen=True, slots=True)
class NoteText:
    """The content of a parsed document; without sections, ``reason`` says why it is left out."""

    sections: tuple[SourceSection, ...]
    links: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    url: str = ""
    bad_parts: tuple[BadPart, ...] = ()
    triples: tuple[Triple, ...] = ()
    reason: str = "no text"


class Pages:
    """The documents of a folder, looked up by link path; ``suffixes`` are those of documents."""

    def __init__(self, source_ids: Iterable[str], suffixes: tuple[str, ...]) -> None:
        self._ids = frozenset(source_ids)
        self._suffixes = suffixes
        self._indexes: dict[str, str] = {}
        names = {source_id: stem(source_id).casefold() for source_id in self._ids}
        for _, source_id in sorted(
            (INDEX_NAMES.index(name), key) for key, name in names.items() if name in INDEX_NAMES
        ):
            self._indexes.setdefault(posixpath.dirname(source_id), source_id)

    def find(self, path: str, *, is_folder: bool) -> str | None:
        """Return the document at the normalized ``path``, which may lack the suffix, or the index page of that folder.

        ``is_folder`` means that the link ends with a slash, which gives the index page priority.
        """
        index = self._indexes.get("" if path == "." else path)
        names = [path, *(path + suffix for suffix in self._suffixes)]
        names += [name + end for name in names for end in COMPRESSION_SUFFIXES]
        page = next((name for name in names if name in self._ids), None)
        return (index or page) if is_folder else (page or index)


def resolve_link(source_id: str, href: str, suffixes: tuple[str, ...], pages: Pages) -> str | None:
    """Return the ``source_id`` that an ``href`` without host on page ``source_id`` points to.

    Query and fragment are dropped. A folder stands for its index page, and a name without suffix for a page. A path
    from the root (``/guide/``) is relative to the source folder. ``suffixes`` are those of pages, the usual one first:
    of a page that ``pages`` do not have, the result is the usual name. Returns ``None`` for a link that leaves the
    folder, leads to another kind of file or stays within the page.
    """
    try:
        parts = urlsplit(href.strip())
    except ValueError:
        return None
    if parts.scheme or parts.netloc or not parts.path:
        return None
    path = unquote(parts.path)
    base = "" if path.startswith("/") else posixpath.dirname(source_id)
    target = posixpath.normpath(posixpath.join(base, path.lstrip("/")))
    if target == ".." or target.startswith("../") or "\x00" in target:
        return None
    is_folder = path.endswith(("/", "/.", "/..")) or path in (".", "..")
    page = pages.find(target, is_folder=is_folder)
    if page is not None:
        target = page
    elif is_folder:
        target = posixpath.normpath(posixpath.join(target, "index" + suffixes[0]))
    elif not posixpath.splitext(target)[1]:
        target += suffixes[0]
    elif not strip_compression(target).lower().endswith(suffixes):
        return None
    return None if target == source_id else target


class Notes(Shared):
    """The documents of one folder, which have one of ``suffixes``: ``pages`` looks them up by path.

    ``names`` are their titles and aliases, and ``titles`` those that they give themselves, by ``source_id``. ``labels``
    are the places that they name, each with its ``source_id`` and the heading there, or ``""``.
    """

    def __init__(
        self,
        source_ids: Iterable[str] = (),
        names: Iterable[str] = (),
        suffixes: tuple[str, ...] = (),
        *,
        titles: Mapping[str, str] | None = None,
        labels: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        by_depth = sorted(source_ids, key=lambda source_id: (source_id.count("/"), source_id))
        self.pages = Pages(by_depth, suffixes)
        self.titles = dict(titles or {})
        self.labels = dict(labels or {})
        self._suffixes = suffixes
        self._names = frozenset(map(fold, filter(None, names)))
        self._at: dict[str, str] = {}
        self._ending_in: dict[str, str] = {}
        for source_id in by_depth:
            key = self._key(source_id)
            self._at.setdefault(key, source_id)
            parts = key.split("/")
            for start in range(len(parts)):
                self._ending_in.setdefault("/".join(parts[start:]), source_id)

    def resolve(self, source_id: str, target: str) -> str:
        """Return the name or, for paths, the ``source_id`` that ``[[target]]`` in the document ``source_id`` refers to.

        Titles and aliases come first. A path, with or without suffix, may be relative to the source folder or to any
        folder in it; ``./`` and ``../`` are relative to the document. If several documents match, the one at exactly
        that path wins, then the one in this document's folder, then the one with the fewest parent folders, then the
        first by path. An unknown target is returned unchanged.
        """
        if fold(target) in self._names:
            return target
        here = posixpath.dirname(source_id)
        if target.startswith(("./", "../")):
            return self._at.get(self._key(posixpath.normpath(posixpath.join(here, target))), target)
        key = self._key(posixpath.normpath(target))
        if target.startswith("/"):
            return self._at.get(key.lstrip("/"), target)
        # A bare name does not imply the top folder, so a document there has no priority.
        exact = self._at.get(key) if "/" in key else None
        return exact or self._at.get(self._key(posixpath.join(here, key))) or self._ending_in.get(key, target)

    def _key(self, path: str) -> str:
        """Return the form in which paths are compared: folded, without the suffix of a document."""
        path = strip_compression(path)
        suffix = next((suffix for suffix in self._suffixes if path.lower().endswith(suffix)), "")
        return fold(path[: len(path) - len(suffix)])


_NO_NOTES = Notes()


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """One document; ``title`` is unique in the folder, ``alias`` is the file's name if links may use it.

    ``error`` says why the file is unreadable. ``notes`` resolves links; all records of a folder share it. ``instead``
    is what a moved or duplicate page is read as.
    """

    source_id: str
    data: bytes
    title: str
    alias: str = ""
    error: RecordError | None = None
    notes: Notes = field(default=_NO_NOTES, repr=False, compare=False)
    instead: tuple[Redirect | Skipped, ...] = ()

    @property
    def where(self) -> str:
        return self.source_id

    def targets(self, hrefs: Iterable[str], suffixes: tuple[str, ...]) -> tuple[str, ...]:
        """Return where the links of the document lead; ``suffixes`` are those of its kind, the usual one first."""
        found = (
            unquote(href.removeprefix(_RESOLVED))
            if href.startswith(_RESOLVED)
            else resolve_link(self.source_id, href, suffixes, self.notes.pages)
            for href in hrefs
        )
        return tuple(dict.fromkeys(filter(None, found)))


def resolved_href(target: str) -> str:
    """Return the href of a link whose target is known: a title, an alias or a ``source_id``; see ``targets``."""
    return _RESOLVED + target.replace("%", "%25").replace("#", "%23")


def decode_lines(source_id: str, data: bytes) -> list[str]:
    """Decode a file that has no other structure than its lines; raises ``RecordError`` as ``decode`` does.

    A file with NUL characters is refused, because it is not text.
    """
    text = decode(source_id, data)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise RecordError(f"{source_id}, line {line}", "the file contains a NUL character, so it is not a text file")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").split("\n")


_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


def slug_anchors() -> Callable[[str], str]:
    """Return the function from each heading of a document, in order, to its anchor on GitHub and most static sites."""
    return _numbered(lambda heading: _NOT_IN_SLUG.sub("", heading.lower()).replace(" ", "-"), "-", 1)


def wiki_anchors() -> Callable[[str], str]:
    """Return the function from each heading of a page, in order, to its anchor in MediaWiki."""
    return _numbered(lambda heading: "_".join(heading.split()), "_", 2)


def _numbered(make: Callable[[str], str], separator: str, second: int) -> Callable[[str], str]:
    """Return ``make`` with a number after anchors that are in use: ``second`` after the second one, and so on.

    Anchors that differ only in case are equal, as in MediaWiki.
    """
    # The last number tried after each anchor in use.
    numbers: dict[str, int] = {}

    def anchor_of(heading: str) -> str:
        made = anchor = make(heading)
        while anchor.lower() in numbers:
            numbers[made.lower()] += 1
            anchor = f"{made}{separator}{numbers[made.lower()]}"
        numbers[anchor.lower()] = second - 1
        return anchor

    return anchor_of
