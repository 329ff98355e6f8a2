"""The YAML block at the top of a note."""

from __future__ import annotations

from pathlib import Path

from wikigr.sources.article import SourceArticle, SourceItem
from wikigr.sources.markdown.source import MarkdownRecord, MarkdownSource


def parse(text: str | bytes, name: str = "dir/note.md") -> SourceItem:
    data = text.encode() if isinstance(text, str) else text
    (item,) = MarkdownSource(Path()).parse(MarkdownRecord(name, data, "Note"))
    return item


def article(text: str) -> SourceArticle:
    item = parse(text)
    assert isinstance(item, SourceArticle)
    return item


def test_front_matter() -> None:
    found = article(
        "---\ntitle: Wave: no\n".replace("Wave: no", '"Wave: yes"')
        + "category: Physics, old\ntags: [waves, 1900]\ncategories: x, y\naliases:\n  - WF\n  - ''\nurl: https://x.org\n"
        "date: 2020-01-01\n---\n# Waves\n\ntext\n\n## A\na\n"
    )
    assert found.categories == ("Physics, old", "x", "y", "waves", "1900")
    assert found.aliases == ("WF", "Waves")
    assert found.url == "https://x.org"
    assert [s.heading_path for s in found.sections] == [(), ("A",)]
