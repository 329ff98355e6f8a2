"""The table of fuzz targets: each function reads one input as wikigr does, and raises if a promise does not hold."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import zstandard
from mwparserfromhell.parser import ParserError

from wikigr.answer.citation_stream import CitationStream
from wikigr.answer.requests import CitationStyle
from wikigr.distribution.archive import unpack
from wikigr.documents.receipt import read_receipts
from wikigr.errors import PackError, RecordError, SourceError, UsageError
from wikigr.graph_search.cypher.dialect import BlockedQueryError
from wikigr.graph_search.cypher.guard import check_query
from wikigr.index.candidate import Candidate, Evidence, Section
from wikigr.llm.redaction import Secrets
from wikigr.llm.reply import BlockEnd, Event, MalformedReply, ReplyReader, TextBlock, TextDelta
from wikigr.pack.manifest import parse_manifest
from wikigr.sources.article import SourceArticle
from wikigr.sources.detect import open_source
from wikigr.sources.plain_text import PlainTextWriter, collapse_spaces, format_superscript
from wikigr.sources.wikitext.page import WikiSite, parse_wikitext

FOLDER = Path(__file__).parent
DICTIONARIES = FOLDER / "dictionaries"
MAX_RECORDS = 20_000

# A line ``=== NAME`` in an input begins a file.
_FILE = re.compile(rb"^=== ([^\n]{1,100})\n", re.MULTILINE)
_SITE = WikiSite({"file": 6, "category": 14}, page_url="http://w/")
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_CONTENT = "Bees make honey in 12 hives. They never sleep. Honey is sweet."
_EVIDENCE = [Evidence(Section("Bees#0", "Bees", "", _CONTENT, "b", 0), Candidate("Bees#0", 1.0))]
_SECRETS = Secrets(["sk-secret-key"])


def seeds(name: str) -> list[Path]:
    """Return the files of the corpus of a target."""
    return sorted(path for path in (FOLDER / "corpus" / name).iterdir() if path.is_file())


def read_source(path: Path, format_name: str | None) -> tuple[str, str]:
    """Read a source or its first ``MAX_RECORDS`` records; returns ``read`` or ``refused``, and what was found.

    Every exception that a source does not document passes through.
    """
    articles = bad = 0
    try:
        source = open_source(path, format_name)
        for record in islice(source.records(), MAX_RECORDS):
            try:
                for item in source.parse(record):
                    if isinstance(item, SourceArticle):
                        assert item.title.strip(), item
                        articles += 1
            except RecordError:
                bad += 1
    except (SourceError, UsageError) as error:
        return "refused", error.message[:200]
    return "read", f"{articles} articles, {bad} bad records"


def read_file(data: bytes, file_name: str, format_name: str | None) -> None:
    """Read a file with the content ``data``."""
    with TemporaryDirectory(prefix="wikigr-fuzz-") as folder:
        path = Path(folder, file_name)
        path.write_bytes(data)
        read_source(path, format_name)


def read_folder(data: bytes) -> None:
    """Read a folder: names, links between files, titles that several files share, several formats."""
    with TemporaryDirectory(prefix="wikigr-fuzz-") as folder:
        _, *rest = _FILE.split(data)
        for name, content in zip(rest[::2], rest[1::2], strict=True):
            parts = [part for part in name.replace(b"\0", b"").split(b"/") if part not in (b"", b".", b"..")]
            path = Path(folder, *(part.decode("utf-8", "surrogateescape") for part in parts))
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            except OSError:
                # A file of this name is a folder of another one.
                continue
        read_source(Path(folder), None)


def read_wikitext(data: bytes) -> None:
    """Parse wikitext without the XML around it."""
    try:
        page = parse_wikitext(data.decode("utf-8", "replace"), "Bees", _SITE)
    except (RecursionError, ParserError):
        return
    assert all(section.text.strip() for section in page.sections)


def lay_out(data: bytes) -> None:
    """Lay out plain text. Each line is an event: its first character says which, the rest is its text."""
    text = data.decode("utf-8", "replace")
    assert collapse_spaces(collapse_spaces(text)) == collapse_spaces(text)
    writer = PlainTextWriter("Bees")
    open_blocks = []
    for line in text.split("\n"):
        event, rest = line[:1], line[1:]
        if event == "#":
            writer.heading(1 + len(rest) % 6, rest)
        elif event == "*":
            writer.open_item("- ")
            open_blocks.append(writer.close_item)
        elif event == ">":
            writer.open_indent()
            open_blocks.append(writer.close_indent)
        elif event == "<" and open_blocks:
            open_blocks.pop()()
        elif event == "|":
            writer.verbatim(rest)
        elif event == "/":
            writer.line_break()
        elif event == "-":
            writer.removed()
        elif event == ".":
            writer.end_block()
        elif event == "^":
            writer.write(format_superscript(rest[1:], rest[:1]))
        else:
            writer.write(line)
    for close in reversed(open_blocks):
        close()
    for section in writer.sections():
        assert section.text
        assert "\x00" not in section.text


def unpack_archive(data: bytes) -> None:
    """Unpack an archive. An input that is not compressed is the tar inside it."""
    with TemporaryDirectory(prefix="wikigr-fuzz-") as folder:
        archive, into = Path(folder, "a.wikigr"), Path(folder, "into")
        archive.write_bytes(data if data.startswith(_ZSTANDARD) else zstandard.compress(data, 1))
        try:
            unpacked = unpack(archive, into)
        except PackError as error:
            assert error.message.isprintable()
            assert len(error.message) < 1000
            assert not into.exists()
        else:
            found = {path.relative_to(into).as_posix() for path in into.rglob("*") if not path.is_dir()}
            assert set(unpacked.manifest.files) <= found
        assert {path.name for path in Path(folder).iterdir()} <= {"a.wikigr", "into"}


def read_manifest(data: bytes) -> None:
    try:
        parse_manifest(data)
    except PackError:
        return


def read_receipt(data: bytes) -> None:
    with TemporaryDirectory(prefix="wikigr-fuzz-") as folder:
        path = Path(folder, "receipt.json")
        path.write_bytes(data)
        try:
            list(read_receipts(path))
        except UsageError:
            return


def guard_query(data: bytes) -> None:
    """Check a Cypher query: the guard refuses it or rewrites it into one that it accepts."""
    try:
        guarded = check_query(data.decode("utf-8", "replace"), max_rows=20, max_hops=3)
    except BlockedQueryError as error:
        assert "\n" not in error.message
        return
    check_query(guarded.text, max_rows=20, max_hops=3)


def read_reply(data: bytes) -> None:
    """Read a model's reply and check its citations.

    A JSON list is the events of a stream, another JSON document is a whole reply, and anything else is the reply's
    text.
    """
    text = data.decode("utf-8", "replace")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        _check_citations([TextDelta(text), BlockEnd(TextBlock(text))])
        return
    events: list[Event] = []
    try:
        reader = ReplyReader(events.append, _SECRETS)
        if isinstance(message, list):
            for event in message:
                if isinstance(event, dict):
                    reader.take(event)
        elif isinstance(message, dict):
            reader.read(message)
            again = ReplyReader()
            again.read(reader.to_message())
            assert (again.blocks, again.tool_uses, again.model) == (reader.blocks, reader.tool_uses, reader.model)
    except MalformedReply:
        return
    _check_citations(events)


def _check_citations(events: list[Event]) -> None:
    for style in get_args(CitationStyle):
        pieces: list[str] = []
        stream = CitationStream(_EVIDENCE, style, pieces.append)
        for event in events:
            stream.take(event)
        written = stream.finish()
        assert "".join(pieces).split() == written.text.split()
        for citation in written.citations:
            assert _CONTENT[citation.start : citation.end] == citation.quote


# The file and the format as which an input is read.
_SOURCES = {
    "jsonl": ("s.jsonl", "jsonl"),
    "markdown": ("s.md", "markdown"),
    "rst": ("s.rst", "rst"),
    "text": ("s.txt", "text"),
    "html": ("s.html", "html"),
    "office": ("file.pdf", "office"),
    "mediawiki": ("s.xml", "mediawiki"),
    "zim": ("s.zim", "zim"),
    "rdf": ("s.nt", "rdf"),
    "rdf_turtle": ("s.ttl", "rdf"),
    "triples": ("s.tsv", "triples"),
    "triples_csv": ("s.csv", "triples"),
    "table": ("s.csv", "table"),
    "compressed": ("s.jsonl.gz", "jsonl"),
    "detect": ("s", None),
}
TARGETS: dict[str, Callable[[bytes], None]] = {
    **{
        name: partial(read_file, file_name=file_name, format_name=format_name)
        for name, (file_name, format_name) in _SOURCES.items()
    },
    "folder": read_folder,
    "wikitext": read_wikitext,
    "plain_text": lay_out,
    "archive": unpack_archive,
    "manifest": read_manifest,
    "receipt": read_receipt,
    "cypher": guard_query,
    "reply": read_reply,
}
