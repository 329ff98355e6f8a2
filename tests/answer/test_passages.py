"""The passages that are shown where no answer is sure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.answer.evidence import evidence, material

from wikigr.answer.abstention import Confidence
from wikigr.answer.answer import Answer
from wikigr.answer.candidates.candidate import Material
from wikigr.answer.citations import StoredText
from wikigr.answer.extractive import MAX_PASSAGE_CHARS, MAX_PASSAGES, PASSAGE, best_stretch, nearest_passages
from wikigr.answer.probability import AnswerModel
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
from wikigr.retrieval.sentences import SentenceScore

FILLER = "The old harbor has a wall, a crane and a small house for the tools of the crew. "
GATE = "The lock gate is greased every second spring with tallow from the store."
LONG = f"{FILLER * 9}{GATE} {FILLER * 9}".strip()
QUESTION = "How often is the lock gate greased?"


@pytest.fixture
def pack(physics_pack: Path) -> Iterator[Pack]:
    with Pack(physics_pack) as opened:
        yield opened


def found(pack: Pack, *texts: str) -> Material:
    items = [evidence(f"Harbor {n}#0", text, 0.9) for n, text in enumerate(texts)]
    return material(pack, QUESTION, *items)


def test_a_long_section_is_shortened_to_the_sentences_around_its_best_one(pack: Pack) -> None:
    (passage,) = nearest_passages(found(pack, LONG))
    assert GATE in passage.text and len(passage.text) <= MAX_PASSAGE_CHARS
    assert LONG[passage.start : passage.end] == passage.text
    assert passage.text.startswith("The ") and passage.text.endswith(".")


def test_a_short_section_is_shown_whole(pack: Pack) -> None:
    (passage,) = nearest_passages(found(pack, f"{FILLER}{GATE}"))
    assert passage.text == f"{FILLER}{GATE}"


def test_a_unit_that_is_too_long_stands_alone(pack: Pack) -> None:
    endless = "gate " * 200 + "is greased."
    (passage,) = nearest_passages(found(pack, f"{FILLER}{endless}"))
    assert passage.text.strip() in (FILLER.strip(), endless)


def test_the_nearest_sections_come_in_their_order_without_what_is_shown(pack: Pack) -> None:
    sections = found(pack, *(f"{GATE} Harbor number {n}." for n in range(MAX_PASSAGES + 2)))
    ids = [passage.section.section_id for passage in nearest_passages(sections)]
    assert ids == ["Harbor 0#0", "Harbor 1#0", "Harbor 2#0"]
    first = next(nearest_passages(sections))
    shown = StoredText(first.text, "Harbor 0#0", first.start, first.end)
    ids = [passage.section.section_id for passage in nearest_passages(sections, [shown])]
    assert ids == ["Harbor 1#0", "Harbor 2#0", "Harbor 3#0"]
    # A passage that holds more than what is shown comes without it.
    rest = first.text.removeprefix(GATE).strip()
    part = replace(shown, text=GATE, end=first.start + len(GATE))
    assert rest and next(nearest_passages(sections, [part])).text.strip() == rest


def test_nothing_was_found(pack: Pack) -> None:
    assert list(nearest_passages(found(pack))) == []


@given(st.lists(st.tuples(st.integers(1, 900), st.floats(0, 1)), min_size=1, max_size=12))
def test_a_stretch_is_consecutive_units_within_the_limit(given_units: list[tuple[int, float]]) -> None:
    section = evidence("A#0", " ".join("x" * length for length, _ in given_units), 1.0).section
    units, start = [], 0
    for length, score in given_units:
        units.append(SentenceScore(section, start, start + length, 0, 0, 0, 0, 0, answer_score=score))
        start += length + 1
    chosen = best_stretch(section, units)
    within = [unit for unit in units if chosen.start <= unit.start and unit.end <= chosen.end]
    assert (within[0].start, within[-1].end) == (chosen.start, chosen.end)
    assert len(within) == 1 or chosen.end - chosen.start <= MAX_PASSAGE_CHARS
    # No unit alone is better, and none could be added.
    total = sum(unit.score for unit in within)
    assert total >= max(unit.score for unit in units) - 1e-6


def test_not_covered_and_not_sure_come_with_passages_of_the_pack(
    physics_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Pack(physics_pack) as pack:
        pipeline = Pipeline(load_profile(), pack, offline=True)
        declined = pipeline.answer("Who won the football match in Turin last week?")
        assert (declined.level, declined.citations) == ("not_covered", ())
        _check_passages(pack, declined, MAX_PASSAGES)

        def not_sure(probability: float, model: AnswerModel, thresholds: Mapping[str, float]) -> Confidence:
            return Confidence(probability, "not_sure", 0.0)

        monkeypatch.setattr("wikigr.answer.stages.assess", not_sure)
        doubtful = pipeline.answer("Where was Werner Heisenberg born?")
        assert doubtful.level == "not_sure" and doubtful.citations
        _check_passages(pack, doubtful, MAX_PASSAGES)


def _check_passages(pack: Pack, answer: Answer, count: int) -> None:
    assert len(answer.alternatives) == count
    sections = pack.sections([c.section_id for other in answer.alternatives for c in other.citations])
    for other in answer.alternatives:
        (cited,) = other.citations
        assert (other.kind, other.span) == (PASSAGE, None)
        assert sections[cited.section_id].content[cited.start : cited.end] == cited.quote
        assert 0.0 <= other.confidence <= 1.0
    ranks = {item.section.section_id: rank for rank, item in enumerate(answer.evidence)}
    order = [ranks[other.citations[0].section_id] for other in answer.alternatives]
    assert order == sorted(order)
