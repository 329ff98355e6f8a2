from __future__ import annotations

from dataclasses import replace

from tests.evaluation.metrics.examples import KIEL, QUESTION, SPIN, WORK, evidence

from wikigr.evaluation.metrics.answered import ranked_articles, relevant_articles
from wikigr.evaluation.questions import Gold


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
