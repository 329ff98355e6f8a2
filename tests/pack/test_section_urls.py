"""The addresses of sections, in packs built from every kind of source."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.pack.older import build_without_anchors
from tests.sources.office import files

from wikigr.distribution.untrusted_database import check_schema
from wikigr.embeddings.embedder import Embedder
from wikigr.graph.engine import Graph
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.digest import database_digest
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import read_manifest
from wikigr.pack.open import Pack
from wikigr.pack.section_urls import find_source_file, record_source_folder, web_address
from wikigr.sources.detect import open_source

NOTE = "# Valve 7\n\nIt is red.\n\n## Opening it\n\nTurn the lever.\n\n## Closing it\n\nTurn it back.\n"
# The digest of a pack of NOTE, built by the last commit before the column.
DIGEST_WITHOUT_ANCHORS = "171c377e5d8a06e425641f2aecbe2091a3719e13749dd5cd090f9264647be826"
WIKI = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10">
<siteinfo><base>https://w.example/wiki/Main_Page</base><case>first-letter</case></siteinfo>
<page><title>Red lever</title><ns>0</ns><id>1</id><revision><id>2</id><model>wikitext</model>
<text>It is red.
== Early use ==
Turn it.</text></revision></page></mediawiki>"""

WIKI_WITH_INFOBOXES = WIKI.replace("It is red.", "{{Infobox x|shade=red}}It is red.").replace(
    "Turn it.", "{{Infobox x|turns=2}}Turn it.\n== Later use ==\nNone."
)


def build(source: Path, pack: Path, encoder: Embedder) -> Path:
    build_pack(open_source(source), str(source), pack, encoder, BuildOptions(name="p"))
    return pack


def urls(pack: Path, *section_ids: str) -> list[str | None]:
    with Pack(pack) as opened:
        return list(opened.urls_of(section_ids).values())


def notes(folder: Path, text: str = NOTE) -> Path:
    folder.mkdir(parents=True)
    (folder / "valve 7.md").write_text(text)
    return folder


def test_a_note_is_found_beside_the_pack_wherever_both_are_moved(tmp_path: Path, encoder: Embedder) -> None:
    pack = build(notes(tmp_path / "old" / "notes"), tmp_path / "old" / "packs" / "valves", encoder)
    moved = (tmp_path / "old").rename(tmp_path / "new")
    page = (moved / "notes" / "valve 7.md").as_uri()
    assert urls(moved / "packs" / "valves", "Valve 7#0", "Valve 7#1") == [page, f"{page}#opening-it"]
    # Without the source, its path within the source remains. No path of this machine is in the pack's own files.
    alone = shutil.copytree(moved / "packs" / "valves", tmp_path / "alone")
    assert urls(alone, "Valve 7#2", "Valve 7#9", "Nothing#0") == ["valve%207.md#closing-it", None, None]
    assert pack.name == "valves"
    for file in json.loads((alone / "manifest.json").read_text())["files"]:
        assert str(tmp_path).encode() not in (alone / file).read_bytes()


def test_places_in_office_files_are_anchors(tmp_path: Path, encoder: Embedder) -> None:
    folder = notes(tmp_path / "notes")
    (folder / "manual.pdf").write_bytes(files.pdf([[(1, "Berths"), "Berth 4 is free."], ["Berth 5 is not."]]))
    (folder / "rota.pptx").write_bytes(files.pptx())
    (folder / "prices.xlsx").write_bytes(files.xlsx())
    (folder / "tides.ipynb").write_bytes(files.notebook())
    (folder / "page.html").write_text(
        "<title>Locks</title><h1>Locks</h1><p>See <a href='manual.pdf'>all berths</a>.</p>"
    )
    pack = build(folder, tmp_path / "pack", encoder)
    page = folder.as_uri()
    assert urls(pack, "manual#0", "manual#1", "rota#1", "prices#0", "tides#1", "Valve 7#1", "Locks#0") == [
        f"{page}/manual.pdf#page=1",
        f"{page}/manual.pdf#page=2",
        f"{page}/rota.pptx#slide=2",
        f"{page}/prices.xlsx#Prices!A3:E5",
        f"{page}/tides.ipynb#cell=3",
        f"{page}/valve%207.md#opening-it",
        f"{page}/page.html",
    ]
    with Pack(pack) as opened:
        links = opened.graph.rows("MATCH (a)-[:LINKS_TO]->(b) RETURN a.title, b.title", {})
    assert [list(row) for row in links] == [["Locks", "manual"]]


