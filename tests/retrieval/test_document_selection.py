from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.index.candidate import Candidate
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.retrieval.document_selection import calibrated_min_relevance, select_documents


def ids(candidates: tuple[Candidate, ...]) -> list[str]:
    return [candidate.section_id for candidate in candidates]


RANKED = [
    Candidate("A#0", 0.9), Candidate("B#0", 0.8, {"dense": 0.2}), Candidate("A#1", 0.7), Candidate("A#2", 0.6),
    Candidate("C#1#0", 0.5, {"dense": 0.6}), Candidate("B#4", 0.4),
]  # fmt: skip


def test_the_best_sections_of_the_best_articles_in_their_order() -> None:
    kept, dropped = select_documents(RANKED, num_docs=2, max_sections=2)
    assert ids(kept) == ["A#0", "B#0", "A#1", "B#4"]
    assert dropped == {"A#2": "its article has 2 better ones", "C#1#0": "its article is not among the best 2"}


def test_an_article_counts_as_much_as_the_sections_that_are_kept_of_it() -> None:
    many = [Candidate("Short#0", 0.9), *(Candidate(f"Long#{n}", 0.5) for n in range(9))]
    assert ids(select_documents(many, num_docs=1, max_sections=1)[0]) == ["Short#0"]
    assert ids(select_documents(many, num_docs=1, max_sections=2)[0]) == ["Long#0", "Long#1"]


def test_no_section_speaks_against_its_article() -> None:
    # The units of the other sections hold less of the question than the one that answers it.
    ranked = [
        Candidate("Manual#1", 1.0),
        Candidate("Other#0", 0.01),
        Candidate("Manual#0", -0.7),
        Candidate("Manual#2", -0.8),
    ]
    kept, _ = select_documents(ranked, num_docs=1, max_sections=3)
    assert "Manual#1" in ids(kept)


def test_a_known_cosine_below_the_threshold_drops_a_section() -> None:
    kept, dropped = select_documents(RANKED, num_docs=5, max_sections=5, min_relevance=0.5)
    assert "B#0" not in ids(kept)
    assert {"A#0", "C#1#0", "B#4"} <= set(ids(kept))
    assert "0.50" in dropped["B#0"]


def test_a_section_with_a_unit_that_holds_enough_of_the_question_is_not_dropped() -> None:
    ranked = [Candidate("A#0", 0.9, {"dense": 0.1, "unit": 0.5}), Candidate("B#0", 0.8, {"dense": 0.1, "unit": 0.4})]
    kept, dropped = select_documents(ranked, num_docs=5, max_sections=5, min_relevance=0.2, min_coverage=0.5)
    assert ids(kept) == ["A#0"] and dropped.keys() == {"B#0"}
    assert select_documents(ranked, num_docs=5, max_sections=5, min_relevance=0.2)[0] == ()


@given(
    st.lists(st.tuples(st.sampled_from("ABCDEF"), st.integers(0, 9), st.floats(0, 1)), unique_by=lambda t: t[:2]),
    st.integers(1, 4),
    st.integers(1, 4),
)
def test_limits_hold_and_nothing_is_lost(sections: list[tuple[str, int, float]], docs: int, each: int) -> None:
    ranked = sorted((Candidate(f"{a}#{n}", score) for a, n, score in sections), key=lambda c: -c.score)
    kept, dropped = select_documents(ranked, num_docs=docs, max_sections=each)
    titles = [candidate.title for candidate in kept]
    assert len(set(titles)) <= docs
    assert all(titles.count(title) <= each for title in titles)
    assert set(ids(kept)) | dropped.keys() == {candidate.section_id for candidate in ranked}
    assert list(kept) == [c for c in ranked if c.section_id not in dropped]


def test_a_lead_that_is_wanted_is_kept_besides_and_need_not_be_ranked() -> None:
    kept, dropped = select_documents(RANKED, num_docs=1, max_sections=2, required=["A#0", "B#0", "D#0"])
    assert ids(kept) == ["A#0", "B#0", "A#1", "A#2", "D#0"]
    assert kept[-1].relevance == 0.0
    assert not {"A#0", "B#0", "D#0"} & dropped.keys()


def test_the_calibrated_threshold_is_brought_into_the_unit_interval() -> None:
    assert calibrated_min_relevance({"min_relevance": 0.31}) == 0.31
    assert calibrated_min_relevance({"min_relevance": 7.0}) == 1.0
    assert calibrated_min_relevance({}) == 0.0


WIKI = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10">
<siteinfo><base>https://w.example/wiki/Main_Page</base><case>first-letter</case></siteinfo>
<page><title>Ida Brandt</title><ns>0</ns><id>1</id><revision><id>2</id><model>wikitext</model>
<text>{{{{Infobox person|birth_date=4 May 1891|birth_place=Odense|occupation=Botanist}}}}
Ida Brandt worked in Odense for most of her life, and wrote about mosses.
{sections}</text></revision></page></mediawiki>"""
NAMES = ("Karen", "Peter", "Maren", "Jens", "Sofie", "Anders")


@pytest.fixture(scope="module")
def brandt(pack_of: Callable[..., Path]) -> Path:
    sections = "\n".join(
        f"== {name} ==\n{name}, a child of Ida Brandt, was born in 19{n}0. Ida Brandt was proud when {name} was born."
        for n, name in enumerate(NAMES)
    )
    return pack_of("brandt", {"wiki.xml": WIKI.format(sections=sections)})


@pytest.mark.parametrize(
    ("question", "with_facts"),
    [
        ("When was Ida Brandt born?", True),
        ("In which year was a child of Ida Brandt born?", True),
        ("Why was Ida Brandt proud?", False),
        ("When was Karen born?", False),
    ],
)
def test_the_facts_about_what_a_question_names_are_read_as_well(brandt: Path, question: str, with_facts: bool) -> None:
    with Pack(brandt) as pack:
        answer = Pipeline(Profile(), pack, offline=True).answer(question)
    read = next(record.ranking for record in answer.trace.stages if record.stage == "documents")
    assert (f"Ida Brandt#{len(NAMES) + 1}" in read) is with_facts
