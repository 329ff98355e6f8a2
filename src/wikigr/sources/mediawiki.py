"""Read MediaWiki XML exports: pages-articles dumps and the output of Special:Export."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from mwparserfromhell.parser import ParserError
from mwxml import Dump, Page
from mwxml.element_iterator import ElementIterator, EventPointer
from mwxml.errors import MalformedXML

from wikigr.errors import RecordError, SourceError
from wikigr.sources.article import Dropped, Redirect, Skipped, SourceArticle, SourceItem
from wikigr.sources.streams import open_bytes
from wikigr.sources.wikitext.page import WikiSite, parse_wikitext

_REDIRECT = re.compile(r"\s*#\s*redirect(?:ion)?\s*:?\s*\[\[([^\]|\n]+)", re.IGNORECASE)

# mwxml raises all but the first two when a required element is missing, empty or not a number.
_MALFORMED = (ParseError, MalformedXML, AssertionError, TypeError, ValueError, AttributeError)

# MediaWiki stores at most 16 MiB of text per revision; anything far larger is broken or hostile.
_MAX_ELEMENT_MIB = 64
_MAX_TAGS = 1_000_000
_LANGUAGE_ATTRIBUTE = "{http://www.w3.org/XML/1998/namespace}lang"
_LANGUAGE = re.compile(rb"<mediawiki\b[^>]*\sxml:lang=[\"']([A-Za-z]{2,3})\b")


@dataclass(frozen=True, slots=True)
class WikiRecord:
    """One page of the export; ``redirect`` is the target as the export states it.

    ``text`` is empty for pages outside the main namespace.
    """

    page_id: str
    title: str
    namespace: int
    redirect: str | None
    revision: str
    model: str | None
    text: str
    site: WikiSite

    @property
    def where(self) -> str:
        return f"page {self.title!r}"


class MediaWikiSource:
    """The pages of an export, plain or compressed; ``source_id`` is the page id.

    Redirects become aliases. Pages in other namespaces, disambiguation pages and pages in other content models than
    wikitext are skipped. Of a full history, the last revision in the file is read.
    """

    format = "mediawiki"

    def __init__(self, path: Path) -> None:
        self.path = Path(path)

    def records(self) -> Iterator[WikiRecord]:
        """Yield one record per page, in the order of the export.

        Raises ``SourceError`` when the file is missing, truncated, damaged, not a MediaWiki export or not UTF-8, the
        only encoding that MediaWiki writes.
        """
        pages = 0
        try:
            with open_bytes(self.path) as stream:
                for record in self._read(iter(lambda: stream.read(1 << 20), b"")):
                    yield record
                    pages += 1
        except SourceError as error:
            raise SourceError(f"{error.message} {_progress(pages)}", hint=error.hint) from error
        except _MALFORMED as error:
            raise self._malformed(error, _progress(pages)) from error

    def stated_language(self) -> str | None:
        """Return the code of the language in the head of the export, if it has one."""
        with open_bytes(self.path) as stream:
            found = _LANGUAGE.search(stream.read(4_096))
        return found[1].decode() if found is not None else None

    def parse(self, record: WikiRecord) -> Iterator[SourceItem]:
        """Turn one page into an article or a redirect; raises ``RecordError`` where the parser fails."""
        if record.namespace != 0:
            yield Skipped(record.page_id, "other namespace")
            return
        # Exports from before 2008 do not mark redirects.
        match = _REDIRECT.match(record.text) if record.redirect is None else None
        target = match[1] if match else record.redirect
        if target is not None and (title := record.site.title(target)):
            yield Redirect(record.title, title)
            return
        if record.model not in (None, "wikitext"):
            yield Skipped(record.page_id, "no wikitext")
            return
        where = f"{self.path}, page {record.title!r}"
        try:
            page = parse_wikitext(record.text, record.title, record.site)
        except RecursionError as error:
            raise RecordError(where, "its markup is nested too deeply") from error
        except ParserError as error:
            raise RecordError(where, f"cannot parse its markup: {error}") from error
        if page.is_disambiguation or record.title.endswith("(disambiguation)"):
            yield Skipped(record.page_id, "disambiguation page")
        else:
            base, path = record.site.page_url, quote(record.title.replace(" ", "_"), safe="/:@!$*(),;~'")
            yield SourceArticle(
                title=record.title,
                source_id=record.page_id,
                sections=page.sections,
                links=page.links,
                categories=page.categories,
                url=base + path if base else "",
                revision=record.revision,
                triples=page.triples,
            )
            if page.dropped:
                yield Dropped(page.dropped)

    def _read(self, export: Iterator[bytes]) -> Iterator[WikiRecord]:
        pointer = EventPointer(self._events(export))
        _, element = next(pointer)
        root = ElementIterator(element, pointer)
        if root.tag != "mediawiki":
            raise SourceError(
                f"{self.path} is XML but not a MediaWiki export: its root element is <{root.tag}>.",
                hint="Use the pages-articles file of a dump or the output of Special:Export.",
            )
        try:
            dump = Dump.from_element(root)
        except MalformedXML as error:
            if "<siteinfo>" not in str(error):
                raise
            raise SourceError(
                f"{self.path} is a MediaWiki export without <siteinfo>, which lists the wiki's namespaces.",
                hint="Export the pages again, or insert that wiki's <siteinfo> before the first <page>.",
            ) from error
        site = _site(dump.site_info, root.attr(_LANGUAGE_ATTRIBUTE) or "")
        for page in dump.pages:
            yield _record(page, site)
            # mwxml empties the pages it has read but keeps them in the tree, which would grow with the dump.
            root.element.clear()

    def _events(self, export: Iterator[bytes]) -> Iterator[tuple[str, Element]]:
        """Yield the start and end events; raises ``SourceError`` when an element is larger than any real one."""
        parser: XMLPullParser[Any] = XMLPullParser(("start", "end"))
        depth = size = tags = 0
        # The parser rescans an unfinished tag with every chunk, so chunks are large.
        for data in export:
            parser.feed(data)
            size += len(data)
            for event, element in cast(Iterator[tuple[str, Element]], parser.read_events()):
                tags += 1
                depth += 1 if event == "start" else -1
                if depth <= 2:  # a page ends
                    size = tags = 0
                yield event, element
            if size > _MAX_ELEMENT_MIB << 20 or tags > _MAX_TAGS:
                raise SourceError(
                    f"Cannot read {self.path} as a MediaWiki export: one of its elements contains more than "
                    f"{_MAX_ELEMENT_MIB} MiB or {_MAX_TAGS:,} tags, far beyond what a wiki writes.",
                    hint="Download or copy the file again and compare its size.",
                )
        parser.close()
        yield from cast(Iterator[tuple[str, Element]], parser.read_events())

    def _malformed(self, error: Exception, place: str) -> SourceError:
        if isinstance(error, ParseError):
            reason = str(error)
            if "no element found" in reason or "unclosed token" in reason:
                reason = f"the XML is incomplete ({reason}), so the file is truncated"
            elif "invalid token" in reason:
                reason = f"it contains a byte that is not UTF-8, or a stray character ({reason})"
        else:
            reason = str(error) or "a required element is missing"
        return SourceError(
            f"Cannot read {self.path} as a MediaWiki export: {reason}. {place}",
            hint="Download or copy the file again and compare its size.",
        )


def _progress(pages: int) -> str:
    return f"{pages:,} pages were read before the error."


def _site(info: Any, language: str) -> WikiSite:
    base = info.base or ""
    # The base is the main page's URL: ".../wiki/Main_Page" or ".../index.php?title=Main_Page".
    cut = max(base.rfind("/"), base.rfind("=")) + 1
    return WikiSite(
        namespaces={name.name.lower(): int(name.id) for name in info.namespaces or () if name.name},
        first_letter=info.case != "case-sensitive",
        page_url=base[:cut],
        language=language.lower().partition("-")[0],
    )


def _record(page: Page, site: WikiSite) -> WikiRecord:
    last = None
    if page.namespace == 0:
        for revision in page:
            last = revision
    revision, model, text = ("", None, "") if last is None else (str(last.id), last.model, last.text or "")
    return WikiRecord(str(page.id), page.title, page.namespace, page.redirect, revision, model, text, site)
