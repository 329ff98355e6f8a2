"""Folders of documents: links between them, several formats, compressed documents."""

from __future__ import annotations

import bz2
import gzip
import lzma
import pickle
from pathlib import Path

import pytest
from tests.sources.blocks import without_blocks
from tests.sources.markdown.notes import write
from tests.sources.reading import read_source

from wikigr.errors import RecordError
from wikigr.sources.article import BadPart, Skipped, SourceArticle, SourceSection
from wikigr.sources.detect import open_source
from wikigr.sources.documents import Pages, resolve_link
from wikigr.sources.source_files import MAX_DOCUMENT_BYTES


def links_of(root: Path) -> dict[str, tuple[str, ...]]:
    return {source_id: note.links for source_id, note in read(root).items()}


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("sub/Deep", "sub/Deep.md"),
        ("./sub/Deep", "sub/Deep.md"),
        ("/sub/Deep", "sub/Deep.md"),
        ("sub/deep.md#Part", "sub/Deep.md"),
        ("Deep.md", "sub/Deep.md"),
        ("Deep", "Deep"),
        ("a/Dup", "a/Dup.md"),
        ("x/Dup", "b/x/Dup.md"),
        ("Dup", "a/Dup.md"),
        ("notes v1.2", "notes v1.2"),
        ("./notes v1.2", "notes v1.2.md"),
        ("README", "README.md"),
        ("./a/../sub/Deep", "sub/Deep.md"),
        ("../sub/Deep", "../sub/Deep"),
        ("./Deep", "./Deep"),
        ("none/Deep", "none/Deep"),
        ("eep", "eep"),
    ],
)
def test_wiki_links_by_path_or_file_name(tmp_path: Path, link: str, target: str) -> None:
    write(
        tmp_path,
        {
            "from.md": f"See [[{link}]] and [[{link}|label]].\n\n## About [[{link}]]\ntext",
            "sub/Deep.md": "---\ntitle: Deep note\n---\ntext",
            "a/Dup.md": "one",
            "b/Dup.md": "two",
            "b/x/Dup.md": "three",
            "notes v1.2.md": "text",
            "README.md": "text",
            "sub/README.md": "text",
        },
    )
    assert links_of(tmp_path)["from.md"] == (target,)


def test_a_note_in_the_same_folder_has_priority(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "b/from.md": "[[Dup]] [[x/Dup]] [[README]] [[./x/Dup]]",
            "c/from.md": "[[Dup]] [[x/Dup]]",
            "a/b/Dup.md": "deep, and the first by path",
            "b/Dup.md": "beside",
            "d/Dup.md": "as near to c as b is",
            "x/Dup.md": "exactly x/Dup",
            "b/x/Dup.md": "below",
            "README.md": "root",
            "b/README.md": "beside",
        },
    )
    found = links_of(tmp_path)
    assert found["b/from.md"] == ("b/Dup.md", "x/Dup.md", "b/README.md", "b/x/Dup.md")
    assert found["c/from.md"] == ("b/Dup.md", "x/Dup.md")


def test_a_title_or_alias_comes_before_a_path(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "from.md": "[[TCP/IP]] [[Band]] [[old name]] [[Heading]]",
            "TCP/IP.md": "a file of that path",
            "protocols.md": "# TCP/IP\ntext",
            "a/Band.md": "# One\ntext",
            "b/Band.md": "# Two\ntext",
            "music.md": "---\naliases: [band]\n---\ntext",
            "a/Old name.md": "# Three\ntext",
            "b/Old name.md": "---\ntitle: Old name\n---\n# Heading\n\ntext",
            "a/Heading.md": "# Four\ntext",
            "b/Heading.md": "# Five\ntext",
        },
    )
    assert links_of(tmp_path)["from.md"] == ("TCP/IP", "Band", "old name", "Heading")


def read(root: Path) -> dict[str, SourceArticle]:
    items, _ = read_source(pickle.loads(pickle.dumps(open_source(root))))
    return {item.source_id: item for item in items if isinstance(item, SourceArticle)}


