"""The registry of source formats: how to recognize each one, which class reads it, and what its links mean.

Adding a format takes one module with a reader (``article.Source``) or a converter (``documents.Converter``) and one row
in ``FORMATS``. The module imports no parser, so the command line can afford it at startup.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from wikigr.errors import UsageError
from wikigr.sources.streams import strip_compression
from wikigr.suggestions import did_you_mean, nearest

if TYPE_CHECKING:
    from wikigr.sources.article import Source

# The number of (decompressed) bytes that the sniffing functions see.
HEAD_BYTES = 64 * 1024

# The format of a folder of documents that the readers of several formats convert.
FOLDER = "folder"
# What packs of earlier releases call it.
_EARLIER_NAMES = ("notes", "mixed")
# A headerless table is recognized when this many rows have three columns.
_SNIFFED_ROWS = 10


class LinkTarget(Enum):
    """What an entry of ``SourceArticle.links`` refers to. The value describes it in the reference."""

    TITLE = "the title of another page (a number is a title too, never a page id)"
    PATH = "the path of another page, resolved from its `href`"
    NOTE = "the path of another document, or the title or alias in a `[[wiki link]]`"
    DOCUMENT = "the path of another document, or the label of a section in it"
    NONE = "none: plain text and tables have no links"
    RECORD = "the title, an alias or the `id` of another record"
    NODE = "another subject of the graph, taken from the statements about this one"


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """One format that a pack can be built from.

    ``reader`` and ``converter`` are ``module:class``, imported on first use: what reads a source of this format, and
    what reads a document of it in a folder, alone or among others. ``sniff`` gets the first ``HEAD_BYTES`` bytes of a
    file, decompressed and without a byte order mark. ``content_decides`` means that only ``sniff`` identifies the
    format, and does so whatever the file is called; for all other formats the suffix comes first.
    ``sniffs_own_suffixes`` means that ``sniff`` only chooses among formats with the same suffix. ``parses_slowly``
    marks formats whose parsing costs much more than sending a record to another process, and may depend on more than
    its size. ``companion`` marks files that often accompany others, such as ``LICENSE.txt``: they do not decide the
    format of a folder with other documents. ``packages`` are what the extra ``documents`` installs for the reader.
    """

    name: str
    description: str
    suffixes: tuple[str, ...]
    links: LinkTarget
    reader: str = "wikigr.sources.folder:FolderSource"
    converter: str = ""
    sniff: Callable[[bytes], object] | None = None
    content_decides: bool = False
    reads_folders: bool = False
    reads_stdin: bool = False
    sniffs_own_suffixes: bool = False
    parses_slowly: bool = False
    companion: bool = False
    packages: tuple[str, ...] = ()

    def has_suffix(self, name: str) -> bool:
        """Return whether the file name, without the suffix of a compression, ends like this format's."""
        return has_suffix(name, self.suffixes)

    @property
    def missing_packages(self) -> tuple[str, ...]:
        """The modules among ``packages`` that are not installed."""
        return tuple(name for name in self.packages if find_spec(name) is None)

    def open(self, location: Path | str, *, follow_links: bool = False) -> Source:
        """Return the reader for ``location``; raises ``UsageError`` if it needs packages that are not installed.

        ``follow_links`` also reads what links lead to that leave a folder.
        """
        if self.missing_packages:
            raise UsageError(
                f"Reading {self.description} needs {', '.join(self.missing_packages)}, which is not installed.",
                hint="Install it: pip install 'wikigr[documents]'",
            )
        module, _, name = self.reader.partition(":")
        options = {"format_name": self.name, "follow_links": follow_links} if self.reads_folders else {}
        source: Source = getattr(import_module(module), name)(location, **options)
        return source


def has_suffix(name: str, suffixes: tuple[str, ...]) -> bool:
    """Return whether a file name, without the suffix of a compression, has one of ``suffixes`` in any case."""
    return strip_compression(name).lower().endswith(suffixes)