PROSE = "<p>" + "The lever of the valve is red and turns in both directions. " * 6 + "</p>"
SPHINX = (
    "Shop\n====\n\nThe shop has tools.\n\nTools\n-----\n\nThey are kept in the cupboard behind the red door.\n\n"
    f".. py:function:: sharpen_blade(angle=20)\n\n   {'Sharpen the blade of a tool until it cuts. ' * 6}\n\n"
    "Hours\n-----\n\nThe shop is open from eight to five, but not on Sundays.\n"
)
LINKED = '<link rel="canonical" href="https://w.example/a?x=1&amp;y=2">'
RECORDS = "".join(
    json.dumps({"title": f"Valve {n}", "text": "It is red.", **({"url": f"https://w.example/{n}"} if n % 3 else {})})
    + "\n"
    for n in range(20)
)
# Files of a folder with their texts, and the addresses of their sections; "{folder}" is the address of the folder.
FILES: dict[str, tuple[str, dict[str, str | None]]] = {
    "valve 7.md": (NOTE, {"Valve 7#0": "{folder}/valve%207.md", "Valve 7#1": "{folder}/valve%207.md#opening-it"}),
    "valve 8.md": (
        "---\nurl: https://w.example/valve\n---\n" + NOTE.replace("7", "8"),
        {"Valve 8#0": "https://w.example/valve", "Valve 8#1": "https://w.example/valve#opening-it"},
    ),
    "valve 9.md": (
        "---\nurl: javascript:alert(1)\n---\n" + NOTE.replace("7", "9"), {"Valve 9#0": "{folder}/valve%209.md"},
    ),
    # An entry of Sphinx, at the heading above it.
    "shop.rst": (
        SPHINX,
        {"Shop#0": "{folder}/shop.rst", **{f"Shop#{n}": "{folder}/shop.rst#tools" for n in (1, 2)},
         "Shop#3": "{folder}/shop.rst#hours"},
    ),
    "a.html": (
        f"<html><head><title>a</title>{LINKED}</head><body>{PROSE}<h2 id='use it'>Use</h2>{PROSE}</body></html>",
        {"a#1": "https://w.example/a?x=1&y=2#use%20it"},
    ),
    "b.html": (
        f"<html><head><title>b</title></head><body>{PROSE}<h2 id='use it'>Use</h2>{PROSE}</body></html>",
        {"b#1": "{folder}/b.html#use%20it"},
    ),
}  # fmt: skip
# A page of a wiki, with the facts of its infoboxes at the text beside the box.
PAGES = {
    "Red lever#0": "https://w.example/wiki/Red_lever",
    "Red lever#1": "https://w.example/wiki/Red_lever#Early_use",
    "Red lever#2": "https://w.example/wiki/Red_lever#Early_use",
    "Red lever#3": "https://w.example/wiki/Red_lever#Later_use",
    "Red lever#4": "https://w.example/wiki/Red_lever",
}


def test_the_addresses_of_sections(tmp_path: Path, encoder: Embedder) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, (text, _) in FILES.items():
        (folder / name).write_text(text)
    expected = {id_: url for _, found in FILES.values() for id_, url in found.items()}
    pack = build(folder, tmp_path / "pack", encoder)
    assert urls(pack, *expected) == [url and url.format(folder=folder.as_uri()) for url in expected.values()]
    # A source that is one file.
    single = build(folder / "valve 7.md", tmp_path / "single", encoder)
    assert urls(single, "Valve 7#1") == [f"{(folder / 'valve 7.md').as_uri()}#opening-it"]


