"""Read ZIM files: Wikipedia and other sites packaged for offline reading."""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from libzim.reader import Archive, Entry

from wikigr.errors import MissingSourceError, RecordError, SourceError
from wikigr.sources.article import Redirect, Skipped, SourceArticle, SourceItem
from wikigr.sources.html.text import HtmlPage, parse_html, state_infoboxes
from wikigr.sources.plain_text import collapse_spaces
from wikigr.sources.wikitext import is_apparatus
from wikigr.text import fold

# In files made before 2021, the paths of articles begin with their namespace.
_OLD_ARTICLES = "A/"
_MAX_PAGE_BYTES = 64 * 1024 * 1024
# Offline copies of a wiki link to the original page and revision in their footer.
_PERMANENT_LINK = re.compile(rb"href=[\"'](https?://[^\"']*[?&;]oldid=(\d+)[^\"']*)[\"']")


@dataclass(frozen=True, slots=True)
class ZimRecord:
    """One entry; ``alias_of`` is the title of the entry that it redirects to or duplicates."""

    path: str
    title: str
    content: bytes = b""
    alias_of: str | None = None
    is_main_page: bool = False
    problem: str = ""

    @property
    def where(self) -> str:
        return self.path


class ZimSource:
    """The HTML pages and redirects of a ZIM file; the path of an entry is its ``source_id``.

    Links are paths too; redirects are followed, and links that leave the file are dropped. Objects of facts are
    titles. When two entries share a title, the path follows the second one's title in parentheses. A duplicate of a
    page becomes an alias.
    """

    format = "zim"

    def __init__(self, path: Path) -> None:
        self.path = Path(path)

    def records(self) -> Iterator[ZimRecord]:
        """Verify the checksum, then yield a record for each page and redirect, sorted by path.

        Raises ``SourceError`` when the file is missing, truncated or corrupt.
        """
        archive = _verified(self.path)
        main_page = _follow(archive.main_entry) if archive.has_main_entry else None
        # User content comes first; metadata and indexes follow it.
        count = archive.entry_count if archive.has_new_namespace_scheme else archive.all_entry_count
        read = 0
        try:
            for number in range(count):
                entry = archive._get_entry_by_id(number)
                if not archive.has_new_namespace_scheme and not entry.path.startswith(_OLD_ARTICLES):
                    continue
                record = _record(archive, entry, None if main_page is None else str(main_page.path))
                if record is not None:
                    yield record
                    read += 1
        except (RuntimeError, KeyError, UnicodeDecodeError) as error:
            raise SourceError(
                f"{self.path} is damaged: {error}. {read:,} pages and redirects were read before the error.",
                hint="Download or copy the file again.",
            ) from error

    def stated_language(self) -> str | None:
        """Return the code of the language in the metadata of the file, the first if there are several."""
        archive = _open(self.path)
        if "Language" not in archive.metadata_keys:
            return None
        return archive.get_metadata("Language").decode("utf-8", "replace").split(",")[0].strip() or None

    def parse(self, record: ZimRecord) -> Iterator[SourceItem]:
        """Turn one entry into an article or a redirect; the file must exist, because links are looked up in it."""
        if record.problem:
            raise RecordError(record.path, record.problem)
        if record.alias_of is not None:
            yield Redirect(record.title, record.alias_of)
            return
        page = parse_html(record.content, where=record.path)
        archive = _open(self.path)

        def title_of(href: str) -> str | None:
            target = _linked_entry(archive, record.path, href)
            return _title(archive, target) if target is not None else None

        if page.is_redirect_to:
            title = title_of(page.is_redirect_to)
            yield (
                Redirect(record.title, title) if title is not None else Skipped(record.path, "redirect to another site")
            )
            return
        if record.is_main_page and (page.link_density > 0.5 or not page.sections):
            yield Skipped(record.path, "main page")
            return
        sections = page.sections
        if b"mw-parser-output" in record.content:
            sections = tuple(section for section in sections if not any(map(is_apparatus, section.heading_path)))
        sections, triples = state_infoboxes(record.title, sections, page.infoboxes, title_of)
        targets = (_linked_entry(archive, record.path, href) for href in page.links)
        url, revision = _origin(record.content, page)
        yield SourceArticle(
            title=record.title,
            source_id=record.path,
            sections=sections,
            links=tuple(dict.fromkeys(str(target.path) for target in targets if target is not None)),
            categories=page.categories,
            url=url,
            revision=revision,
            triples=triples,
        )


