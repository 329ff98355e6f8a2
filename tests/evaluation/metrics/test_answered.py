from __future__ import annotations

from dataclasses import replace

from tests.evaluation.metrics.examples import ANSWER, IMPOSSIBLE, KIEL, QUESTION, SPIN, WORK, evidence

from wikigr.evaluation.metrics import score
from wikigr.evaluation.metrics.answered import gold_articles, gold_passages, ranked_articles, ranked_passages
from wikigr.evaluation.questions import Gold

PASSAGE = replace(QUESTION, gold=(Gold("Max_Planck", None, "p2"),))


def test_articles_count_by_title_and_passages_by_source_id() -> None:
    ranking = evidence(KIEL, WORK, SPIN, replace(WORK, section_id="Max Planck#2"), replace(SPIN, source_id=""))
    assert ranked_articles(ranking) == ["max planck", "spin"]
    assert ranked_passages(ranking) == ["p1", "p2", "spin.md"]
    assert gold_articles(QUESTION) == {"max planck", "spin"}
    assert not gold_passages(QUESTION)
    both = replace(QUESTION, gold=(*PASSAGE.gold, Gold("Spin")))
    assert gold_articles(both) == {"max planck", "spin"}
    assert gold_passages(both) == {"p2"}
    assert gold_articles(IMPOSSIBLE) == gold_passages(replace(PASSAGE, answers=(), answerable=False)) == frozenset()


def test_another_passage_of_the_right_article_is_not_the_gold_passage() -> None:
    values = score(PASSAGE, ANSWER, evidence(KIEL, SPIN, WORK))
    assert (values["recall@1"], values["mrr"]) == (1.0, 1.0)
    assert (values["passage_recall@1"], values["passage_recall@5"], values["passage_mrr"]) == (0.0, 1.0, 1 / 3)
