"""Notes parsed from text, and folders of notes."""

from __future__ import annotations

from pathlib import Path

from tests.sources.reading import read_source

from wikigr.sources.article import SourceArticle, SourceItem
from wikigr.sources.documents import NoteRecord
from wikigr.sources.folder import FolderSource


def parse(text: str | bytes, name: str = "dir/note.md") -> SourceItem:
    data = text.encode() if isinstance(text, str) else text
    (item,) = FolderSource(Path(), "markdown").parse(NoteRecord(name, data, "Note"))
    return item


def article(text: str) -> SourceArticle:
    item = parse(text)
    assert isinstance(item, SourceArticle)
    return item


def lead(text: str) -> str:
    (section,) = article(text).sections
    assert section.heading_path == ()
    return section.text


def read(root: Path) -> list[SourceArticle]:
    return [item for item in read_source(FolderSource(root, "markdown"))[0] if isinstance(item, SourceArticle)]


def write(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return root
