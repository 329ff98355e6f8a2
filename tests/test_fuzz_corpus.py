"""Try the corpus of every fuzz target once, without atheris."""

from __future__ import annotations

import pytest
from fuzz.targets import DICTIONARIES, TARGETS, seeds

from wikigr.sources.formats import FORMATS


def test_the_corpus_of_a_target_keeps_its_promises(subtests: pytest.Subtests) -> None:
    assert TARGETS
    for name, test_one_input in TARGETS.items():
        with subtests.test(name=name):
            test_one_input(b"")
            files = seeds(name)
            assert files
            for file in files:
                test_one_input(file.read_bytes())


def test_every_format_has_a_target() -> None:
    assert [row.name for row in FORMATS if row.name not in TARGETS] == []


def test_every_dictionary_belongs_to_a_target() -> None:
    assert [path.name for path in DICTIONARIES.iterdir() if path.stem not in TARGETS] == []