# Atomic and possessive, so that no prefix is tried twice.
_PROLOGUE = rb"\s*+(?:<\?xml[^>]*+>\s*+)?+(?><!--.*?-->\s*+)*+"
_MEDIAWIKI = _PROLOGUE + rb"<mediawiki[\s>]"
_HTML = _PROLOGUE + rb"<(?:!doctype\s+html|html[\s>])"
_RDF = rb"(?>\s*+(?:#[^\n]*+\n)?+)*+(?:@prefix\s|@base\s|(?i:PREFIX)\s[^\n]*<|<[^<>\s]++>\s*<[^<>\s]++>\s)"
_JSON_OBJECT = rb'\s*\{\s*(?:"|\})'
# Only a notebook has these keys; in text that quotes one, their quotation marks are escaped.
_NOTEBOOK = rb'\s*+\{.*?(?<!\\)"(?:cell_type"\s*:\s*"(?:code|markdown|raw|heading)"|nbformat"\s*:\s*\d)'


def _begins_with(pattern: bytes, flags: int = 0) -> Callable[[bytes], object]:
    # Compiling the patterns on first use keeps the startup of the command line fast.
    return lambda head: re.match(pattern, head, flags)


def _begins_with_json_object(head: bytes) -> bool:
    import json

    line, newline, _ = head.lstrip().partition(b"\n")
    if not newline and len(head) >= HEAD_BYTES:
        # The first line is longer than the head, so only its beginning can be checked.
        return re.match(_JSON_OBJECT, line) is not None
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _has_three_columns(head: bytes) -> bool:
    """Return whether the first rows have two tabs each, as in benchmark graphs called ``train.txt``."""
    rows = head.splitlines()[:_SNIFFED_ROWS]
    if len(head) >= HEAD_BYTES and len(rows) < _SNIFFED_ROWS:
        rows = rows[:-1]
    return bool(rows) and all(row.count(b"\t") == 2 and all(map(bytes.strip, row.split(b"\t"))) for row in rows)


def _has_header(head: bytes) -> bool:
    from wikigr.sources.csv_tables import has_header

    return has_header(head[: head.rfind(b"\n")] if len(head) >= HEAD_BYTES and b"\n" in head else head)


_TABLES = (".tsv", ".tab", ".csv")
_MARKDOWN = (".md", ".markdown", ".mdx", ".mkd", ".mdown", ".qmd", ".rmd")
_RST = (".rst", ".rest")
_TEXT = (".txt", ".text")
_HTML_PAGES = (".html", ".htm", ".xhtml")
_OFFICE = (".pdf", ".epub", ".docx", ".docm", ".odt", ".pptx", ".pptm", ".xlsx", ".xlsm", ".ipynb")
_OFFICE_PACKAGES = ("pypdfium2", "lxml", "mammoth", "pptx", "openpyxl")

