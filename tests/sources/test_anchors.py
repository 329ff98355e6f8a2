"""Anchors of headings, as GitHub and MediaWiki make them."""

from __future__ import annotations

import pytest
from docutils import nodes
from docutils.core import publish_doctree

from wikigr.sources.anchors import section_anchors, without_entries
from wikigr.sources.formats import format_named


@pytest.mark.parametrize(
    ("heading", "slug", "wiki"),
    [
        ("Proof and prize", "proof-and-prize", "Proof_and_prize"),
        ("C++ & Rust: a 2nd look!", "c--rust-a-2nd-look", "C++_&_Rust:_a_2nd_look!"),
        ("Schrödinger’s cat", "schrödingers-cat", "Schrödinger’s_cat"),
        ("snake_case and kebab-case", "snake_case-and-kebab-case", "snake_case_and_kebab-case"),
    ],
)
def test_a_heading_becomes_an_anchor(heading: str, slug: str, wiki: str) -> None:
    assert list(section_anchors("slug", [[], [heading]])) == ["", slug]
    assert list(section_anchors("wiki", [[], [heading]])) == ["", wiki]
    assert list(section_anchors("", [[], [heading]])) == ["", ""]


def test_repeated_headings_are_numbered() -> None:
    paths = [["Linux"], ["Linux", "Usage"], ["macOS"], ["macOS", "Usage"], ["Windows", "Usage"]]
    assert list(section_anchors("slug", paths)) == ["linux", "usage", "macos", "usage-1", "usage-2"]
    assert list(section_anchors("wiki", paths)) == ["Linux", "Usage", "macOS", "Usage_2", "Usage_3"]


def test_a_heading_without_text_counts_and_the_pieces_of_a_section_share_its_anchor() -> None:
    # "Usage" without text of its own is above "Options"; then a section in two pieces, and the same heading again.
    paths = [["Usage", "Options"], ["Notes"], ["Notes"], ["Usage"], ["Notes"]]
    assert list(section_anchors("slug", paths)) == ["options", "notes", "notes", "usage-1", "notes-1"]


def test_documents_of_an_e_book_and_headings_of_a_text_document_have_anchors() -> None:
    paths = [["Document 3"], ["Document 3", "Tides"], ["Document 12", "Fees"]]
    assert list(section_anchors("place", paths)) == ["epubcfi(/6/6!)", "epubcfi(/6/6!)", "epubcfi(/6/24!)"]
    rules = [format_named(name).anchors_of(file) for name in ("office", "mixed") for file in ("a.DOCX", "b.pdf")]
    assert rules == ["outline", "place"] * 2
    assert list(section_anchors("outline", [[], ["Berths", "Fees"]])) == ["", "Fees|outline"]


def test_headings_of_restructuredtext_have_the_ids_of_docutils() -> None:
    headings = ["Food & water: 2.0", "Ärger", "Usage", "2.1 Numbers", "Usage", "日本"]
    document = publish_doctree("\n\n".join(f"{heading}\n{'=' * 20}\n\nText." for heading in headings))
    ids = [section["ids"][0] for section in document.findall(nodes.section)]
    # What docutils calls the second "Usage" and a heading without letters of ASCII depends on the rest of the document.
    assert list(section_anchors("docutils", [[heading] for heading in headings])) == [*ids[:4], "", ""]


def test_entries_of_sphinx_have_the_anchor_of_the_heading_above() -> None:
    sections = [
        (["Tools"], "Tools for the shop."),
        (["Tools", "Grinder"], "Grinder(speed)\n\nA grinder."),
        (["Tools", "Grinder"], "It has a cover."),
        (["Tools", "Grinder", "start"], "async start(delay)\n\nStart it."),
        (["Tools", "Drill", "stop"], "Drill(speed)\n\nstop()\n\nStop it."),
        (["Tools", "--angle LEVEL"], "--angle LEVEL\n\nThe angle."),
        (["Tools", "Cover"], "The cover is shut."),
    ]
    paths = list(without_entries(sections))
    assert paths == [*[["Tools"]] * 6, ["Tools", "Cover"]]
    assert list(section_anchors("docutils", paths)) == [*["tools"] * 6, "cover"]


def test_a_document_has_the_same_anchors_in_a_folder_of_one_format_as_in_one_of_several() -> None:
    for file, name in {
        "a.md": "markdown",
        "a.rst": "rst",
        "a.txt": "text",
        "a.html": "html",
        "a.pdf": "office",
    }.items():
        assert format_named("mixed").anchors_of(file) == format_named(name).anchors_of(file)