def _linked_entry(archive: Archive, page: str, href: str) -> Entry | None:
    """Return the page that ``href`` on ``page`` leads to; ``None`` for the page itself and for other content."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return None
    if parts.scheme or parts.netloc or not parts.path:
        return None
    # ``urlsplit`` removes the query; question marks in titles are escaped.
    path = posixpath.normpath(posixpath.join("/", posixpath.dirname(page), unquote(parts.path)))[1:]
    entry = _entry(archive, path)
    target = _follow(entry) if entry is not None else None
    return None if target is None or target.path == page or not _is_page(target) else target


@lru_cache(maxsize=1)
def _open(path: Path) -> Archive:
    """Open the archive, once per process: parsing processes get the source as a path."""
    try:
        return Archive(path)
    except (RuntimeError, UnicodeError) as error:  # libzim's message may quote bytes of the file
        if not path.exists():
            raise MissingSourceError(f"{path} does not exist.", hint="Check the path.") from error
        reason = str(error).rstrip(".")
        raise SourceError(
            f"Cannot open {path} as a ZIM file: {reason}. The file is truncated, damaged or in another format.",
            hint="Download or copy the file again and compare its size.",
        ) from error


def _verified(path: Path) -> Archive:
    # The file may have changed since this process last opened it.
    _open.cache_clear()
    archive = _open(path)
    # A damaged cluster can decompress to wrong text without an error.
    if archive.has_checksum and not archive.check():
        raise SourceError(
            f"{path} is damaged: its checksum does not match its content.",
            hint="Download or copy the file again.",
        )
    return archive


def _record(archive: Archive, entry: Entry, main_page: str | None) -> ZimRecord | None:
    if entry.is_redirect:
        target = _follow(entry)
        if target is None or not _is_page(target):
            return None
        title = entry.title
        if fold(title) == fold(target.title):
            title = _name(entry.path, archive)
        return ZimRecord(entry.path, title, alias_of=_title(archive, target))
    if not _is_page(entry):
        return None
    original = _original_of_copy(archive, entry)
    if original is not None:
        return ZimRecord(entry.path, _name(entry.path, archive), alias_of=original.title)
    item = entry.get_item()
    title = _title(archive, entry)
    if item.size > _MAX_PAGE_BYTES:
        limit = _MAX_PAGE_BYTES // (1024 * 1024)
        return ZimRecord(entry.path, title, problem=f"the page is larger than {limit} MiB")
    return ZimRecord(entry.path, title, bytes(item.content), is_main_page=entry.path == main_page)


def _is_page(entry: Entry) -> bool:
    return entry.get_item().mimetype.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml")


def _follow(entry: Entry) -> Entry | None:
    """Return the entry at the end of a chain of redirects; ``None`` for a cycle or a chain that is too long."""
    for _ in range(10):
        if not entry.is_redirect:
            return entry
        entry = entry.get_redirect_entry()
    return None


def _entry(archive: Archive, path: str) -> Entry | None:
    # Links miss often, and a failed lookup would cost a C++ exception.
    return archive.get_entry_by_path(path) if archive.has_entry_by_path(path) else None


def _name(path: str, archive: Archive) -> str:
    """Return a path as a name: without the namespace, with spaces for underscores."""
    name = path if archive.has_new_namespace_scheme else path.removeprefix(_OLD_ARTICLES)
    return collapse_spaces(name.replace("_", " "))


def _path_of(title: str, archive: Archive) -> str:
    return ("" if archive.has_new_namespace_scheme else _OLD_ARTICLES) + title.replace(" ", "_")


def _title(archive: Archive, entry: Entry) -> str:
    title = collapse_spaces(entry.title)
    if not title:
        return _name(entry.path, archive)
    if _path_of(entry.title, archive) != entry.path and archive.has_entry_by_title(entry.title):
        first = archive.get_entry_by_title(entry.title)
        if first.path != entry.path and not first.is_redirect and _is_page(first):
            return f"{title} ({_name(entry.path, archive)})"
    return title


def _original_of_copy(archive: Archive, entry: Entry) -> Entry | None:
    """Return the page that ``entry`` duplicates, if any: some writers store a redirect as a copy of its target."""
    path = _path_of(entry.title, archive)
    if path == entry.path:
        return None
    original = _entry(archive, path)
    if original is None or original.is_redirect or original.title != entry.title or not _is_page(original):
        return None
    return original


def _origin(content: bytes, page: HtmlPage) -> tuple[str, str]:
    """Return the URL and the revision of the page on the web, ``""`` for what the page does not state."""
    match = _PERMANENT_LINK.search(content, max(0, len(content) - 4096))
    if match:
        url = html.unescape(match[1].decode("utf-8", "replace"))
        # "/wiki/Title?oldid=1" is the page's URL with the revision appended.
        plain, _, query = url.partition("?")
        return (plain if query.startswith("oldid=") else url), match[2].decode()
    return page.url, ""
