"""The files of a folder that a build leaves out."""

from __future__ import annotations

from pathlib import Path

from tests.sources.markdown.notes import write

from wikigr.sources.unread import UnreadFiles, unread_files


def test_files_of_other_formats_are_counted_by_suffix(tmp_path: Path) -> None:
    names = [
        "a.md",
        "b.rst",
        "c.txt.gz",
        "cryo.html.gz",
        "d/E.HTML",
        "d/f.html",
        "t.csv",
        "u.docx",
        "v.json",
        "Makefile",
    ]
    companions = ["README.html", "d/LICENSE", "COPYING.html", ".hidden.html", ".git/x.html"]
    folder = write(tmp_path, dict.fromkeys(names + companions, "x"))
    assert unread_files(folder, "notes") == (
        UnreadFiles(".html", 2, "html", ("d/E.HTML", "d/f.html")),
        UnreadFiles("", 1),
        UnreadFiles(".csv", 1, "triples", ("t.csv",)),
        UnreadFiles(".docx", 1),
        UnreadFiles(".html.gz", 1, "html", ("cryo.html.gz",)),
        UnreadFiles(".json", 1),
    )
    assert {row.suffix for row in unread_files(folder, "html")} >= {".md", ".rst", ".txt.gz"}


def test_only_a_few_files_are_named(tmp_path: Path) -> None:
    folder = write(tmp_path, {f"{number}.html": "x" for number in range(9)})
    assert unread_files(folder, "notes") == (UnreadFiles(".html", 9, "html", ("0.html", "1.html", "2.html")),)


def test_one_file_leaves_nothing_out(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "x", "b.html": "x"})
    assert unread_files(tmp_path / "a.md", "markdown") == ()
