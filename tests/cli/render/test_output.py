"""Output that several commands share."""

from __future__ import annotations

from pathlib import Path

from wikigr_cli.render.output import counted

from ..conftest import Wikigr


def test_counts_use_the_singular_for_one(wikigr: Wikigr, tmp_path: Path) -> None:
    assert counted(1, "links") == "1 link" and counted(2, "links") == "2 links" and counted(0, "links") == "0 links"
    assert [counted(1, noun) for noun in ("entities", "aliases", "triples")] == ["1 entity", "1 alias", "1 triple"]
    assert counted(1_234, "articles") == "1,234 articles"
    for name, text in (("a", "# A\nSee [B](b.md)."), ("b", "# B\nText.")):
        (tmp_path / "notes").mkdir(exist_ok=True)
        (tmp_path / "notes" / f"{name}.md").write_text(text)
    built = wikigr("pack", "build", "notes", "-o", "p")
    assert "2 articles, 2 sections, 1 link" in built.out
    # A rate of so few would say nothing.
    assert "reading: 2 records in" in built.err and "/s)" not in built.err
    assert "2 articles, 1 link," in wikigr("pagerank", "build", "p", "--force").out
