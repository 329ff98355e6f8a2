"""The value of a profile: typed sections, defaults, equality."""

from __future__ import annotations

import pytest

from wikigr.pipeline.profile import Profile
from wikigr.rerankers.graph_walk import GraphWalkOptions
from wikigr.retrieval.document_selection import MultiDocOptions


def test_a_section_that_is_left_out_has_its_defaults() -> None:
    assert Profile()[GraphWalkOptions] == GraphWalkOptions()


def test_override_changes_one_section_and_leaves_the_original() -> None:
    profile = Profile().override(MultiDocOptions, num_docs=2)
    assert (profile[MultiDocOptions].num_docs, profile[MultiDocOptions].max_sections) == (2, 3)
    assert profile[GraphWalkOptions] == GraphWalkOptions()
    assert Profile()[MultiDocOptions].num_docs == 5


def test_profiles_with_the_same_values_are_equal() -> None:
    changed = Profile().override(MultiDocOptions, num_docs=2)
    assert changed != Profile()
    assert changed.override(MultiDocOptions, num_docs=5) == Profile()
    assert Profile().with_options(MultiDocOptions()) == Profile()


def test_an_unknown_option_is_an_error() -> None:
    with pytest.raises(TypeError, match="num_dox"):
        Profile().override(MultiDocOptions, num_dox=2)
