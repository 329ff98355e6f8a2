"""Read a folder of HTML pages, or one page."""

from __future__ import annotations

import hashlib
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from wikigr.errors import RecordError
from wikigr.sources.article import Names, RawDocument, Redirect, Skipped
from wikigr.sources.documents import NoteRecord, Notes, NoteText, Pages, resolve_link
from wikigr.sources.folder import FolderSource, unique_titles
from wikigr.sources.formats import format_named
from wikigr.sources.html.document import HtmlDocument
from wikigr.sources.html.head import find_heading, find_redirect, find_title
from wikigr.sources.html.text import HtmlPage, parse_html, state_infoboxes
from wikigr.sources.streams import stem
from wikigr.text import fold

SUFFIXES = format_named("html").suffixes

# Index and search pages that Sphinx, DocBook and Javadoc generate.
_INDEX_NAMES = ("genindex", "py-modindex", "modindex", "bookindex", "index-all", "allclasses", "ix01")
_SEARCH_NAMES = ("search", "searchresults", "search-results")


class HtmlSource(FolderSource):
    """HTML pages below a folder, or one page; the path relative to the folder is the ``source_id``.

    Links are resolved to such ids. A page without categories gets its folder's name as category. Pages that only
    list links and duplicates of earlier pages are skipped.
    """

    def __init__(self, path: Path, format_name: str = "html", *, follow_links: bool = False) -> None:
        super().__init__(path, format_name, follow_links=follow_links)
        self._digests: dict[str, bytes] = {}

    def documents(self) -> Iterator[RawDocument]:
        for document in super().documents():
            self._digests[document.source_id] = hashlib.sha256(document.data).digest()
            yield document

    def records(self, scanned: Iterable[tuple[str, Names | RecordError]] | None = None) -> Iterator[NoteRecord]:
        """Yield one record per file, sorted by path; every file is read twice, because titles must be unique."""
        source_ids = self._folder.source_ids()
        names, errors = self._names(scanned)
        titles = {source_id: found.title or stem(source_id) for source_id, found in names.items()}
        headings = {source_id: found.heading for source_id, found in names.items()}
        # The first page with the same bytes, for each copy of one that is not a redirect.
        first_with: dict[bytes, str] = {}
        pages = (source_id for source_id, found in names.items() if found.redirect is None)
        firsts = {source_id: first_with.setdefault(self._digests[source_id], source_id) for source_id in pages}
        originals = {source_id: first for source_id, first in firsts.items() if first != source_id}
        redirects = _redirects(names, Pages(source_ids, SUFFIXES))
        # Only pages that become articles compete for a title.
        articles = {key: title for key, title in titles.items() if key not in originals and key not in redirects}
        own_names = _replace_shared_titles(articles, headings)
        # Pages that are named by a heading do not change the titles of the others.
        kept = {source_id: name for source_id, name in own_names.items() if name == titles[source_id]}
        titles |= unique_titles(own_names) | unique_titles(kept)
        notes = Notes(source_ids, suffixes=SUFFIXES, titles=own_names)
        for source_id in source_ids:
            data, error = self._read(source_id, errors)
            instead: tuple[Redirect | Skipped, ...] = ()
            if source_id in originals:
                instead = Skipped(source_id, "duplicate page"), Redirect(source_id, titles[originals[source_id]])
            elif source_id in redirects:
                target = _end_of_chain(source_id, redirects)
                title = titles.get(originals.get(target, target), "")
                instead = (Redirect(source_id, title) if title else Skipped(source_id, "redirect to nowhere"),)
            title = titles.get(source_id, source_id)
            yield NoteRecord(source_id, data, title, error=error, notes=notes, instead=instead)

    def _note(self, record: NoteRecord) -> NoteText:
        page = _page(record)
        if reason := _reason_to_skip(record.source_id, page):
            return NoteText((), reason=reason)
        note = _as_note(page, record)
        folder = posixpath.basename(posixpath.dirname(record.source_id))
        return replace(note, categories=note.categories or ((folder,) if folder else ()))


def _redirects(names: Mapping[str, Names], pages: Pages) -> dict[str, str]:
    redirects: dict[str, str] = {}
    for source_id, found in names.items():
        if found.redirect is not None:
            target = resolve_link(source_id, found.redirect.partition("#")[0], SUFFIXES, pages)
            if target is not None or "://" in found.redirect or found.redirect.startswith("/"):
                redirects[source_id] = target or ""
    return redirects


def _end_of_chain(source_id: str, redirects: Mapping[str, str]) -> str:
    """Return the page at the end of a chain of redirects; ``""`` if it leaves the folder or is a cycle."""
    seen: set[str] = set()
    while source_id in redirects:
        if source_id in seen:
            return ""
        seen.add(source_id)
        source_id = redirects[source_id]
    return source_id


class HtmlConverter:
    """Reads a page; among other documents, all of it is an article."""

    def scan(self, document: RawDocument) -> Names:
        page = HtmlDocument(document.data, document.source_id)
        return Names(find_title(page), find_heading(page), redirect=find_redirect(page))

    def parse_note(self, record: NoteRecord) -> NoteText:
        return _as_note(_page(record), record)


def _page(record: NoteRecord) -> HtmlPage:
    return parse_html(record.data, title=record.notes.titles.get(record.source_id, ""), where=record.source_id)


def _as_note(page: HtmlPage, record: NoteRecord) -> NoteText:
    def target_of(href: str) -> str | None:
        return _resolve(record.source_id, page.base, href, record.notes.pages)

    sections, triples = state_infoboxes(record.title, page.sections, page.infoboxes, target_of)
    links = tuple(dict.fromkeys(filter(None, map(target_of, page.links))))
    return NoteText(sections, links, categories=page.categories, url=page.url, triples=triples)


def _replace_shared_titles(titles: dict[str, str], headings: dict[str, str]) -> dict[str, str]:
    """Return the titles by ``source_id``, with a page's heading instead of a title that more pages share.

    Such a title is the name of the site.
    """
    title_uses = Counter(fold(title) for title in titles.values())
    heading_uses = Counter(fold(headings[source_id]) for source_id in titles)
    return {
        source_id: heading
        if (heading := headings[source_id]) and heading_uses[fold(heading)] < title_uses[fold(title)]
        else title
        for source_id, title in titles.items()
    }


def _resolve(source_id: str, base: str, href: str, pages: Pages) -> str | None:
    """Return the ``source_id`` that ``href`` leads to on a page whose ``<base>`` is ``base``."""
    try:
        site, own = urlsplit(base), urlsplit(href)
    except ValueError:
        return None
    if not base or own.scheme or own.netloc or own.path.startswith("/"):
        return resolve_link(source_id, href, SUFFIXES, pages)
    if site.scheme or site.netloc:
        return None
    # The source folder is taken to be the root of the site.
    root = "../" * source_id.count("/") if site.path.startswith("/") else ""
    address = posixpath.join(root + posixpath.dirname(site.path).lstrip("/"), href)
    return resolve_link(source_id, address, SUFFIXES, pages)


def _reason_to_skip(source_id: str, page: HtmlPage) -> str | None:
    name = stem(source_id).casefold()
    characters = sum(len(section.text) for section in page.sections)
    # In characters of text that is not part of a link.
    prose = characters * (1 - page.link_density)
    if (
        name.startswith(_INDEX_NAMES)
        or (name in _SEARCH_NAMES and prose < 600)
        or (prose < 150 and (page.link_density > 0.5 or page.contents_links > 0))
        or (page.link_density >= 0.8 and len(page.links) >= 100)
    ):
        return "index page"
    return None if characters else "no text"
