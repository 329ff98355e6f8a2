"""Detect the format of a source from its content and name."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys
from pathlib import Path

import pytest

from wikigr.errors import SourceError, UsageError
from wikigr.sources import formats
from wikigr.sources.detect import detect_format, open_source
from wikigr.sources.formats import FORMAT_NAMES


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("dump.bin", b'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">', "mediawiki"),
        ("dump.xml", b'<?xml version="1.0"?>\n<!-- c -->\n<mediawiki>', "mediawiki"),
        ("dump.bz2", bz2.compress(b"\xef\xbb\xbf<mediawiki>"), "mediawiki"),
        ("wiki.zim", b"ZIM\x04\x06\x00", "zim"),
        ("a.txt", b'{"title": "A"}\n{', "jsonl"),
        ("a.gz", gzip.compress(b'\n{"title": "A", "text": "' + b"x" * 200_000), "jsonl"),
        ("bad.jsonl", b"oops\n", "jsonl"),
        ("graph.tsv", b"a\tb\tc\n", "triples"),
        ("graph.CSV.gz", gzip.compress(b"a,b,c\n", mtime=0), "triples"),
        ("graph.nt", b"# c\n", "rdf"),
        ("graph.ttl.xz", lzma.compress(b"@prefix e: <http://e/> ."), "rdf"),
        ("graph", b"# a comment\n\n@prefix e: <http://e/> .\n", "rdf"),
        ("graph", b'<http://e/a> <http://e/b> "c" .\n', "rdf"),
        ("graph", b"PREFIX e: <http://e/>\n", "rdf"),
        ("a.txt", b"a\tb\tc\n", "triples"),
        ("a.txt", b"Words.\n", "text"),
        ("note.md", b"# A", "markdown"),
        ("page", b"<!DOCTYPE html><p>", "html"),
        ("manual.html", b"%PDF-1.7", "office"),
        ("book.bin", b"PK\x03\x04\x14", "office"),
        ("page.xhtml", b'<?xml version="1.0"?><html xmlns="x">', "html"),
    ],
)
def test_files(tmp_path: Path, name: str, data: bytes, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert detect_format(path).name == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("a.md b.md", "markdown"),
        ("a.rst b.rst.gz", "rst"),
        ("a.txt b.txt", "text"),
        ("a.docx", "office"),
        ("a.md b.rst", "folder"),
        ("a.md b.txt c.txt", "folder"),
        ("a.md b.csv", "folder"),
        ("a.csv", "folder"),
        # More pages than other documents, aside from hidden ones and those that accompany others.
        ("a.html b.txt c.txt d.csv", "html"),
        ("a.html b.HTM c.md d.txt .git-x.md .git-y.md", "html"),
        ("a.html.gz b.png", "html"),
        ("a.html b.rst", "folder"),
        ("a.html b.html c.md d.docx", "folder"),
    ],
)
def test_folders(tmp_path: Path, names: str, expected: str) -> None:
    for name in names.split():
        (tmp_path / name).touch()
    assert open_source(str(tmp_path)).format == expected
    assert open_source(tmp_path, "html").format == "html"


def test_packages_that_are_missing_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "find_spec", lambda name: None if name == "mammoth" else object())
    for name in ("a.docx", "b.md"):
        (tmp_path / name).write_text("Words.")
    assert open_source(tmp_path).format == "markdown"
    assert [record.where for record in open_source(tmp_path, "folder").records()] == ["b.md"]
    with pytest.raises(UsageError, match="needs mammoth, which is not installed") as raised:
        open_source(tmp_path, "office")
    assert raised.value.hint == "Install it: pip install 'wikigr[documents]'"


def test_a_format_that_the_content_contradicts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(b"PK\x03\x04")
    for name in ("html", "markdown", "table", "zim"):
        with pytest.raises(UsageError, match=f"is not in the format {name}: its content is that of") as raised:
            open_source(path, name)
        assert raised.value.hint == "Leave --source-format out, or use --source-format office."
    with pytest.raises(UsageError, match="is a file; the format folder needs a folder"):
        open_source(path, "folder")


def test_standard_input_is_jsonl() -> None:
    assert open_source("-").format == "jsonl"
    with pytest.raises(UsageError, match="Standard input is read as jsonl"):
        open_source("-", "zim")


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        open_source(tmp_path / "none")
    with pytest.raises(SourceError, match="does not exist"):
        open_source(tmp_path / "none", "html")
    with pytest.raises(SourceError, match="has no markdown or rst or text or office or html or table files"):
        open_source(tmp_path)
    with pytest.raises(UsageError, match="is a folder"):
        open_source(tmp_path, "mediawiki")
    with pytest.raises(UsageError, match=f"no source format 'pdf'. Formats: {', '.join(FORMAT_NAMES)}"):
        open_source(tmp_path, "pdf")
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b" \n")
    with pytest.raises(SourceError, match="is empty"):
        open_source(empty)
    odd = tmp_path / "odd.bin"
    odd.write_bytes(b"\x7fELF")
    with pytest.raises(UsageError, match="Name it with --source-format: mediawiki, zim"):
        open_source(odd)


def test_only_the_reader_in_use_is_imported() -> None:
    code = (
        "import sys; from wikigr.sources.detect import open_source; open_source('-'); "
        "parsers = ('selectolax', 'markdown_it', 'mwxml', 'libzim', 'pyoxigraph', 'sqlite3'); "
        "print([m for m in parsers if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
