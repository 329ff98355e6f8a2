"""Section quality: every row and example of reference/retrieval-enhancements.md, and what must always hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
from wikigr.rerankers.section_quality import CONTENT_QUALITY_THRESHOLD, SectionQuality, score_section_quality
from wikigr.retrieval.trace import Trace
from wikigr.stop_words import STOP_WORDS

TWO = "quantum entanglement"


def text(length: int, *, holding: str = "") -> str:
    """A text of ``length`` words, those of ``holding`` first."""
    first = holding.split()
    return " ".join([*first, *["word"] * (length - len(first))])


def test_documented_scores() -> None:
    cases = [
        (text(19, holding=TWO), TWO, 0.0),
        ("", TWO, 0.0),
        (text(20), "", 0.26),
        (text(20, holding="what is the"), "What is the … of it?", 0.26),
        (text(50), TWO, 0.35),
        (text(50, holding=TWO), TWO, 0.55),
        (text(100), TWO, 0.50),
        (text(200), TWO, 0.80),
        (text(200, holding=TWO), TWO, 1.0),
        (text(1000), TWO, 0.80),
        (text(1000, holding="quantum"), TWO, 0.90),
        (text(1000, holding=TWO), TWO, 1.0),
        ("See also.", TWO, 0.0),
        (" ".join(["quantum", "entanglement"] * 100), TWO, 1.0),
    ]
    assert [
        (content, question, score)
        for content, question, score in cases
        if score_section_quality(content, question) != pytest.approx(score, abs=1e-9)
    ] == []


def test_a_match_ignores_case_punctuation_unicode_form_and_possessives() -> None:
    cases = [
        ("(Photosynthesis),", "What is PHOTOSYNTHESIS?"),
        ("Bell", "Who was Bell’s?"),
        ("Bell's", "Who was bell?"),
        ("Schro\u0308dinger", "Who was Schrödinger?"),
        ("quantum_state", "quantum state"),
        ("ﬁne", "fine"),
    ]
    assert [
        (written, asked)
        for written, asked in cases
        if score_section_quality(text(200, holding=written), asked) != pytest.approx(1.0)
    ] == []


def test_part_of_a_word_is_no_match() -> None:
    assert score_section_quality(text(200, holding="atomic"), "atom") == pytest.approx(0.8)


def test_stop_words() -> None:
    assert set("a an the in of to for with by from".split()) <= STOP_WORDS
    assert "photosynthesis" not in STOP_WORDS
    assert isinstance(STOP_WORDS, frozenset)
    assert 75 <= len(STOP_WORDS) <= 85
    assert CONTENT_QUALITY_THRESHOLD == 0.3


@given(st.text(), st.text())
def test_a_score_lies_between_0_and_1(content: str, question: str) -> None:
    assert 0.0 <= score_section_quality(content, question) <= 1.0
    assert 0.26 <= score_section_quality(content + " word" * 20, question) <= 1.0


@given(st.integers(20, 400), st.integers(0, 400), st.integers(1, 8), st.data())
def test_more_keywords_or_more_words_never_lower_a_score(
    length: int, longer: int, asked: int, data: st.DataObject
) -> None:
    keywords = [f"key{n}" for n in range(asked)]
    more = data.draw(st.integers(1, asked))
    fewer = data.draw(st.integers(0, more - 1))
    question = "What is " + " ".join(keywords)

    def score(words: int, held: int) -> float:
        return score_section_quality(text(words, holding=" ".join(keywords[:held])), question)

    assert score(length, fewer) < score(length, more)
    assert score(length, more) <= score(length + longer, more)


MISSIONS = """\
Apollo 11\tcommander\tNeil Armstrong
Apollo 11\tlunar module pilot\tBuzz Aldrin
Apollo 11\tcommand module pilot\tMichael Collins
Apollo 11\tlaunch date\tJuly 16, 1969
Apollo 13\tcommander\tJim Lovell
Apollo 13\tlaunch date\tApril 11, 1970
Apollo 15\tcommander\tDavid Scott
Apollo 15\tlanding site\tHadley Rille
Apollo 17\tcommander\tEugene Cernan
Jim Lovell\tborn\tMarch 25, 1928
"""
NOTES = [
    {"id": "1", "title": "Boiler", "text": "The boiler is serviced by Meyer and Sons."},
    {"id": "2", "title": "Boiler room", "text": "Boiler and pump: photos"},
    {"id": "3", "title": "Heating", "text": " ".join(["Heating a house takes a boiler, pumps and pipes."] * 4)},
]


@pytest.fixture(scope="module")
def open_pipeline(pack_of: Callable[..., Path]) -> Iterator[Callable[[str, str], Pipeline]]:
    """Return a function that builds a pack from the text of a source and answers from it by the default profile."""
    with ExitStack() as stack:

        @cache
        def open_source_text(name: str, text: str) -> Pipeline:
            pack = stack.enter_context(Pack(pack_of("pack", {name: text})))
            return Pipeline(load_profile("enhanced"), pack, offline=True)

        yield open_source_text


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("Who was the commander of Apollo 13?", "Apollo 13 — commander: Jim Lovell."),
        ("Who commanded apollo 17?", "Apollo 17 — commander: Eugene Cernan."),
        ("Where did Apollo 15 land?", "Apollo 15 — landing site: Hadley Rille."),
        ("When was Jim Lovell born?", "Jim Lovell — born: March 25, 1928."),
    ],
)
def test_a_section_of_few_facts_is_not_a_stub(
    open_pipeline: Callable[[str, str], Pipeline], question: str, quote: str
) -> None:
    assert open_pipeline("missions.tsv", MISSIONS).answer(question).citations[0].quote == quote


def test_a_stub_is_a_short_section_that_states_nothing(open_pipeline: Callable[[str, str], Pipeline]) -> None:
    pipeline = open_pipeline("notes.jsonl", "\n".join(map(json.dumps, NOTES)))
    trace = Trace()
    question = "How does heating a house with a boiler and pumps work?"
    read = [item.section.title for item in pipeline.retrieve(question, trace).evidence]
    assert read[0] == "Heating" and "Boiler" in read and "Boiler room" not in read
    (record,) = (stage for stage in trace.stages if stage.stage == SectionQuality.name)
    assert record.dropped == {"Boiler room#0": "quality 0.00 below 0.30"}


def test_what_ranks_first_is_not_a_stub(open_pipeline: Callable[[str, str], Pipeline]) -> None:
    pipeline = open_pipeline("notes.jsonl", "\n".join(map(json.dumps, NOTES)))
    evidence = pipeline.retrieve("Where are the photos of the boiler room?", Trace()).evidence
    assert evidence[0].section.content == "Boiler and pump: photos"
