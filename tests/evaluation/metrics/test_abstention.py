from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from wikigr.answer.answer import Answer
from wikigr.answer.citations import Citation
from wikigr.evaluation.metrics import score
from wikigr.evaluation.metrics.abstention import auroc, precision_recall
from wikigr.evaluation.questions import Gold, GoldQuestion
from wikigr.index.candidate import Candidate, Evidence, Section
from wikigr.retrieval.trace import Trace

SCORES = st.lists(st.tuples(st.integers(-3, 3).map(lambda n: n / 3), st.booleans()), min_size=1, max_size=30)


@given(SCORES)
def test_auroc_is_the_statistic_of_mann_and_whitney(pairs: list[tuple[float, bool]]) -> None:
    values, labels = [v for v, _ in pairs], [label for _, label in pairs]
    area = auroc(values, labels)
    true, false = [v for v, label in pairs if label], [v for v, label in pairs if not label]
    if not true or not false:
        assert math.isnan(area)
        return
    assert area == pytest.approx(mannwhitneyu(true, false).statistic / (len(true) * len(false)))
    assert area == pytest.approx(np.mean([(t > f) + 0.5 * (t == f) for t in true for f in false]))
    assert area + auroc([-v for v in values], labels) == pytest.approx(1.0)


def test_auroc_by_hand() -> None:
    assert auroc([0.1, 0.4, 0.35, 0.8], [False, False, True, True]) == 0.75
    assert auroc([0.5, 0.5], [True, False]) == 0.5
    assert math.isnan(auroc([], []))
    with pytest.raises(ValueError, match="NaN"):
        auroc([math.nan, 0.5], [True, False])
    with pytest.raises(ValueError, match="shorter"):
        auroc([0.5, 0.1], [True])


def test_precision_and_recall_of_abstaining() -> None:
    assert precision_recall([True, True, False, False], [True, False, True, False]) == (0.5, 0.5)
    assert precision_recall([True, False, False], [True, True, True]) == (1.0, 1 / 3)
    assert math.isnan(precision_recall([False], [True]).precision)
    assert math.isnan(precision_recall([True], [False]).recall)
    with pytest.raises(ValueError, match="shorter"):
        precision_recall([True, True], [True])


KIEL = Section("Max Planck#0", "Max Planck", "Life", "Planck was born in Kiel in 1858. He studied in Munich.", "p1", 0)


def evidence(*sections: Section) -> tuple[Evidence, ...]:
    return tuple(Evidence(section, Candidate(section.section_id, 1.0)) for section in sections)


def citation(section: Section, start: int = 0, end: int = 10) -> Citation:
    quote = section.content[start:end]
    return Citation(1, section.title, section.section_id, section.heading, section.source_id, quote, start, end)


QUESTION = GoldQuestion(
    "q1",
    "Where was Planck born?",
    ("Kiel",),
    (Gold("max planck", "life"), Gold("Spin")),
    True,
    "single",
    "dev",
    None,
    1,
)
IMPOSSIBLE = replace(QUESTION, answers=(), answerable=False)
ANSWER = Answer(
    question=QUESTION.question,
    text="Planck was born in Kiel in 1858. [1]",
    query_type="extractive",
    confidence=0.9,
    citations=(citation(KIEL, 0, 32),),
    evidence=evidence(KIEL),
    sentences=(),
    trace=Trace(),
)
ABSTAINED = replace(ANSWER, text="Not in Kiel.", query_type="abstained", citations=())


def test_who_abstains_has_not_answered() -> None:
    values = score(QUESTION, ABSTAINED, evidence(KIEL))
    assert [values[name] for name in ("accuracy", "exact_match", "f1", "abstention_correct")] == [0.0] * 4
    assert values["citation_recall"] == 0.0
    assert all(math.isnan(values[name]) for name in ("citation_precision", "verified", "hallucination"))


@pytest.mark.parametrize(("answer", "right"), [(ABSTAINED, 1.0), (ANSWER, 0.0)])
def test_an_unanswerable_question_is_for_abstaining(answer: Answer, right: float) -> None:
    values = score(IMPOSSIBLE, answer, evidence(KIEL))
    assert [values[name] for name in ("accuracy", "exact_match", "f1", "abstention_correct")] == [right] * 4
    for name in ("recall@1", "ndcg@10", "mrr", "section_recall@5", "citation_precision", "citation_recall"):
        assert math.isnan(values[name])
