"""Folders of HTML pages: titles, links, duplicates, redirects and skipped pages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.sources.markdown.notes import write
from tests.sources.reading import read_source

from wikigr.errors import RecordError, SourceError
from wikigr.sources.article import Redirect, Skipped, SourceArticle, SourceItem, Triple
from wikigr.sources.facts import FACTS
from wikigr.sources.html.source import HtmlSource
from wikigr.sources.source_files import MAX_DOCUMENT_BYTES, links_outside

PROSE = "<p>" + "A sentence that says something about the matter at hand. " * 5 + "</p>"


def read(root: Path) -> list[SourceItem]:
    return read_source(HtmlSource(root))[0]


def test_pages_come_sorted_with_resolved_links_and_folder_categories(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "lib/b.html": f"<title>B</title>{PROSE}<a href='../a.html#x'>a</a><a href='http://x.org/'>out</a>"
            "<a href='sub/'>dir</a><a href='na%C3%AFve.html?q=1'>n</a><a href='../../etc.html'>up</a>"
            "<a href='pic.png'>p</a><a href='mailto:a@b.c'>m</a><a href='b.html#self'>self</a>",
            "a.html": f"<title>A</title>{PROSE}",
            "notes.txt": "no page",
            ".hidden/c.html": "<p>hidden</p>",
            "lib/C.HTM": f"<title>C</title>{PROSE}",
        },
    )
    items = read(tmp_path)
    assert [item.source_id for item in items if isinstance(item, SourceArticle)] == [
        "a.html",
        "lib/C.HTM",
        "lib/b.html",
    ]
    article = items[2]
    assert isinstance(article, SourceArticle)
    assert article.links == ("a.html", "lib/sub/index.html", "lib/naïve.html")
    assert article.categories == ("lib",)


def test_infoboxes_become_facts_with_resolved_links(tmp_path: Path) -> None:
    rows = "<tr><th>Writer(s)</th><td><a href='b.html'>Bo</a></td></tr><tr><th>Label</th><td><a href='http://c.example'>C</a></td></tr>"
    write(
        tmp_path,
        {
            "a.html": f"<title>A</title><table class=infobox>{rows}</table>{PROSE}",
            "b.html": f"<title>B</title>{PROSE * 2}",
        },
    )
    article = read(tmp_path)[0]
    assert isinstance(article, SourceArticle)
    assert article.triples == (
        Triple("A", "writer", "Bo", "b.html", "A — writer: Bo."),
        Triple("A", "label", "C", None, "A — label: C."),
    )
    assert article.sections[-1].heading_path == (FACTS,)
    assert article.sections[-1].text == "A — writer: Bo.\nA — label: C."


def test_links_to_folders_lead_to_their_index_pages(tmp_path: Path) -> None:
    links = "".join(f"<a href={href}>x</a> " for href in ("b/", "b", "/b/c.html", "/no"))
    write(
        tmp_path,
        {
            "a.html": f"<title>A</title>{PROSE}{links}",
            "b/index.htm": f"<title>B</title>{PROSE}",
            "b/c.html": f"<title>C</title>{PROSE}",
            "old.html": "<title>Old</title><meta http-equiv=refresh content='0; url=/b/'>",
        },
    )
    items = read(tmp_path)
    first = next(item for item in items if isinstance(item, SourceArticle))
    assert first.links == ("b/index.htm", "b/c.html", "no.html")
    assert Redirect("old.html", "B") in items
    # Another process parses without having listed the folder.
    record = next(iter(HtmlSource(tmp_path).records()))
    (article,) = HtmlSource(tmp_path).parse(record)
    assert article in items


SITE_PAGE = "<title>My Project Documentation</title><header><h1>My Project</h1></header><h1>{}</h1>" + PROSE
OLD_PAGE = "<title>The Book</title><h1>{}</h1>" + PROSE


@pytest.mark.parametrize(
    ("files", "titles"),
    [
        (
            {
                "x.html": f"<title>Intro — T docs</title><h1>Intro</h1>{PROSE}",
                "y/x.html": f"<title>intro</title>{PROSE}more",
                "z.html": f"<title>Other</title>{PROSE}",
                "untitled.html": PROSE,
            },
            ["untitled", "Intro (x.html)", "intro (y/x.html)", "Other"],
        ),
        # The heading names a page whose title is that of the site, unless it is shared as often.
        (
            {f"{name}.html": SITE_PAGE.format(f"The {name} page") for name in ("faq", "install", "usage")}
            | {f"{folder}/over.html": SITE_PAGE.format("Overview") + folder for folder in "ab"},
            ["Overview (a/over.html)", "Overview (b/over.html)", "The faq page", "The install page", "The usage page"],
        ),
        (
            {f"{name}.html": f"<title>Manual</title><h1>Welcome</h1>{PROSE}{name}" for name in "ab"},
            ["Manual (a.html)", "Manual (b.html)"],
        ),
        # A page keeps its title though others take it from a heading.
        (
            {"new.html": f"<title>Slices</title><h1>Slices</h1>{PROSE}"}
            | {f"old/{name}.html": OLD_PAGE.format(name) for name in ("Slices", "Maps", "Sets")},
            ["Slices", "Maps", "Sets", "Slices (old/Slices.html)"],
        ),
    ],
    ids=["path", "heading", "shared", "kept"],
)
def test_titles_are_unique(tmp_path: Path, files: dict[str, str], titles: list[str]) -> None:
    articles = [item for item in read(write(tmp_path, files)) if isinstance(item, SourceArticle)]
    assert [article.title for article in articles] == titles
    # The title is no section of the page as well.
    assert {section.heading_path for article in articles for section in article.sections} <= {
        (),
        ("My Project",),
        ("Welcome",),
    }


@pytest.mark.parametrize(
    ("base", "links"),
    [
        ("", ("d/x.html", "y.html")),
        ("../lib/", ("lib/x.html", "y.html")),
        ("sub/page.html", ("d/sub/x.html", "d/y.html")),
        ("/", ("x.html",)),
        ("/lib/start", ("lib/x.html", "y.html")),
        ("https://example.org/", ()),
        ("http://[bad", ()),
    ],
)
def test_links_are_relative_to_the_base_of_the_page(tmp_path: Path, base: str, links: tuple[str, ...]) -> None:
    page = f"<title>P</title><base href='{base}'>{PROSE}<a href=x.html>x</a><a href=../y.html#z>y</a>"
    write(tmp_path, {"d/page.html": page})
    (article,) = read(tmp_path)
    assert isinstance(article, SourceArticle)
    assert article.links == links


def test_duplicates_and_moved_pages_become_other_names(tmp_path: Path) -> None:
    refresh = "<title>Moved</title><meta http-equiv=refresh content='0; url={}'>"
    write(
        tmp_path,
        {
            "a.html": f"<title>A</title>{PROSE}",
            "copy.html": f"<title>A</title>{PROSE}",
            "moved.html": refresh.format("sub/moved.html"),
            "sub/moved.html": refresh.format("../a.html#x"),
            "away.html": refresh.format("https://example.org/"),
            "ring.html": refresh.format("ring2.html"),
            "ring2.html": refresh.format("ring.html"),
        },
    )
    assert [item for item in read(tmp_path) if not isinstance(item, SourceArticle)] == [
        Skipped("away.html", "redirect to nowhere"), Skipped("copy.html", "duplicate page"), Redirect("copy.html", "A"),
        Redirect("moved.html", "A"), Skipped("ring.html", "redirect to nowhere"),
        Skipped("ring2.html", "redirect to nowhere"), Redirect("sub/moved.html", "A"),
    ]  # fmt: skip


def test_index_pages_are_skipped_and_pages_with_prose_are_not(tmp_path: Path) -> None:
    links = "".join(f"<li><a href='p{n}.html'>Name of page {n}</a></li>" for n in range(120))
    toc = f"<div class=toctree-wrapper><ul>{links}</ul></div>"
    write(
        tmp_path,
        {
            "genindex-A.html": f"<title>Index</title>{PROSE}",
            "list.html": f"<title>All</title><ul>{links}</ul>{PROSE}",
            "toc.html": f"<title>Contents</title>{toc}",
            "chapter.html": f"<title>Chapter</title>{PROSE}{toc}",
            "search.html": "<title>Search</title><p>Please activate scripts.</p>",
            "short.html": "<title>Short</title><p>Few words.</p>",
            "empty.html": "",
            "frames.html": "<frameset><frame src='toc.html'></frameset>",
        },
    )
    items = {item.source_id: item for item in read(tmp_path) if isinstance(item, SourceArticle | Skipped)}
    skipped = {key: item.reason for key, item in items.items() if isinstance(item, Skipped)}
    assert skipped == {
        "empty.html": "no text", "frames.html": "no text", "genindex-A.html": "index page", "list.html": "index page",
        "search.html": "index page", "toc.html": "index page",
    }  # fmt: skip
    chapter = items["chapter.html"]
    assert isinstance(chapter, SourceArticle)
    assert len(chapter.links) == 120


def test_symbolic_links_are_followed_but_not_in_cycles(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    write(root, {"a.html": f"<title>A</title>{PROSE}"})
    write(other, {"b.html": f"<title>B</title>{PROSE}"})
    (root / "loop").symlink_to(root)
    (root / "other").symlink_to(other)
    (root / "broken.html").symlink_to(root / "nowhere.html")
    (root / "b.html").symlink_to(other / "b.html")
    assert [record.source_id for record in HtmlSource(root).records()] == ["a.html", "broken.html"]
    source = HtmlSource(root, follow_links=True)
    records = list(source.records())
    assert [record.source_id for record in records] == ["a.html", "b.html", "broken.html", "other/b.html"]
    with pytest.raises(RecordError, match=r"broken\.html: cannot read the file"):
        list(source.parse(records[2]))
    assert links_outside(root) == ("b.html", "other")


def test_a_file_too_large_is_one_bad_record(tmp_path: Path) -> None:
    path = tmp_path / "big.html"
    with path.open("wb") as stream:
        os.truncate(stream.fileno(), MAX_DOCUMENT_BYTES + 1)
    write(tmp_path, {"a.html": PROSE})
    source = HtmlSource(tmp_path)
    good, big = source.records()
    assert isinstance(next(iter(source.parse(good))), SourceArticle)
    with pytest.raises(RecordError, match=r"big\.html: the file is larger than 64 MiB"):
        list(source.parse(big))


def test_missing_and_empty_folders(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        list(HtmlSource(tmp_path / "none").records())
    with pytest.raises(SourceError, match=r"has no files with the suffix \.html or"):
        list(HtmlSource(tmp_path).records())


def test_a_single_page_is_a_source(tmp_path: Path) -> None:
    write(tmp_path, {"a.html": f"<title>A</title>{PROSE}", "b.html": PROSE})
    assert [item.source_id for item in read(tmp_path / "a.html") if isinstance(item, SourceArticle)] == ["a.html"]
