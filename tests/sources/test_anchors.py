"""Anchors of headings, as GitHub and MediaWiki make them."""

from __future__ import annotations

import pytest

from wikigr.sources.documents import slug_anchors, wiki_anchors


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


def test_repeated_headings_are_numbered() -> None:
    headings = ["Linux", "Usage", "macOS", "Usage", "Usage"]
    assert list(map(slug_anchors(), headings)) == ["linux", "usage", "macos", "usage-1", "usage-2"]
    assert list(map(wiki_anchors(), headings)) == ["Linux", "Usage", "macOS", "Usage_2", "Usage_3"]


def test_the_number_of_a_repeated_heading_may_make_an_anchor_that_is_in_use() -> None:
    # As github-slugger and MediaWiki number them
    assert list(map(slug_anchors(), ["Use", "Use", "Use-1", "Use"])) == ["use", "use-1", "use-1-1", "use-2"]
    assert list(map(slug_anchors(), ["Use-1", "Use", "Use"])) == ["use-1", "use", "use-2"]
    assert list(map(wiki_anchors(), ["Use", "Use", "Use 2", "Use"])) == ["Use", "Use_2", "Use_2_2", "Use_3"]
    assert list(map(wiki_anchors(), ["Use 2", "Use", "Use"])) == ["Use_2", "Use", "Use_3"]


def test_wiki_anchors_that_differ_only_in_case_are_numbered() -> None:
    assert list(map(wiki_anchors(), ["Use", "use", "Use", "USE 2"])) == ["Use", "use_2", "Use_3", "USE_2_2"]