# Sniffing goes down this list, and so does the tie between two formats with the same number of files in a folder.
FORMATS = (
    SourceFormat(
        name="mediawiki",
        description="a MediaWiki XML export",
        suffixes=(".xml",),
        reader="wikigr.sources.mediawiki:MediaWikiSource",
        links=LinkTarget.TITLE,
        sniff=_begins_with(_MEDIAWIKI, re.DOTALL),
        content_decides=True,
        parses_slowly=True,
    ),
    SourceFormat(
        name="zim",
        description="a ZIM file",
        suffixes=(".zim",),
        reader="wikigr.sources.zim:ZimSource",
        links=LinkTarget.PATH,
        sniff=_begins_with(rb"ZIM\x04"),
        content_decides=True,
        parses_slowly=True,
    ),
    SourceFormat(
        name="markdown",
        description="a folder of Markdown notes, or one note",
        suffixes=_MARKDOWN,
        converter="wikigr.sources.markdown.source:MarkdownConverter",
        links=LinkTarget.NOTE,
        reads_folders=True,
        parses_slowly=True,
    ),
    SourceFormat(
        name="rst",
        description="a folder of reStructuredText documents, or one document",
        suffixes=_RST,
        converter="wikigr.sources.rst.source:RstConverter",
        links=LinkTarget.DOCUMENT,
        reads_folders=True,
        parses_slowly=True,
    ),
    SourceFormat(
        name="text",
        description="a folder of plain text files, or one file",
        suffixes=_TEXT,
        converter="wikigr.sources.text:TextConverter",
        links=LinkTarget.NONE,
        reads_folders=True,
        companion=True,
    ),
    SourceFormat(
        name="office",
        description="a folder of PDF, EPUB, DOCX, ODT, PPTX, XLSX and notebook files, or one file",
        suffixes=_OFFICE,
        converter="wikigr.sources.office.source:OfficeConverter",
        links=LinkTarget.DOCUMENT,
        sniff=_begins_with(rb"%PDF-|PK\x03\x04|\xd0\xcf\x11\xe0|" + _NOTEBOOK, re.DOTALL),
        content_decides=True,
        reads_folders=True,
        parses_slowly=True,
        packages=_OFFICE_PACKAGES,
    ),
    SourceFormat(
        name="html",
        description="a folder of HTML pages, or one page",
        suffixes=_HTML_PAGES,
        reader="wikigr.sources.html.source:HtmlSource",
        converter="wikigr.sources.html.source:HtmlConverter",
        links=LinkTarget.PATH,
        sniff=_begins_with(_HTML, re.DOTALL | re.IGNORECASE),
        reads_folders=True,
        parses_slowly=True,
    ),
    SourceFormat(
        name="jsonl",
        description="JSON Lines, one article or passage per line (- for standard input)",
        suffixes=(".jsonl", ".ndjson"),
        reader="wikigr.sources.jsonl:JsonlSource",
        links=LinkTarget.RECORD,
        sniff=_begins_with_json_object,
        reads_stdin=True,
    ),
    SourceFormat(
        name="rdf",
        description="an RDF graph in N-Triples or Turtle",
        suffixes=(".nt", ".ttl", ".turtle"),
        reader="wikigr.sources.rdf:RdfSource",
        links=LinkTarget.NODE,
        sniff=_begins_with(_RDF),
    ),
    SourceFormat(
        name="triples",
        description="a TSV or CSV table of subject, relation and object",
        suffixes=_TABLES,
        reader="wikigr.sources.triples:TriplesSource",
        links=LinkTarget.NODE,
        sniff=_has_three_columns,
    ),
    SourceFormat(
        name="table",
        description="a CSV or TSV table whose first row names the columns: an article per row or per table",
        suffixes=_TABLES,
        reader="wikigr.sources.csv_tables:TableSource",
        converter="wikigr.sources.csv_tables:TableConverter",
        links=LinkTarget.NONE,
        sniff=_has_header,
        sniffs_own_suffixes=True,
        companion=True,
    ),
    SourceFormat(
        name=FOLDER,
        description="a folder that mixes documents: Markdown, reStructuredText, text, HTML, office files and tables",
        suffixes=_MARKDOWN + _RST + _TEXT + _OFFICE + _HTML_PAGES + _TABLES,
        links=LinkTarget.NOTE,
        reads_folders=True,
        parses_slowly=True,
    ),
)
FORMAT_NAMES = tuple(row.name for row in FORMATS)


def format_named(name: str) -> SourceFormat:
    """Return the row of ``name``; raises ``UsageError`` for an unknown name."""
    for row in FORMATS:
        if row.name == name:
            return row
    if name in _EARLIER_NAMES:
        raise UsageError(f"The source format {name!r} is called {FOLDER!r} now.", hint=f"Use --source-format {FOLDER}.")
    by_suffix = [row.name for row in FORMATS if f".{name.lower()}" in row.suffixes]
    raise UsageError(
        f"There is no source format {name!r}. Formats: {', '.join(FORMAT_NAMES)}.",
        hint=did_you_mean(by_suffix[:1] or nearest(name, FORMAT_NAMES)),
    )


def recorded_format(name: str) -> SourceFormat | None:
    """Return the format that the manifest of a pack names; ``None`` if this release does not know it."""
    name = FOLDER if name in _EARLIER_NAMES else name
    return next((row for row in FORMATS if row.name == name), None)


def converted_formats(name: str) -> list[SourceFormat]:
    """Return the formats of the documents that a folder of the format ``name`` may hold.

    A folder of several formats is read without those that need packages that are not installed.
    """
    if name != FOLDER:
        return [row for row in FORMATS if row.converter and row.name == name]
    return [row for row in FORMATS if row.converter and not row.missing_packages]


def suffixes_read(row: SourceFormat) -> tuple[str, ...]:
    """Return the suffixes of the files that a source of the format ``row`` reads from a folder."""
    if row.name != FOLDER:
        return row.suffixes
    return tuple(suffix for part in converted_formats(FOLDER) for suffix in part.suffixes)
