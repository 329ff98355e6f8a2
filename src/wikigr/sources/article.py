"""The types that every source yields: articles with sections, redirects and skipped records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from wikigr.sources.block import Block, cut_blocks, fill_paragraphs, shift_blocks

if TYPE_CHECKING:
    from wikigr.errors import RecordError


@dataclass(frozen=True, slots=True)
class SourceSection:
    """The text under one heading.

    ``heading_path`` holds the headings from the top level down to this section's heading, without the article's
    title; it is empty for the lead section. ``text`` is plain text: newlines separate list items and table rows, a
    blank line separates paragraphs, and code blocks are verbatim. ``is_navigation`` marks short text that consists of
    links. ``anchor`` is what follows ``#`` in the address of the section, ``""`` for the top of the document.
    ``blocks`` are the blocks of ``text`` without the paragraphs of depth 0, which ``fill_paragraphs`` adds.
    """

    heading_path: tuple[str, ...]
    text: str
    is_navigation: bool = False
    anchor: str = ""
    blocks: tuple[Block, ...] = ()

    def cut(self, start: int, end: int) -> SourceSection:
        """Return this section with ``text[start:end]``."""
        if not self.blocks:
            return replace(self, text=self.text[start:end])
        blocks = fill_paragraphs(self.text, self.blocks)
        return replace(self, text=self.text[start:end], blocks=cut_blocks(self.text, blocks, start, end))

    def trimmed(self) -> SourceSection:
        """Return this section without blank lines at the start and white space at the end of the text."""
        start = len(self.text) - len(self.text.lstrip("\n"))
        end = max(start, len(self.text.rstrip()))
        return self if (start, end) == (0, len(self.text)) else self.cut(start, end)

    def followed_by(self, following: SourceSection) -> SourceSection:
        """Return this section with the text of ``following`` after its own and a blank line."""
        first = self.trimmed()
        text = f"{first.text}\n\n"
        blocks = shift_blocks(following.blocks, len(text))
        return replace(first, text=text + following.text, blocks=first.blocks + blocks)


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact stated as (subject, relation, object), e.g. by an infobox field.

    ``subject`` is the title of the article that states the fact. ``object_link`` is the link target when the object
    is a link. ``line`` is the line of the article's text that states the fact: the section that contains it becomes
    the evidence, otherwise the article's first section does.
    """

    subject: str
    relation: str
    object: str
    object_link: str | None = None
    line: str = ""


@dataclass(frozen=True, slots=True)
class SourceArticle:
    """One record of a source, as plain text.

    ``source_id`` identifies the record within the source (page id, file path, JSONL ``id``). Records with the same
    ``title`` are passages of one article, in input order. ``links`` are targets as the author wrote them: a title, a
    ``source_id`` or an alias. The build drops and counts links that it cannot resolve.
    """

    title: str
    source_id: str
    sections: tuple[SourceSection, ...]
    links: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    url: str = ""
    revision: str = ""
    triples: tuple[Triple, ...] = ()


@dataclass(frozen=True, slots=True)
class Redirect:
    """``alias`` is another name of the article ``target``, which is a title or another redirect's alias."""

    alias: str
    target: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that was left out on purpose; the build counts skipped records by ``reason``, a fixed phrase."""

    source_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class BadPart:
    """A part of a record that could not be read although the rest could; the build treats it like a bad record.

    ``where`` names the part for the user (``manual.pdf, page 7``), and ``reason`` says what is wrong with it. A part
    that ``is_lost``, such as a chapter that an e-book lacks, is only named: nobody can fix it.
    """

    where: str
    reason: str
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Dropped:
    """Templates of a record whose text is missing, by name, with the number of calls; the build adds them up."""

    templates: tuple[tuple[str, int], ...]


SourceItem = SourceArticle | Redirect | Skipped | BadPart | Dropped


class Shared:
    """An object that many records refer to; a parser process gets it once."""


class Record(Protocol):
    """One raw record of a source; it can be pickled, and ``where`` names it in messages."""

    @property
    def where(self) -> str: ...


class Source(Protocol):
    """A streaming reader of one input format.

    Reading has two steps so that a build can parse in several processes and can resume: ``records`` reads the input
    sequentially and is cheap; ``parse`` does the expensive work and depends only on its argument.
    """

    format: str

    def records(self) -> Iterator[Any]:
        """Yield every record, a picklable ``Record``, in a fixed order without holding the whole input in memory.

        Raises ``SourceError`` when the input is missing, truncated or corrupt.
        """
        ...

    def parse(self, record: Any) -> Iterable[SourceItem]:
        """Turn one raw record into articles and redirects; raises ``RecordError`` for a bad record."""
        ...


@dataclass(frozen=True, slots=True)
class RawDocument:
    """One file of a folder as it was read, before its names are known."""

    source_id: str
    data: bytes

    @property
    def where(self) -> str:
        return self.source_id


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a document gives itself; ``heading`` is the heading that its text need not repeat, or ``""``.

    ``labels`` are names of places in the document that links may use, with the headings there. ``redirect`` is the
    ``href`` that a page has moved to.
    """

    title: str = ""
    heading: str = ""
    aliases: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    redirect: str | None = None


@runtime_checkable
class ScannedSource(Source, Protocol):
    """A source that must know the names in all documents before it yields its records."""

    def documents(self) -> Iterator[RawDocument]:
        """Yield the readable documents, sorted by path; raises ``SourceError`` if there is none."""
        ...

    def scan(self, document: RawDocument) -> Names:
        """Return the names in one document; raises ``RecordError`` as ``parse`` does."""
        ...

    def records(self, scanned: Iterable[tuple[str, Names | RecordError]] | None = None) -> Iterator[Any]:
        """Yield every record; ``scanned`` has the names in each document, which otherwise are read in this process."""
        ...
