"""The sources of the bench, and their packs, which are built once and kept in a cache folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wikigr.embeddings.loader import open_encoder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.sources.article import SourceArticle
from wikigr.sources.detect import open_source
from wikigr.sources.source_files import visible_files

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
# A pack is rebuilt if the source or this code changes; a rebuild encodes only sections that are new.
_BUILDING_CODE = tuple(ROOT / "src" / "wikigr" / room for room in ("sources", "ingest"))
_TABLE_SUFFIXES = (".csv", ".tsv")


@dataclass(frozen=True)
class BenchSource:
    """A folder or file with questions in ``questions/NAME.jsonl``.

    ``debian_package`` installs it; a source without one comes with the project.
    """

    name: str
    location: Path
    debian_package: str = ""
    source_format: str | None = None

    @property
    def is_shipped(self) -> bool:
        return not self.debian_package

    @property
    def questions(self) -> Path:
        return HERE / "questions" / f"{self.name}.jsonl"

    @cached_property
    def text(self) -> str:
        """All text of the source as wikigr reads it, with single spaces; of a table, the rows as they are."""
        if self.location.suffix in _TABLE_SUFFIXES:
            parts = [self.location.read_text(encoding="utf-8")]
        else:
            source = open_source(self.location, self.source_format)
            parts = [
                text
                for record in source.records()
                for item in source.parse(record)
                if isinstance(item, SourceArticle)
                for text in (item.title, *(part for s in item.sections for part in (*s.heading_path, s.text)))
            ]
        return single_spaced(" ".join(parts))


def _shipped(name: str, location: str) -> BenchSource:
    return BenchSource(name, ROOT / location)


def _debian(name: str, package: str, location: str) -> BenchSource:
    return BenchSource(name, Path("/usr/share") / location, package, "html")


SOURCES = (
    _shipped("physics", "packs/physics/articles"),
    _shipped("docs", "docs"),
    _shipped("handbook", "eval/real/sources/handbook"),
    _shipped("faq", "eval/real/sources/faq.jsonl"),
    _shipped("catalog", "eval/real/sources/catalog.csv"),
    _shipped("bridges", "eval/real/sources/bridges.tsv"),
    _shipped("manual", "eval/real/sources/manual"),
    _debian("git", "git-doc", "doc/git-doc"),
    _debian("python", "python3.11-doc", "doc/python3.11/html/library"),
    _debian("python-faq", "python3.11-doc", "doc/python3.11/html/faq"),
    _debian("sqlite", "sqlite3-doc", "doc/sqlite3"),
    _debian("postgresql", "postgresql-doc-15", "doc/postgresql-doc-15/html"),
    _debian("apache2", "apache2-doc", "doc/apache2-doc/manual/en"),
    _debian("cmake", "cmake-doc", "doc/cmake-data/html/command"),
    _debian("debian-faq", "debian-faq", "doc/debian/FAQ"),
    _debian("debian-reference", "debian-reference-en", "debian-reference"),
    _debian("haproxy", "haproxy-doc", "doc/haproxy/html"),
)


def single_spaced(text: str) -> str:
    """Return ``text`` with every run of white space replaced by one space."""
    return " ".join(text.split())


def build(source: BenchSource, cache: Path) -> Path:
    """Return the folder of the pack of ``source`` below ``cache``; build it unless it is up to date.

    Raises ``WikigrError`` if the source cannot be read or the pack cannot be built.
    """
    folder = cache / source.name
    stamp = cache / f"{source.name}.sha256"
    digest = _digest(source)
    if not stamp.is_file() or stamp.read_text(encoding="ascii") != digest:
        reader = open_source(source.location, source.source_format)
        options = BuildOptions(name=source.name, jobs=1, keep_going=True)
        build_pack(reader, str(source.location), folder, open_encoder(ENCODER, purpose="bulk"), options)
        stamp.write_text(digest, encoding="ascii")
    return folder


def _digest(source: BenchSource) -> str:
    """Return the SHA-256 of the files of ``source`` and of the code that reads them."""
    digest = hashlib.sha256(ENCODER.encode("utf-8"))
    files = [source.location] if source.location.is_file() else list(visible_files(source.location))
    files += [file for room in _BUILDING_CODE for file in sorted(room.rglob("*.py"))]
    for file in files:
        digest.update(b"\0" + bytes(file) + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
