from __future__ import annotations

from dataclasses import replace

from wikigr.evaluation.metrics.answered import ranked_articles, relevant_articles
from wikigr.evaluation.questions import Gold, GoldQuestion
from wikigr.index.candidate import Candidate, Evidence, Section

KIEL = Section("Max Planck#0", "Max Planck", "Life", "Planck was born in Kiel in 1858. He studied in Munich.", "p1", 0)
WORK = Section("Max Planck#1", "Max Planck", "Work", "His constant is 6.6 units.", "p2", 1)
SPIN = Section("Spin#0", "Spin", "Introduction", "Electrons spin.", "spin.md", 0)


def evidence(*sections: Section) -> tuple[Evidence, ...]:
    return tuple(Evidence(section, Candidate(section.section_id, 1.0)) for section in sections)


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


def test_articles_are_told_apart_by_title_or_by_passage() -> None:
    ranking = evidence(KIEL, WORK, SPIN)
    assert relevant_articles(QUESTION) == {"max planck", "spin"}
    assert ranked_articles(QUESTION, ranking) == ["max planck", "spin"]
    passage = replace(QUESTION, gold=(Gold("Max Planck", None, "p2"),))
    assert relevant_articles(passage) == {"p2"}
    assert ranked_articles(passage, ranking) == ["p1", "p2", "spin.md"]
    both = replace(QUESTION, gold=(Gold("Max Planck", None, "p2"), Gold("Spin")))
    assert relevant_articles(both) == {"p2", "spin"}
    assert ranked_articles(both, ranking) == ["p1", "p2", "spin"]
