"""Anchors of headings, as GitHub, MediaWiki and LibreOffice make them."""

from __future__ import annotations

import pytest

from wikigr.sources.anchors import outline_anchor, slug_anchors, wiki_anchors


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
    assert slug_anchors()(heading) == slug
    assert wiki_anchors()(heading) == wiki
    assert outline_anchor(heading) == f"{heading}|outline"


def test_repeated_headings_are_numbered() -> None:
    headings = ["Linux", "Usage", "macOS", "Usage", "Usage"]
    assert list(map(slug_anchors(), headings)) == ["linux", "usage", "macos", "usage-1", "usage-2"]
    assert list(map(wiki_anchors(), headings)) == ["Linux", "Usage", "macOS", "Usage_2", "Usage_3"]
