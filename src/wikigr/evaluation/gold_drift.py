"""Find the gold questions whose articles, sections or answers changed between two versions of a pack."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wikigr.answer.answer import Answer
from wikigr.answer.presentation import is_doubtful
from wikigr.errors import ModelError
from wikigr.evaluation.questions import Gold, GoldQuestion, load_questions
from wikigr.pack.pack_reader import ContentReader, PackReader, SectionText
from wikigr.text import fold

if TYPE_CHECKING:
    from wikigr.pack.content_diff import ArticleChange, ContentDiff
    from wikigr.pack.manifest import Manifest
    from wikigr.pack.open import Pack

DriftKind = Literal[
    "article-removed", "article-renamed", "section-gone", "passage-gone", "answer-gone", "answer-moved", "text-changed",
    "now-answered",
]  # fmt: skip
_LEAD = "Introduction"


@dataclass(frozen=True, slots=True)
class DriftedQuestion:
    """A change that affects a gold question; ``before`` and ``after`` depend on ``kind`` and may be ``None``.

    - ``article-removed``, ``article-renamed``: the gold title before and after;
    - ``section-gone``, ``passage-gone``: the heading of the gold section, or the source id of the gold passage;
    - ``answer-gone``: the accepted answer that the gold article no longer contains;
    - ``answer-moved``: the headings of the sections that contained an accepted answer, and of those that do now;
    - ``text-changed``: the text of the gold article changed, and no other kind applies; ``after`` counts the words;
    - ``now-answered``: the first pack stated no answer to an unanswerable question; ``after`` is the second pack's.
    """

    question_id: str
    kind: DriftKind
    title: str
    before: str | None
    after: str | None


def find_drift(
    file: Path, content: ContentDiff, before: Pack, contents: ContentReader, after: Pack | None, notes: list[str]
) -> list[DriftedQuestion]:
    """Return the drift of the questions in ``file``, in their order, from the pack ``before`` to ``contents``.

    Unanswerable questions are asked of ``before`` and ``after``; a message is appended to ``notes`` if that is not
    possible. Raises ``QuestionError`` when the file cannot be read.
    """
    questions = load_questions(file)
    drifted = find_content_drift(questions, PackReader(before.graph), contents, content)
    unanswerable = [question for question in questions if not question.answerable]
    if unanswerable and after is None and content != type(content)():
        notes.append(f"The {len(unanswerable)} unanswerable questions were not asked: the new pack is not built yet.")
    elif unanswerable and after is not None and _answers_may_differ(before.manifest, after.manifest):
        from wikigr.pipeline.pipeline import Pipeline
        from wikigr.pipeline.profile import Profile

        try:
            one, two = (Pipeline(Profile(), pack, offline=True).answer for pack in (before, after))
            drifted += find_newly_answered(unanswerable, one, two)
        except ModelError as error:
            notes.append(
                f"The {len(unanswerable)} unanswerable questions were not asked, because the encoder failed to load: "
                f"{error.message}"
            )
    order = {question.id: number for number, question in enumerate(questions)}
    return sorted(drifted, key=lambda drift: order[drift.question_id])


def _answers_may_differ(before: Manifest, after: Manifest) -> bool:
    return (before.digest, before.thresholds) != (after.digest, after.thresholds)


def find_newly_answered(
    questions: Sequence[GoldQuestion], before: Callable[[str], Answer], after: Callable[[str], Answer]
) -> list[DriftedQuestion]:
    """Return the unanswerable ``questions`` to which ``before`` states no answer but ``after`` does.

    Passages that are shown because no answer is sure state none.
    """
    found = []
    for question in questions:
        new = after(question.question)
        if _states_answer(new) and not _states_answer(before(question.question)):
            source = new.citations[0].title if new.citations else ""
            found.append(DriftedQuestion(question.id, "now-answered", source, None, " ".join(new.text.split())))
    return found


def _states_answer(answer: Answer) -> bool:
    return not answer.abstained and not is_doubtful(answer)


def find_content_drift(
    questions: Sequence[GoldQuestion], a: ContentReader, b: ContentReader, content: ContentDiff
) -> list[DriftedQuestion]:
    """Return the drift of the gold articles, sections and passages of ``questions`` from ``a`` to ``b``.

    A gold article, section or answer that ``a`` does not contain has not drifted.
    """
    return _GoldArticles(a, b, content).find_drift(questions)


@dataclass(frozen=True, slots=True)
class _FoldedArticle:
    """The sections of an article, the folded text of each, and the folded text of all."""

    sections: Sequence[SectionText]
    texts: Sequence[str]
    whole: str

    @classmethod
    def of(cls, sections: Sequence[SectionText]) -> _FoldedArticle:
        texts = [fold(section.content) for section in sections]
        return cls(sections, texts, " ".join(texts))


class _GoldArticles:
    """The gold articles of both packs. Only changed articles are read, each of them once."""

    def __init__(self, a: ContentReader, b: ContentReader, content: ContentDiff) -> None:
        self._removed = {fold(article.title): article for article in content.removed}
        self._renamed = {fold(change.before): change for change in content.renamed}
        old_title = {change.after: change.before for change in content.renamed}
        # Questions from the second pack already use the new titles.
        self._changed: Mapping[str, tuple[str, ArticleChange]] = {
            fold(name): (old_title.get(change.title, change.title), change)
            for change in content.changed
            for name in (change.title, old_title.get(change.title, change.title))
        }
        # Thousands of questions may refer to the same long article, so it is read and folded only once.
        self._before, self._after = (
            cache(lambda title, side=side: _FoldedArticle.of(side.sections_of(title))) for side in (a, b)
        )

    def find_drift(self, questions: Sequence[GoldQuestion]) -> list[DriftedQuestion]:
        return [
            DriftedQuestion(question.id, kind, title, before, after)
            for question in questions
            for gold in question.gold
            for kind, title, before, after in self._compare(question, gold)
        ]

    def _compare(self, question: GoldQuestion, gold: Gold) -> Iterator[tuple[DriftKind, str, str | None, str | None]]:
        name = fold(gold.title)
        if name in self._removed:
            article = self._removed[name]
            yield "article-removed", article.title, article.title, article.now
            return
        if name in self._renamed:
            renamed = self._renamed[name]
            yield "article-renamed", renamed.before, renamed.before, renamed.after
        if name not in self._changed:
            return
        old, change = self._changed[name]
        if not change.changes_text:
            return
        one, two = self._before(old), self._after(change.title)
        drifts = list(self._compare_text(question, gold, change.title, one, two))
        yield from drifts
        if not drifts:
            size = f"{change.words_added} words added, {change.words_removed} removed"
            yield "text-changed", change.title, None, size

    def _compare_text(
        self, question: GoldQuestion, gold: Gold, title: str, one: _FoldedArticle, two: _FoldedArticle
    ) -> Iterator[tuple[DriftKind, str, str | None, str | None]]:
        if gold.section is not None:
            wanted = fold(gold.section)
            headings = [{fold(_heading(section)) for section in side.sections} for side in (one, two)]
            if wanted in headings[0] - headings[1]:
                yield "section-gone", title, gold.section, None
        if gold.source_id is not None:
            passages = [{section.source_id for section in side.sections} for side in (one, two)]
            if gold.source_id in passages[0] - passages[1]:
                yield "passage-gone", title, gold.source_id, None
        if not question.answers:
            return
        answers = {answer: fold(answer) for answer in question.answers}
        contained = [answer for answer, folded in answers.items() if _contains_folded(one.whole, folded)]
        if contained and not any(_contains_folded(two.whole, folded) for folded in answers.values()):
            yield "answer-gone", title, contained[0], None
            return
        places = [
            dict.fromkeys(
                _heading(section)
                for section, text in zip(side.sections, side.texts, strict=True)
                if any(_contains_folded(text, folded) for folded in answers.values())
            )
            for side in (one, two)
        ]
        if places[0].keys() - places[1].keys():
            yield "answer-moved", title, _joined(places[0]), _joined(places[1])


def contains_answer(text: str, answer: str) -> bool:
    """Return whether ``text`` contains ``answer`` as whole words, ignoring case, spaces and Unicode form."""
    return _contains_folded(fold(text), fold(answer))


def _contains_folded(text: str, answer: str) -> bool:
    return answer in text and re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) is not None


def _heading(section: SectionText) -> str:
    return section.heading_path[-1] if section.heading_path else _LEAD


def _joined(headings: Mapping[str, None]) -> str | None:
    return "; ".join(headings) or None
