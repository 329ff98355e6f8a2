"""Sections are ordered by their best unit: what one line says counts more than what many say together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from wikigr.index.candidate import UNIT, Evidence
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
from wikigr.rerankers.unit_match import POOL, UnitMatchOptions, best_coverage
from wikigr.retrieval.trace import Trace

QUESTION = "Which supplier delivers the flow meter?"
# Each word of the question is in the first section, but no line of it holds more than one of them beside the heading.
STOCK = """# Stock list

## Suppliers

Every supplier is rated twice a year.

The river has a strong flow in spring.

A parking meter stands at the gate.

Our driver delivers on Fridays.

## Orders

| part | supplier | delivers |
| --- | --- | --- |
| valve | Brandt | Monday |
| flow meter | Okafor | Tuesday |
"""


@pytest.fixture(scope="module")
def pack(pack_of: Callable[..., Path]) -> Path:
    meters = {f"meter{n}.md": f"# Meter {n}\n\nA meter, number {n}.\n" for n in range(POOL + 5)}
    return pack_of("stock", {"stock.md": STOCK, **meters})


def test_a_line_that_holds_the_question_beats_a_section_that_holds_its_words(pack: Path) -> None:
    with Pack(pack) as opened:
        first, *_, last = _found(opened, enabled=True)
        assert first.section.heading == "Orders"
        assert first.candidate.scores[UNIT] == pytest.approx(1.0)
        assert UNIT not in last.candidate.scores, "units are read of the first sections alone"
        by_heading = {item.section.heading: item.section for item in _found(opened, enabled=False)}
        question = Pipeline(load_profile(), opened).retrieve(QUESTION, Trace()).question
        assert best_coverage(by_heading["Suppliers"], question) < 0.7, "two of three words: its heading holds one"


def test_scores_fall_and_no_section_is_lost(pack: Path) -> None:
    with Pack(pack) as opened:
        on, off = (_found(opened, enabled=enabled) for enabled in (True, False))
    scores = [item.candidate.score for item in on]
    assert scores == sorted(scores, reverse=True)
    assert {item.section.section_id for item in on} == {item.section.section_id for item in off}


def _found(pack: Pack, *, enabled: bool) -> list[Evidence]:
    profile = load_profile("fast").override(UnitMatchOptions, enabled=enabled)
    return Pipeline(profile, pack).search(QUESTION, top_k=POOL + 5)