def test_all_kinds_of_documents_are_read_and_linked(tmp_path: Path) -> None:
    files = {
        "pump.md": "# Pump\n\nSee [[valve]], [the tank](tank.rst) and [log](log.txt).",
        "tank.rst": "The tank\n========\n\nSee :doc:`pump` and `valves <valve.txt>`_.\n",
        "valve.txt": "A valve has two ends.",
        "log.txt": "It broke.",
        "site/page.html": "<title>The page</title><h1>The page</h1><p>See <a href='../pump.md'>pumps</a>.",
        "spare parts.csv": "part,price\nSeal,2.50\nNut,0.10\nIs it new?,yes\n",
    }
    found = read(write(tmp_path, files))
    assert {key: (item.title, item.links) for key, item in found.items()} == {
        "log.txt": ("log", ()),
        "pump.md": ("Pump", ("valve", "tank.rst", "log.txt")),
        "site/page.html": ("The page", ("pump.md",)),
        "spare parts.csv": ("spare parts", ()),
        "tank.rst": ("The tank", ("pump.md", "valve.txt")),
        "valve.txt": ("valve", ()),
    }
    assert "See Pump and valves." in found["tank.rst"].sections[0].text
    assert without_blocks(found["spare parts.csv"]).sections == (
        SourceSection((), "part: Seal | price: 2.50\npart: Nut | price: 0.10"),
        SourceSection(("Is it new?",), "price: yes", anchor="row-4"),
    )


def test_compressed_documents_are_read_and_linked(tmp_path: Path) -> None:
    page = "<title>{}</title><main><h1>{}</h1><p>" + "Words about it. " * 20 + "<a href='{}'>more</a></main>"
    (tmp_path / "one.html.gz").write_bytes(gzip.compress(page.format("One", "One", "two.html").encode()))
    (tmp_path / "two.html.xz").write_bytes(lzma.compress(page.format("Two", "Two", "one.html").encode()))
    (tmp_path / "three.html").write_text(page.format("Three", "Three", "one.html"))
    (tmp_path / "three.html.gz").write_bytes(gzip.compress(b"a copy for a web server"))
    found = read(tmp_path)
    assert {key: (item.title, item.links) for key, item in found.items()} == {
        "one.html.gz": ("One", ("two.html.xz",)),
        "three.html": ("Three", ("one.html.gz",)),
        "two.html.xz": ("Two", ("one.html.gz",)),
    }


def test_compressed_notes_are_named_without_the_suffix(tmp_path: Path) -> None:
    (tmp_path / "pump.txt.gz").write_bytes(gzip.compress(b"It pumps."))
    (tmp_path / "tank.md.bz2").write_bytes(bz2.compress(b"See [[pump]] and [it](pump.txt)."))
    found = read(tmp_path)
    assert {key: (item.title, item.links) for key, item in found.items()} == {
        "pump.txt.gz": ("pump", ()),
        "tank.md.bz2": ("tank", ("pump", "pump.txt.gz")),
    }
    (article,) = read(tmp_path / "pump.txt.gz").values()
    assert (article.title, article.sections[0].text) == ("pump", "It pumps.")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(b"x" * 100_000)[:-20], r"^a\.txt\.gz: the file is truncated: its gzip data ends too early"),
        (b"BZh9" + b"x" * 50, r"^a\.txt\.gz: The bzip2 data of the file is damaged"),
        (gzip.compress(b"\0" * (MAX_DOCUMENT_BYTES + 1), 1), r"^a\.txt\.gz: the file is larger than 64 MiB"),
    ],
)
def test_damaged_files_and_bombs_are_bad_records(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "a.txt.gz").write_bytes(data)
    source = open_source(tmp_path)
    (record,) = source.records()
    with pytest.raises(RecordError, match=message):
        list(source.parse(record))


def test_rows_of_a_table_in_a_folder_that_have_no_title_or_are_bad(tmp_path: Path) -> None:
    table = "size,price\n330 ml,2.50\n500 ml,3.20,cold\n1 l,4.00\n"
    source = open_source(write(tmp_path, {"a.md": "Words.", "prices.csv": table, "empty.csv": "size,price\n"}))
    items = [item for record in source.records() for item in source.parse(record) if record.source_id != "a.md"]
    assert [without_blocks(item) if isinstance(item, SourceArticle) else item for item in items] == [
        Skipped("empty.csv", "no text"),
        BadPart("prices.csv, line 3", "expected 2 columns, found 3; quote cells that contain a delimiter"),
        SourceArticle(
            "prices", "prices.csv", (SourceSection((), "size: 330 ml | price: 2.50\nsize: 1 l | price: 4.00"),)
        ),
    ]


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("b.html", "d/b.html"),
        ("../b.html?x#y", "b.html"),
        ("./", "d/index.html"),
        ("..", "index.html"),
        ("guide", "d/guide.html"),
        ("a%20b.html", "d/a b.html"),
        ("page.html", None),
        ("#top", None),
        ("/abs.html", "abs.html"),
        ("//host/x.html", None),
        ("javascript:f()", None),
        ("../../out.html", None),
        ("x.css", None),
        ("http://[bad", None),
    ],
)
def test_resolve_link(href: str, target: str | None) -> None:
    suffixes = (".html", ".htm")
    assert resolve_link("d/page.html", href, suffixes, Pages((), suffixes)) == target
