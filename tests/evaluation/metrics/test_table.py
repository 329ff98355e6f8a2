from __future__ import annotations

import math
from dataclasses import replace

import pytest

from wikigr.answer.answer import Answer
from wikigr.answer.citations import Citation
from wikigr.evaluation.metrics import METRICS, score
from wikigr.evaluation.questions import Gold, GoldQuestion
from wikigr.index.candidate import Candidate, Evidence, Section
from wikigr.retrieval.trace import Trace

KIEL = Section("Max Planck#0", "Max Planck", "Life", "Planck was born in Kiel in 1858. He studied in Munich.", "p1", 0)
WORK = Section("Max Planck#1", "Max Planck", "Work", "His constant is 6.6 units.", "p2", 1)
SPIN = Section("Spin#0", "Spin", "Introduction", "Electrons spin.", "spin.md", 0)


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


def test_all_metrics_of_a_right_answer() -> None:
    values = score(QUESTION, ANSWER, evidence(WORK, KIEL, SPIN))
    assert list(values) == list(METRICS)
    assert values == pytest.approx(
        {
            "accuracy": 1.0,
            "exact_match": 0.0,
            "f1": 2 / 8,
            "recall@1": 0.5,
            "recall@2": 1.0,
            "recall@5": 1.0,
            "recall@10": 1.0,
            "ndcg@10": 1.0,
            "mrr": 1.0,
            "section_recall@1": 0.0,
            "section_recall@2": 1.0,
            "section_recall@5": 1.0,
            "section_recall@10": 1.0,
            "section_ndcg@10": 1 / math.log2(3),
            "section_mrr": 0.5,
            "citation_precision": 1.0,
            "citation_recall": 0.5,
            "verified": 1.0,
            "hallucination": 0.0,
            "abstention_correct": 1.0,
            "judged": math.nan,
        },
        nan_ok=True,
    )


@pytest.mark.parametrize("question", [QUESTION, IMPOSSIBLE, replace(QUESTION, gold=())])
@pytest.mark.parametrize("answer", [ANSWER, ABSTAINED, replace(ANSWER, text="", citations=())])
def test_every_metric_is_in_range_and_binary_where_it_says_so(question: GoldQuestion, answer: Answer) -> None:
    values = score(question, answer, evidence(SPIN, KIEL))
    assert values.keys() == METRICS.keys()
    for name, value in values.items():
        assert math.isnan(value) or 0.0 <= value <= 1.0
        if METRICS[name].binary:
            assert value in (0.0, 1.0)


def test_the_registry_knows_itself() -> None:
    assert all(name == metric.name and metric.description for name, metric in METRICS.items())
    assert [name for name, metric in METRICS.items() if not metric.higher_is_better] == ["hallucination"]
