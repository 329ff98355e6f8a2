"""Examples keep held-out articles out, and negatives do not hold an answer."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from training.config import ASKED, DISTANT, GENERAL, Config, DataConfig, Phase
from training.examples import Example, contains_answer, occurrences, read_examples
from training.negatives import swap_entity
from training.prepare import ANSWER, HELD_OUT_FILE, UNANSWERABLE, part_file, prepare, read_phase, read_sources
from training.sources.hotpotqa import read_hotpotqa
from training.sources.natural_questions import read_natural_questions
from training.sources.squadshifts import parse_row
from wikigr.embeddings.embedder import Embedder

ALL_KINDS = DataConfig(
    held_out_articles=2,
    qamr=12,
    forum=10,
    same_article_share=1.0,
    attribute_share=1.0,
    search_share=1.0,
    entity_swap_share=1.0,
)
CONFIG = Config(base="small", phases=(), data=ALL_KINDS)
ASKED_EXAMPLES = tuple(
    Example("asked/test", "answer", city, "Where?", city, "", f"It is {city}.", (city,), ((6, 6 + len(city)),))
    for city in ("Ulm", "Kiel", "Würzburg", "Wien", "Bristol")
)


# Three negatives from search for each question.
THREE = replace(CONFIG, data=replace(ALL_KINDS, search_negatives=3))


@pytest.fixture(scope="module")
def work(data: Path, tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    """What is prepared as ``CONFIG`` says. Tests only read it."""
    folder = tmp_path_factory.mktemp("work")
    prepare(data, folder, CONFIG, encoder, ASKED_EXAMPLES)
    return folder


@pytest.fixture(scope="module")
def three(data: Path, tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    """What is prepared as ``THREE`` says. Tests only read it."""
    folder = tmp_path_factory.mktemp("three")
    prepare(data, folder, THREE, encoder, ASKED_EXAMPLES)
    return folder


def read_parts(folder: Path) -> list[Example]:
    return [example for part in (GENERAL, DISTANT) for example in read_examples(folder / part_file(part))]


@pytest.fixture(scope="module")
def examples(work: Path) -> list[Example]:
    return read_parts(work)


def test_training_never_reads_a_held_out_article(examples: list[Example], data: Path, work: Path) -> None:
    sources = read_sources(data, CONFIG)
    assert len(sources.titles) == 2
    assert not {example.title for example in examples} & set(sources.titles)
    held_out = read_examples(work / HELD_OUT_FILE)
    assert {example.title for example in held_out} == set(sources.titles)
    assert not {example.text for example in examples} & {example.text for example in held_out}


def test_a_held_out_title_is_left_out_of_every_data_set(data: Path) -> None:
    titles = {question.title for question in read_sources(data, CONFIG).training if question.source != "squad2"}
    seeds = [replace(CONFIG, seed=seed) for seed in range(30)]
    held = [read_sources(data, config) for config in seeds]
    assert "Ulm" in titles | {title for sources in held for title in sources.titles}
    for sources in held:
        assert not {question.title for question in sources.training} & set(sources.titles)


def test_negatives_hold_no_accepted_answer(examples: list[Example]) -> None:
    kinds = {example.kind for example in examples}
    assert kinds == {ANSWER, UNANSWERABLE, "same_article", "attribute", "search", "entity_swap"}
    for example in examples:
        assert bool(example.spans) == (example.kind == ANSWER)
        if example.kind != ANSWER:
            assert not contains_answer(example.text, example.accepted)
    originals = {example.id: example.text for example in examples if example.kind == ANSWER}
    for example in examples:
        if example.kind in ("same_article", "attribute", "search"):
            assert example.text != originals.get(example.id)


def test_spans_are_answers(examples: list[Example]) -> None:
    for example in examples:
        for start, end in example.spans:
            assert example.text[start:end] in example.accepted


def test_qamr_has_as_many_negatives_as_answers(examples: list[Example]) -> None:
    kinds = [example.kind for example in examples if example.source == "qamr"]
    # "Leiden" is in every sentence, so questions about it have no negative.
    answers = [e for e in examples if e.source == "qamr" and e.kind == ANSWER and "Leiden" not in e.accepted]
    assert kinds.count("search") == len(answers) > 0


def test_the_same_seed_gives_the_same_bytes(data: Path, work: Path, tmp_path: Path, encoder: Embedder) -> None:
    prepare(data, tmp_path, CONFIG, encoder, ASKED_EXAMPLES)
    for part in (GENERAL, DISTANT, ASKED):
        one, two = ((folder / part_file(part)).read_bytes() for folder in (work, tmp_path))
        assert one
        assert one == two


def test_a_phase_draws_from_the_parts_that_it_names(data: Path, work: Path) -> None:
    phase = Phase("one", ((GENERAL, 5), (ASKED, 0)), ((0, 0.0), (1, 0.0)), 1.0)
    read = read_phase(work, CONFIG, phase)
    held_out = read_sources(data, CONFIG).titles
    assert len(read) == 5 + len(ASKED_EXAMPLES) - len(held_out)
    assert not {example.title for example in read} & set(held_out)
    assert read == read_phase(work, CONFIG, phase)
    assert read != read_phase(work, CONFIG.at(1), phase)


def test_a_phase_with_a_shared_loss_draws_whole_questions(three: Path) -> None:
    every = Counter(example.asked for example in read_examples(three / part_file(GENERAL)))
    assert max(every.values()) > 4
    phase = Phase("one", ((GENERAL, 40),), ((0, 0.0), (1, 0.0)), 1.0, shared=1.0)
    read = read_phase(three, THREE, phase)
    assert 40 <= len(read) < 44
    drawn = Counter(example.asked for example in read)
    assert all(count == min(4, every[asked]) for asked, count in drawn.items())
    assert read == read_phase(three, THREE, phase)
    both = [[e.spans for e in read if e.asked == asked] for asked in drawn]
    assert any(any(spans) and not all(spans) for spans in both)


def test_a_question_gets_as_many_negatives_from_search_as_it_should(work: Path, three: Path) -> None:
    for folder, count in ((work, ALL_KINDS.search_negatives), (three, 3)):
        examples = read_parts(folder)
        for source in ("squad2", "nq"):
            answered = {e.asked for e in examples if e.source == source and e.kind == ANSWER}
            found = Counter(e.asked for e in examples if e.kind == "search" and e.asked in answered)
            assert max(found.values()) == count


def test_nq_gives_answers_and_questions_without_one(data: Path, examples: list[Example]) -> None:
    folder = data / "questions"
    halves = [{item.id for item in read_natural_questions(folder, held_out=held)} for held in (False, True)]
    assert all(halves)
    assert not halves[0] & halves[1]
    found = [example for example in examples if example.source == "nq"]
    assert {example.id for example in found} <= halves[0]
    assert {(example.kind, bool(example.spans)) for example in found} >= {(ANSWER, True), ("search", False)}


def test_distant_answers_stand_in_a_passage_that_says_what_is_asked(examples: list[Example]) -> None:
    found = [example for example in examples if example.source == "webquestions"]
    (answer,) = (example for example in found if example.kind == ANSWER)
    assert (answer.question, answer.title) == ("where did planck live?", "Planck's years")
    assert [example.kind for example in found if example.id == "w1"] == [ANSWER, "search"]
    # No passage states the other answer, so nothing is known about what the passages say.
    assert not any(example.id == "w2" for example in found)


def test_hotpotqa_keeps_spans_of_one_passage(data: Path) -> None:
    (question,) = read_hotpotqa(data / "hotpotqa")
    assert question.accepted == ("Einstein",)
    assert question.title == "Ulm"


def test_answers_that_are_not_where_the_row_says_are_found_or_dropped() -> None:
    row = {"id": "1", "title": "A_B", "context": "art in Stuttgart, art", "question": "What?"}
    moved = parse_row({**row, "answers": [{"text": "art", "start": 5}]}, "x", titled=True)
    assert moved is not None
    assert moved.spans == ((0, 3), (18, 21))
    assert moved.title == "A B"
    assert parse_row({**row, "answers": [{"text": "music", "start": 0}]}, "x", titled=True) is None


def test_occurrences_prefer_whole_words() -> None:
    assert occurrences("Stuttgart art", "art") == ((10, 13),)
    assert occurrences("Stuttgart", "art") == ((6, 9),)
    assert occurrences("Stuttgart", "") == ()


def test_a_swapped_question_asks_about_another_entity(data: Path) -> None:
    swapped = 0
    for question in read_sources(data, CONFIG).training:
        changed = swap_entity(question, random.Random(1))
        if changed is not None:
            swapped += 1
            assert changed != question.question
            assert not any(answer in changed for answer in question.accepted)
    assert swapped
