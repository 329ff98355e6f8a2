"""Read a folder of HTML pages, or one page."""

from __future__ import annotations

import hashlib
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from wikigr.errors import RecordError
from wikigr.sources.article import Names, RawDocument, Redirect, Skipped, SourceArticle, SourceItem
from wikigr.sources.documents import NoteRecord, NoteText, Pages, resolve_link
from wikigr.sources.folder import FolderSource, unique_titles
from wikigr.sources.formats import format_named
from wikigr.sources.html.text import HtmlPage, parse_html, parse_html_head, state_infoboxes
from wikigr.sources.streams import stem
from wikigr.text import fold

SUFFIXES = format_named("html").suffixes

# Index and search pages that Sphinx, DocBook and Javadoc generate.
_INDEX_NAMES = ("genindex", "py-modindex", "modindex", "bookindex", "index-all", "allclasses", "ix01")
_SEARCH_NAMES = ("search", "searchresults", "search-results")
# In characters of text that is not part of a link.
_MIN_PROSE = 150
_MIN_PROSE_OF_SEARCH_PAGE = 600
# Link densities, 0 to 1: the share of the text that is part of a link.
_MOSTLY_LINKS = 0.5
_NEARLY_ALL_LINKS = 0.8
_MANY_LINKS = 100


@dataclass(frozen=True, slots=True)
class HtmlRecord:
    """One file; ``title`` is unique in the folder, ``error`` says why the file is unreadable.

    ``name`` is the title on the page, without what makes it unique. ``duplicate_of`` is the title of the first page
    with the same bytes. ``redirect_to`` is the title of the page that a meta refresh leads to, ``""`` if that page is
    outside the folder.
    """

    source_id: str
    data: bytes
    title: str
    name: str = ""
    duplicate_of: str | None = None
    redirect_to: str | None = None
    error: RecordError | None = None

    @property
    def where(self) -> str:
        return self.source_id


@dataclass(frozen=True, slots=True)
class _Survey:
    titles: dict[str, str]
    names: dict[str, str]
    originals: dict[str, str]
    redirects: dict[str, str]


class HtmlSource(FolderSource):
    """HTML pages below a folder, or one page; the path relative to the folder is the ``source_id``.

    Links are resolved to such ids. A page without categories gets its folder's name as category. Pages that only
    list links and duplicates of earlier pages are skipped.
    """

    def __init__(self, path: Path, format_name: str = "html", *, follow_links: bool = False) -> None:
        super().__init__(path, format_name, follow_links=follow_links)
        self._pages: Pages | None = None
        self._digests: dict[str, bytes] = {}

    def documents(self) -> Iterator[RawDocument]:
        for document in super().documents():
            self._digests[document.source_id] = hashlib.sha256(document.data).digest()
            yield document

    def records(self, scanned: Iterable[tuple[str, Names | RecordError]] | None = None) -> Iterator[HtmlRecord]:  # type: ignore[override]
        """Yield one record per file, sorted by path; every file is read twice, because titles must be unique."""
        source_ids = self._folder.source_ids()
        self._pages = Pages(source_ids, SUFFIXES)
        names, errors = self._names(scanned)
        survey = self._survey(names)
        for source_id in source_ids:
            data, error = self._read(source_id, errors)
            original = survey.originals.get(source_id)
            yield HtmlRecord(
                source_id,
                data,
                survey.titles.get(source_id, source_id),
                name=survey.names.get(source_id, ""),
                duplicate_of=survey.titles[original] if original is not None else None,
                redirect_to=self._redirect_title(source_id, survey),
                error=error,
            )

    def parse(self, record: HtmlRecord) -> Iterator[SourceItem]:  # type: ignore[override]
        """Turn one page into an article, or a moved or duplicate page into a redirect."""
        if record.error is not None:
            raise record.error
        if record.duplicate_of is not None:
            yield Skipped(record.source_id, "duplicate page")
            yield Redirect(record.source_id, record.duplicate_of)
            return
        if record.redirect_to is not None:
            if record.redirect_to:
                yield Redirect(record.source_id, record.redirect_to)
            else:
                yield Skipped(record.source_id, "redirect to nowhere")
            return
        page = parse_html(record.data, title=record.name, where=record.source_id)
        reason = _reason_to_skip(record.source_id, page)
        if reason:
            yield Skipped(record.source_id, reason)
            return

        def target_of(href: str) -> str | None:
            return _resolve(record.source_id, page.base, href, self._known_pages())

        links = map(target_of, page.links)
        sections, triples = state_infoboxes(record.title, page.sections, page.infoboxes, target_of)
        yield SourceArticle(
            title=record.title,
            source_id=record.source_id,
            sections=sections,
            links=tuple(dict.fromkeys(link for link in links if link is not None)),
            categories=page.categories or _folder_category(record.source_id),
            url=page.url,
            triples=triples,
        )

    def _known_pages(self) -> Pages:
        """Return the pages that links may lead to; a process that only parses lists the folder once."""
        if self._pages is None:
            self._pages = Pages(self._folder.source_ids(), SUFFIXES)
        return self._pages

    def _survey(self, scanned: Mapping[str, Names]) -> _Survey:
        """Find shared titles, duplicates and redirects."""
        titles = {source_id: names.title or stem(source_id) for source_id, names in scanned.items()}
        headings = {source_id: names.heading for source_id, names in scanned.items()}
        originals: dict[str, str] = {}
        redirects: dict[str, str] = {}
        first_with: dict[bytes, str] = {}
        for source_id, found in scanned.items():
            if found.redirect is None:
                original = first_with.setdefault(self._digests[source_id], source_id)
                if original != source_id:
                    originals[source_id] = original
            else:
                target = resolve_link(source_id, found.redirect.partition("#")[0], SUFFIXES, self._known_pages())
                if target is not None:
                    redirects[source_id] = target
                elif "://" in found.redirect or found.redirect.startswith("/"):
                    redirects[source_id] = ""
        # Only pages that become articles compete for a title.
        articles = {key: title for key, title in titles.items() if key not in originals and key not in redirects}
        names = _replace_shared_titles(articles, headings)
        return _Survey(titles | _unique_names(articles, names), names, originals, redirects)

    def _redirect_title(self, source_id: str, survey: _Survey) -> str | None:
        """Return the title at the end of a chain of redirects; ``""`` if it leaves the folder or is a cycle."""
        if source_id not in survey.redirects:
            return None
        seen = {source_id}
        target = survey.redirects[source_id]
        while target in survey.redirects:
            if target in seen:
                return ""
            seen.add(target)
            target = survey.redirects[target]
        return survey.titles.get(survey.originals.get(target, target), "")