def test_the_addresses_of_records_and_pages(tmp_path: Path, encoder: Embedder) -> None:
    (tmp_path / "dump.xml").write_text(WIKI_WITH_INFOBOXES)
    assert urls(build(tmp_path / "dump.xml", tmp_path / "wiki", encoder), *PAGES) == list(PAGES.values())
    (tmp_path / "a.jsonl").write_text(RECORDS)
    records = build(tmp_path / "a.jsonl", tmp_path / "records", encoder)
    assert urls(records, *(f"Valve {n}#0" for n in range(20))) == [
        f"https://w.example/{n}" if n % 3 else None for n in range(20)
    ]


def test_an_older_pack_without_anchors_is_valid_and_has_the_addresses_of_its_files(
    tmp_path: Path, encoder: Embedder
) -> None:
    source = notes(tmp_path / "notes")
    page = (source / "valve 7.md").as_uri()
    pack = build_without_anchors(source, tmp_path / "pack", encoder)
    manifest = read_manifest(pack / "manifest.json")
    assert manifest.digest == DIGEST_WITHOUT_ANCHORS
    with Graph(pack / "pack.db") as graph:
        assert [check.detail for check in check_schema(graph, manifest) if not check.passed] == []
        assert database_digest(graph, manifest.encoder) == manifest.digest
    assert urls(pack, "Valve 7#0", "Valve 7#1") == [page, page]
    # Built again, it has them, and another digest.
    assert urls(build(source, pack, encoder), "Valve 7#0", "Valve 7#1") == [page, f"{page}#opening-it"]
    assert read_manifest(pack / "manifest.json").digest != manifest.digest


def test_a_rebuild_from_records_forgets_the_folder(tmp_path: Path, encoder: Embedder) -> None:
    pack = build(notes(tmp_path / "notes"), tmp_path / "pack", encoder)
    (tmp_path / "a.jsonl").write_text('{"id": "valve 7.md", "title": "Valve 7", "text": "It is red."}\n')
    build(tmp_path / "a.jsonl", pack, encoder)
    assert not (pack / ".wikigr" / "source").exists()
    assert urls(pack, "Valve 7#0") == [None]


def test_only_web_addresses_are_addresses() -> None:
    cases = {
        " https://w.example/wiki/Ä b ": None,
        "https://w.example/wiki/Äb": "https://w.example/wiki/%C3%84b",
        "https://w.example/a%20b?c=d&e=f#g": "https://w.example/a%20b?c=d&e=f#g",
        'https://w.example/"<x>': "https://w.example/%22%3Cx%3E",
        "https://w.example/\x1b]8;;": None,
        "https://w.example/\u0085x": None,
        "file:///etc/passwd": None,
        "javascript:alert(1)": None,
        "//w.example/a": None,
        "https://": None,
        "http://[": None,
        "https://w.example/" + "a" * 5000: None,
        "": None,
    }
    assert {text: web_address(text) for text in cases} == cases


# -- the record of the folder that a pack was built from


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path / "packs" / "p")
    layout.work.mkdir(parents=True)
    (tmp_path / "notes" / "sub").mkdir(parents=True)
    (tmp_path / "notes" / "sub" / "a.md").write_text("a")
    (tmp_path / "secret.md").write_text("b")
    (tmp_path / "notes" / "key.pem").write_text("c")
    record_source_folder(layout, tmp_path / "notes")
    return layout


def test_the_record_is_relative(layout: Layout, tmp_path: Path) -> None:
    assert (layout.work / "source").read_text() == "../../notes"
    assert find_source_file(layout, "sub/a.md", (".md",)) == tmp_path / "notes" / "sub" / "a.md"


def test_only_files_of_the_format_in_the_folder_are_found(layout: Layout) -> None:
    cases = ["../secret.md", "/etc/hosts.md", "key.pem", "sub", "gone.md", "a\x00.md", ""]
    assert [source_id for source_id in cases if find_source_file(layout, source_id, (".md",)) is not None] == []


def test_without_a_record_nothing_is_found(layout: Layout) -> None:
    record_source_folder(layout, None)
    assert find_source_file(layout, "sub/a.md", (".md",)) is None
    record_source_folder(layout, None)
