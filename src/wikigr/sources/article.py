"""What every source yields: articles with sections, and redirects. Nothing here knows a file format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class SourceSection:
    """A run of text under one heading.

    ``heading_path`` holds the headings from the top level down to this section's own, without the article's
    title; the lead section has an empty path. ``text`` is plain text: paragraphs, list items and table rows
    are separated by newlines (a blank line between paragraphs), code blocks are kept verbatim.
    """

    heading_path: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact stated as (subject, relation, object), e.g. from an infobox field.

    ``object_link`` is the link target when the object was a link, else ``None``. ``subject`` is the title of
    the article that states it, and ``line`` the line of its text that does, when there is one: the section that
    holds it is then the triple's evidence, else the article's first.
    """

    subject: str
    relation: str
    object: str
    object_link: str | None = None
    line: str = ""


@dataclass(frozen=True, slots=True)
class SourceArticle:
    """One record of a source, as plain text.

    ``source_id`` names the record in the source (page id, file path, JSONL ``id``) and is unique in it.
    Records that share a ``title`` are passages of one article, in the order in which they come. ``links`` are
    targets as the author wrote them: a title, a ``source_id`` or an alias; unresolvable ones are dropped and
    counted by the build.
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
    """``alias`` is another name of the article ``target`` (a title, or the alias of another redirect)."""

    alias: str
    target: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record left out on purpose; ``reason`` is a fixed phrase that the build counts by."""

    source_id: str
    reason: str


SourceItem = SourceArticle | Redirect | Skipped


class Source(Protocol):
    """A streaming reader of one input format.

    Reading is split in two so that a build can parse in several processes and can resume: ``records`` does
    the sequential input and is cheap, ``parse`` does the work and depends on its argument alone.
    """

    format: str

    def records(self) -> Iterator[Any]:
        """Yield raw records in a fixed order, never holding the whole input.

        Raises ``SourceError`` when the input is missing, truncated or corrupt. A record must be picklable.
        """
        ...

    def parse(self, record: Any) -> Iterable[SourceItem]:
        """Turn one raw record into articles and redirects; raises ``RecordError`` for a bad one."""
        ...
