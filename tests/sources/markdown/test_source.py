"""Folders of Markdown notes: text, titles, links and bad files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sources.markdown.notes import article, lead, parse, read, write

from wikigr.errors import RecordError, SourceError
from wikigr.sources.article import Skipped, SourceArticle
from wikigr.sources.folder import FolderSource

CODE = "def f(a):\n\n    # no heading\n    return [[a]]  *b*"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (r"*a* __b__ ~~c~~ `d  e` [f](g.md) ![h *i*](j.png) <b>k</b> &copy; \*l\* <https://m.org>",
         "a b d e f h i k © *l* https://m.org"),
        ("one\ntwo  \nthree<br>four <!-- no -->", "one two\nthree\nfour"),
        # Code and formulas are verbatim.
        (f"a:\n\n```python\n{CODE}\n```\n", f"a:\n\n{CODE}"),
        ("mass $m_a * c_b * d$ for $5 or $10", "mass $m_a * c_b * d$ for $5 or $10"),
        ("$$\nE = \\\\ m_1 * c_1 * d\n$$", "$$\nE = \\\\ m_1 * c_1 * d\n$$"),
        # Lists, quotes and definitions, which are indented under their terms.
        ("- a\n- b\n  1. c\n  2. d\n\n7. e\n8. f\n\n> g\n> h", "- a\n- b\n  1. c\n  2. d\n\n7. e\n8. f\n\ng h"),
        ("*Apple*\n: A fruit.\n\n    It is red.\n\nPear\n: Also.\n\nAt 5: no.",
         "Apple\n    A fruit.\n\n    It is red.\n\nPear\n    Also.\n\nAt 5: no."),
        # Blocks of HTML are read as HTML and do not reach beyond their end.
        ("<details>\n<summary>More</summary>\n\n*inside*\n\n</details>\n\n<table><tr><td>a<td>b</table>\n\n<!-- no -->",
         "More\n\ninside\n\na | b"),
        ("<b>\none\n\n<p>two <nav>\n\n<i>\nthree\n\nA <title> and a <script> are *tags*.\n\n<!-- no -->\n\nfour",
         "one\n\ntwo\n\nthree\n\nA and a are tags.\n\nfour"),
    ],
)  # fmt: skip
def test_text_of_markup(markup: str, text: str) -> None:
    assert lead(markup) == text


def test_links() -> None:
    found = article(
        "[[Wave function]] [[Planck constant|h]] [[Atom#History]] [[#Here]] [x](../a.md#y) [x](b.markdown?z) "
        "[x](http://x.org/a.md) [x](sub/) [x](page) [x](my%20note.md) [x](pic.png) [x](../../out.md) "
        "[r][ref] ![[photo.PNG]] ![[Embedded note]] `[[no]]` \\[[no]]\n\n[ref]: other.md\n"
    )
    assert found.links == (
        "Wave function", "Planck constant", "Atom", "a.md", "dir/b.markdown", "dir/sub/index.md", "dir/page.md",
        "dir/my note.md", "dir/other.md", "Embedded note",
    )  # fmt: skip
    assert found.sections[0].text.startswith("Wave function h Atom Here x x")
    assert "photo" not in found.sections[0].text
    assert found.sections[0].text.endswith("Embedded note [[no]] [[no]]")


def test_headings_of_both_kinds_make_paths() -> None:
    found = article("Note\n====\nlead\n\n### Deep\ndeep\n\nTwo\n---\n\n#### Four\nfour\n\n    # code\n")
    assert [(s.heading_path, s.text) for s in found.sections] == [
        ((), "lead"),
        (("Deep",), "deep"),
        (("Two", "Four"), "four\n\n# code"),
    ]


def test_titles_by_front_matter_heading_or_name(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.md": "---\ntitle: 2001\n---\ntext",
            "b.md": "badge\n\n# *The* [B](x.md)\n\ntext",
            "c-d.md": "text",
            "README.md": "<h1 align=center>Project</h1>\n\ntext",
            ".obsidian/x.md": "hidden",
        },
    )
    found = {item.source_id: item for item in read(tmp_path)}
    assert {key: item.title for key, item in found.items()} == {
        "README.md": "Project", "a.md": "2001", "b.md": "The B", "c-d.md": "c-d",
    }  # fmt: skip
    # Notes are linked by file name as well, but every folder has a README.
    assert (found["README.md"].aliases, found["a.md"].aliases, found["c-d.md"].aliases) == ((), ("a",), ())
    assert [(s.heading_path, s.text) for s in found["b.md"].sections] == [((), "badge\n\ntext")]


def test_notes_that_share_a_title_get_their_path(tmp_path: Path) -> None:
    write(tmp_path, {"x/intro.md": "# Intro\none", "y/intro.md": "# intro\ntwo", "z.md": "# Z\nthree"})
    found = read(tmp_path)
    assert [(item.title, item.aliases) for item in found] == [
        ("Intro (x/intro.md)", ()),
        ("intro (y/intro.md)", ()),
        ("Z", ()),
    ]
    assert [s.heading_path for item in found for s in item.sections] == [(), (), ()]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"---\ntitle: x\naliases: [a\n---\ntext", r"dir/note\.md, line 3: the front matter is not valid YAML"),
        (b"---\n- a\n- b\n---\ntext", r"dir/note\.md, line 2: the front matter is not a mapping"),
        (b"---\ntitle: [a]\n---\ntext", r"dir/note\.md, front matter: `title` must be text"),
        (b"---\naliases: {a: b}\n---\ntext", r"dir/note\.md, front matter: `aliases` must be"),
        (b"# A\n\n\xc3\xa9\xc3\xa9\xff", r"dir/note\.md, line 3: invalid UTF-8 at byte 10 of the file \(0xff\)"),
    ],
)  # fmt: skip
def test_bad_records_name_file_and_line(data: bytes, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        parse(data)


def test_bad_files_do_not_stop_the_scan_for_titles(tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_bytes(b"\xff")
    write(tmp_path, {"good.md": "# Good\ntext", "yaml.md": "---\n[\n---\n"})
    assert [record.title for record in FolderSource(tmp_path, "markdown").records()] == ["bad", "Good", "yaml"]


def test_a_note_without_text_is_skipped() -> None:
    assert parse("# Note\n\n## Empty\n") == Skipped("dir/note.md", "no text")


def test_sources_without_notes(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"has no files with the suffix \.md or"):
        list(FolderSource(tmp_path, "markdown").records())
    with pytest.raises(SourceError, match="does not exist"):
        list(FolderSource(tmp_path / "none.md", "markdown").records())


def test_one_file_is_a_source(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "\ufeff# A\ntext", "b.md": "b"})
    assert [(item.source_id, item.title) for item in read(tmp_path / "a.md")] == [("a.md", "A")]


def links_of(root: Path) -> dict[str, tuple[str, ...]]:
    return {item.source_id: item.links for item in read(root)}


def test_links_to_folders_lead_to_their_index_pages(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "docs/from.md": "[a](plug/) [b](plug) [c](../docs/old) [d](site/) [e](page/) [f](v1.2) [g](/docs/plug/x) "
            "[h](/docs/plug) [i](/none) [j](/pic.png) [k](none/) [l](/) [m](.) [n](two/) "
            "[o](both) [p](both/)",
            "docs/plug/README.md": "text",
            "docs/plug/x.md": "text",
            "docs/old/Index.MARKDOWN": "text",
            "docs/site/_index.md": "text",
            "docs/page.md": "text",
            "docs/v1.2/index.md": "text",
            "docs/readme.md": "text",
            "docs/two/README.md": "text",
            "docs/two/index.md": "text",
            "docs/both.md": "text",
            "docs/both/index.md": "text",
            "README.md": "text",
        },
    )
    assert links_of(tmp_path)["docs/from.md"] == (
        "docs/plug/README.md", "docs/old/Index.MARKDOWN", "docs/site/_index.md", "docs/page.md", "docs/v1.2/index.md",
        "docs/plug/x.md", "none.md", "docs/none/index.md", "README.md", "docs/readme.md", "docs/two/index.md",
        "docs/both.md", "docs/both/index.md",
    )  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="[]|#!`*_$-\n> \\<a>1.~=:^%{}", max_size=60))
def test_any_text_parses(text: str) -> None:
    try:
        item = parse(text)
    except RecordError:
        assert text.lstrip("\n").startswith("---")
        return
    if isinstance(item, SourceArticle):
        assert all(section.text.strip() for section in item.sections)
