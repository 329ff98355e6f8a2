"""A gold question and its answers, which the tests of all metrics score."""

from __future__ import annotations

from dataclasses import replace

from wikigr.answer.answer import Answer
from wikigr.answer.citations import Citation
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
    trace=Trace(),
)
ABSTAINED = replace(ANSWER, text="Not in Kiel.", query_type="abstained", citations=())
