"""The probability of an answer: the order of candidates, their leads, and the model that ships."""

from __future__ import annotations

import math

import pytest
from tests.answer.evidence import evidence, from_markdown, material

from wikigr.answer.candidates.candidate import AnswerCandidate
from wikigr.answer.candidates.table import KINDS, find_candidates
from wikigr.answer.probability import (
    MAX_LEAD,
    WITH_READER,
    WITHOUT_READER,
    AnswerModel,
    Features,
    answer_models,
    describe,
    leads,
    overlaps,
    rank_candidates,
    terms,
)
from wikigr.pack.open import Pack
from wikigr.question.intent import AIMS

TEXT = "Light is a wave. Photons carry light. Nothing is faster than light.\n\n- red light\n- blue light"
BY_COVERAGE = AnswerModel({"coverage": 1.0}, {"lead": 1.0}, 0.0, sure=0.9, likely=0.5, covered=0.1)


def found_in(pack: Pack) -> list[AnswerCandidate]:
    return find_candidates(material(pack, "What carries light?", evidence("Light#0", TEXT, 0.9)))


def test_candidates_that_quote_the_same_text_are_no_rivals(pack: Pack) -> None:
    found = found_in(pack)
    scores = [float(number) for number in range(len(found))]
    for number, lead in enumerate(leads(found, scores)):
        rivals = [scores[n] for n, other in enumerate(found) if n != number and not overlaps(found[number], other)]
        assert lead == max(-MAX_LEAD, min(MAX_LEAD, scores[number] - max(rivals)))
    assert leads(found[:1], scores[:1]) == [MAX_LEAD]


def test_two_cells_of_a_row_are_rivals(pack: Pack) -> None:
    table = from_markdown("Tools#0", "| tool | weight | owner |\n|---|---|---|\n| anvil | 40 kg | Petteri |")
    found = find_candidates(material(pack, "Who owns the anvil?", table))
    one, other = (next(c for c in found if c.kind == "cell" and c.short == short) for short in ("Petteri", "40 kg"))
    assert one.quotations == other.quotations
    assert not overlaps(one, other)
    assert overlaps(one, one)


def test_what_has_too_few_examples_has_the_weights_of_its_like() -> None:
    values = {"fit": 0.5, "margin": 0.0, "coverage": 0.5}
    for kind in ("computed", "compared", "count"):
        assert terms(Features(kind, "number", values)) == terms(Features("rows", "list", values))
    assert "rows for number" in terms(Features("rows", "number", values))
    assert terms(Features("elapsed", "other", values)) == terms(Features("path", "other", values))


def test_the_order_is_that_of_the_scores_and_the_probability_that_of_the_logit(pack: Pack) -> None:
    question = material(pack, "What carries light?", evidence("Light#0", TEXT, 0.9))
    found = rank_candidates(find_candidates(question), question, BY_COVERAGE)
    scores = [features.values["coverage"] for features in describe(found, question)]
    assert scores == sorted(scores, reverse=True)
    for candidate, lead in zip(found, leads(found, scores), strict=True):
        assert candidate.probability == pytest.approx(1 / (1 + math.exp(-lead)))


def test_the_rank_of_the_section_may_count_more_in_the_order_but_not_in_the_probability(pack: Pack) -> None:
    items = (evidence("Light#0", "Light is a wave.", 0.9), evidence("Light#1", "Photons carry light.", 0.8))
    question = material(pack, "What carries light?", *items)
    fitted = rank_candidates(find_candidates(question), question, BY_COVERAGE)
    by_rank = rank_candidates(find_candidates(question), question, BY_COVERAGE, added=4.0)
    assert fitted[0].section.section_id == "Light#1"
    assert by_rank[0].section.section_id == "Light#0"
    assert {c.text: c.probability for c in by_rank} == {c.text: c.probability for c in fitted}


@pytest.mark.parametrize("name", [WITH_READER, WITHOUT_READER])
def test_the_model_that_ships_knows_only_kinds_aims_and_features(pack: Pack, name: str) -> None:
    model = answer_models()[name]
    question = material(pack, "What carries light?", evidence("Light#0", TEXT, 0.9))
    features = set(describe(find_candidates(question), question)[0].values)
    words = {*KINDS, *AIMS, *features, "kind", "fit", "margin", "coverage", "for", "aim", "score", "lead"}
    unknown = [term for term in (*model.order, *model.right) if not words.issuperset(term.split())]
    assert unknown == []
    assert 0.0 < model.covered <= model.likely <= model.sure < 1.0
    # A higher score and a larger lead never make an answer less likely.
    assert model.right["score"] >= 0
    assert model.right["lead"] >= 0
