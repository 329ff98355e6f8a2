"""Which reader a source needs: as asked for, or told from the first bytes."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from wikigr.errors import SourceError, UsageError
from wikigr.sources.article import Source
from wikigr.sources.compression import STDIN, open_bytes

FORMATS = ("mediawiki", "zim", "html", "markdown", "jsonl", "triples", "rdf")

_ZIM_MAGIC = b"ZIM\x04"
_HTML_SUFFIXES = (".html", ".htm", ".xhtml")
_MARKDOWN_SUFFIXES = (".md", ".markdown")
_TABLE_SUFFIXES = (".tsv", ".tab", ".csv")
_RDF_SUFFIXES = (".nt", ".ttl", ".turtle")
_COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz")
# Rows that have to look alike before a file of another name passes for a table.
_TABLE_ROWS = 10
_HEAD_BYTES = 64 * 1024
# Atomic and possessive: what has been passed over is never tried in another way.
_PROLOGUE = rb"\s*+(?:<\?xml[^>]*+>\s*+)?+(?><!--.*?-->\s*+)*+"
_MEDIAWIKI = re.compile(_PROLOGUE + rb"<mediawiki[\s>]", re.DOTALL)
_HTML = re.compile(_PROLOGUE + rb"<(?:!doctype\s+html|html[\s>])", re.DOTALL | re.IGNORECASE)
_RDF = re.compile(rb"(?>\s*+(?:#[^\n]*+\n)?+)*+(?:@prefix\s|@base\s|(?i:PREFIX)\s[^\n]*<|<[^<>\s]++>\s*<[^<>\s]++>\s)")
_JSON_OBJECT = re.compile(rb'\s*\{\s*(?:"|\})')


def open_source(location: str | Path, format: str | None = None) -> Source:  # noqa: A002 - the option's name
    """Return the reader for ``location``: a file, a folder, or ``"-"`` for JSON Lines on standard input.

    Raises ``SourceError`` when the input is missing, unreadable or empty, and ``UsageError`` when ``format``
    is none of ``FORMATS``, the format cannot be told, or ``location`` is a pipe or device.
    """
    if format is not None and format not in FORMATS:
        raise UsageError(f"There is no source format {format!r}. Formats: {', '.join(FORMATS)}.")
    if str(location) == STDIN:
        if format not in (None, "jsonl"):
            raise UsageError(f"Standard input is read as jsonl; the {format} format needs a file or folder.")
        return _make("jsonl", STDIN)
    path = Path(location)
    if not path.exists():
        raise SourceError(f"{path} does not exist.", hint="Check the path of the source.")
    if not path.is_file() and not path.is_dir():
        # Read twice it would be empty or block: once to tell its format, and once for every build that resumes.
        raise UsageError(
            f"{path} is a pipe or a device, not a file; use - for JSON Lines on standard input.",
            hint="Write other formats to a file first.",
        )
    return _make(format or detect_format(path), path)


def detect_format(path: Path) -> str:
    """The format of an existing file or folder, one of ``FORMATS``; raises as ``open_source`` does."""
    return _detect_folder(path) if path.is_dir() else _detect_file(path)


def _make(name: str, location: str | Path) -> Source:
    # Each reader brings its parser along; only the one in use is imported.
    if name == "jsonl":
        from wikigr.sources.jsonl import JsonlSource

        return JsonlSource(location)
    path = Path(location)
    if name == "html":
        from wikigr.sources.html.source import HtmlSource

        return HtmlSource(path)
    if name == "markdown":
        from wikigr.sources.markdown.source import MarkdownSource

        return MarkdownSource(path)
    if path.is_dir():
        raise UsageError(f"{path} is a folder; the {name} format needs a file.")
    if name == "zim":
        from wikigr.sources.zim import ZimSource

        return ZimSource(path)
    if name == "triples":
        from wikigr.sources.triples import TriplesSource

        return TriplesSource(path)
    if name == "rdf":
        from wikigr.sources.rdf import RdfSource

        return RdfSource(path)
    from wikigr.sources.mediawiki import MediaWikiSource

    return MediaWikiSource(path)


def _detect_folder(path: Path) -> str:
    html = markdown = 0
    for _, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        names = [name.lower() for name in files if not name.startswith(".")]
        html += sum(name.endswith(_HTML_SUFFIXES) for name in names)
        markdown += sum(name.endswith(_MARKDOWN_SUFFIXES) for name in names)
    if not html and not markdown:
        raise SourceError(
            f"{path} has no HTML or Markdown files.", hint="For other formats give the file, not its folder."
        )
    return "html" if html > markdown else "markdown"


def _detect_file(path: Path) -> str:
    with open_bytes(path) as stream:
        head = stream.read(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf")
    if not head.strip():
        raise SourceError(f"{path} has no content.")
    if head.startswith(_ZIM_MAGIC):
        return "zim"
    if _MEDIAWIKI.match(head):
        return "mediawiki"
    name = path.name.lower()
    if name.endswith(_MARKDOWN_SUFFIXES):
        return "markdown"
    plain_name = name.removesuffix(next((end for end in _COMPRESSED_SUFFIXES if name.endswith(end)), ""))
    if plain_name.endswith(_TABLE_SUFFIXES):
        return "triples"
    if plain_name.endswith(_RDF_SUFFIXES):
        return "rdf"
    if _HTML.match(head) or name.endswith(_HTML_SUFFIXES):
        return "html"
    if _begins_with_json_object(head) or any(part in name for part in (".jsonl", ".ndjson")):
        return "jsonl"
    if _RDF.match(head):
        return "rdf"
    if _has_three_columns(head):
        return "triples"
    raise UsageError(f"Cannot tell the format of {path} from its content. Name it with --format: {', '.join(FORMATS)}.")


def _begins_with_json_object(head: bytes) -> bool:
    line, newline, _ = head.lstrip().partition(b"\n")
    if not newline and len(head) >= _HEAD_BYTES:
        # The first line goes on; its beginning has to do.
        return _JSON_OBJECT.match(line) is not None
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _has_three_columns(head: bytes) -> bool:
    """Whether the first rows have two tabs each, as benchmark graphs called ``train.txt`` do."""
    rows = head.splitlines()[:_TABLE_ROWS]
    if len(head) >= _HEAD_BYTES and len(rows) < _TABLE_ROWS:
        rows = rows[:-1]
    return bool(rows) and all(row.count(b"\t") == 2 and all(map(bytes.strip, row.split(b"\t"))) for row in rows)
