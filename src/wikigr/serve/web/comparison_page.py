"""Two profiles on one question, side by side."""

from __future__ import annotations

import json
from dataclasses import dataclass

from wikigr.answer.answer import Answer
from wikigr.pack.open import Corpus
from wikigr.pipeline.profile import Profile
from wikigr.profiles.files import differences
from wikigr.serve.web.answer_page import AnswerPage, ArticleLink, answer_page, link_to
from wikigr.text import fold


@dataclass(frozen=True, slots=True)
class ReadArticle:
    """An article that at least one side read, with its rank there among the articles that were read, from 1."""

    link: ArticleLink
    ranks: tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """The answers of two profiles. ``verdict`` says in a sentence whether they agree.

    ``settings`` holds the settings in which the profiles differ: the key and the two values.
    """

    sides: tuple[AnswerPage, AnswerPage]
    verdict: str
    articles: tuple[ReadArticle, ...]
    settings: tuple[tuple[str, str, str], ...]


def comparison_page(pack: Corpus, answers: tuple[Answer, Answer], profiles: tuple[Profile, Profile]) -> ComparisonPage:
    """Return what a page shows of two answers to one question, made with ``profiles``."""
    first, second = (_articles_read(answer) for answer in answers)
    return ComparisonPage(
        sides=(answer_page(answers[0], pack), answer_page(answers[1], pack)),
        verdict=_verdict(*answers),
        articles=tuple(
            ReadArticle(link_to(pack, title), (_rank(first, title), _rank(second, title)))
            for title in dict.fromkeys((*first, *second))
        ),
        settings=tuple((key, _as_text(a), _as_text(b)) for key, a, b in differences(*profiles)),
    )


def _articles_read(answer: Answer) -> list[str]:
    return list(dict.fromkeys(item.section.title for item in answer.evidence))


def _rank(titles: list[str], title: str) -> int | None:
    return titles.index(title) + 1 if title in titles else None


def _verdict(first: Answer, second: Answer) -> str:
    if first.abstained and second.abstained:
        return "Both say that the pack does not cover the question."
    if first.abstained or second.abstained:
        silent = first if first.abstained else second
        return f"Only {silent.profile} says that the pack does not cover the question."
    if first.span is not None and second.span is not None:
        same = fold(first.span.text) == fold(second.span.text)
        return "Both give the same short answer." if same else "The short answers differ."
    if (first.span is None) != (second.span is None):
        return f"Only {(first if second.span is None else second).profile} gives a short answer."
    return "Both give the same text." if first.text == second.text else "The texts differ."


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