class HtmlConverter:
    """Reads a page; among other documents, all of it is an article."""

    def scan(self, document: RawDocument) -> Names:
        head = parse_html_head(document.data, where=document.source_id)
        return Names(head.title, head.heading, redirect=head.is_redirect_to)

    def parse_note(self, record: NoteRecord) -> NoteText:
        page = parse_html(record.data, title=record.notes.titles.get(record.source_id, ""), where=record.source_id)
        return NoteText(page.sections, record.targets(page.links, SUFFIXES), categories=page.categories, url=page.url)


def _replace_shared_titles(titles: dict[str, str], headings: dict[str, str]) -> dict[str, str]:
    """Return the titles by ``source_id``, with a page's heading instead of a title that more pages share.

    Such a title is the name of the site.
    """
    title_uses = Counter(fold(title) for title in titles.values())
    heading_uses = Counter(fold(headings[source_id]) for source_id in titles)

    def name(source_id: str, title: str) -> str:
        heading = headings[source_id]
        return heading if heading and heading_uses[fold(heading)] < title_uses[fold(title)] else title

    return {source_id: name(source_id, title) for source_id, title in titles.items()}


def _unique_names(titles: dict[str, str], names: dict[str, str]) -> dict[str, str]:
    """Return ``names`` made unique; pages named by a heading do not change the titles of the others."""
    kept = {source_id: name for source_id, name in names.items() if name == titles[source_id]}
    return unique_titles(names) | unique_titles(kept)


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
    prose = characters * (1 - page.link_density)
    has_list_of_links = page.link_density > _MOSTLY_LINKS or page.contents_links > 0
    if (
        name.startswith(_INDEX_NAMES)
        or (name in _SEARCH_NAMES and prose < _MIN_PROSE_OF_SEARCH_PAGE)
        or (prose < _MIN_PROSE and has_list_of_links)
        or (page.link_density >= _NEARLY_ALL_LINKS and len(page.links) >= _MANY_LINKS)
    ):
        return "index page"
    return None if characters else "no text"


def _folder_category(source_id: str) -> tuple[str, ...]:
    folder = posixpath.basename(posixpath.dirname(source_id))
    return (folder,) if folder else ()
