"""Gold questions that no longer stand as they did: what a change of the pack did to their articles and answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wikigr.answer.answer import Answer
from wikigr.errors import ModelError
from wikigr.evaluation.questions import Gold, GoldQuestion, load_questions
from wikigr.pack.pack_reader import Contents, PackContents, SectionText
from wikigr.text import fold

if TYPE_CHECKING:
    from wikigr.changes.content_diff import ArticleChange, ContentDiff
    from wikigr.pack.manifest import Manifest
    from wikigr.pack.open import Pack

MoveKind = Literal[
    "article-removed", "article-renamed", "section-gone", "passage-gone", "answer-gone", "answer-moved", "text-changed",
    "now-answered",
]  # fmt: skip
_LEAD = "Introduction"


@dataclass(frozen=True, slots=True)
class MovedQuestion:
    """What moved under a gold question, from ``before`` to ``after`` (``None``: nothing there).

    - ``article-removed``, ``article-renamed``: a gold title, and what it is called now;
    - ``section-gone``, ``passage-gone``: the gold section (its heading) or passage (its id in the source) is not there;
    - ``answer-gone``: the accepted answer that the gold article held, and holds no longer;
    - ``answer-moved``: the headings of the sections that held an accepted answer, and of those that hold it now;
    - ``text-changed``: the gold article has another text, and what else is told of it here does not apply;
    - ``now-answered``: marked as unanswerable; the first pack declined, and this is what the second one answers.
    """

    question_id: str
    kind: MoveKind
    title: str
    before: str | None
    after: str | None


def find_moved(
    file: Path, content: ContentDiff, before: Pack, contents: Contents, after: Pack | None, notes: list[str]
) -> list[MovedQuestion]:
    """Return what moved under the questions in ``file``, in their order, from the pack ``before`` to ``contents``.

    Unanswerable questions are put to ``before`` and ``after``; ``notes`` is told when they cannot be. Raises
    ``QuestionError`` for a file that cannot be read.
    """
    questions = load_questions(file)
    moved = moved_places(questions, PackContents(before.graph), contents, content)
    unanswerable = [question for question in questions if not question.answerable]
    if unanswerable and after is None and content != type(content)():
        notes.append(f"The {len(unanswerable)} unanswerable questions were not asked: the new pack is not built yet.")
    elif unanswerable and after is not None and _may_answer_otherwise(before.manifest, after.manifest):
        from wikigr.pipeline.builder import build_pipeline
        from wikigr.pipeline.profile import Profile

        try:
            one, two = (build_pipeline(Profile(), pack, offline=True).answer for pack in (before, after))
            moved += now_answered(unanswerable, one, two)
        except ModelError as error:
            notes.append(
                f"The {len(unanswerable)} unanswerable questions were not asked, because the encoder cannot be opened: "
                f"{error.message}"
            )
    order = {question.id: number for number, question in enumerate(questions)}
    return sorted(moved, key=lambda move: order[move.question_id])


def _may_answer_otherwise(before: Manifest, after: Manifest) -> bool:
    return (before.digest, before.thresholds) != (after.digest, after.thresholds)


def now_answered(
    questions: Sequence[GoldQuestion], before: Callable[[str], Answer], after: Callable[[str], Answer]
) -> list[MovedQuestion]:
    """Return the unanswerable ``questions`` that ``before`` declined to answer and ``after`` does not."""
    found = []
    for question in questions:
        new = after(question.question)
        if not new.abstained and before(question.question).abstained:
            source = new.citations[0].title if new.citations else ""
            found.append(MovedQuestion(question.id, "now-answered", source, None, " ".join(new.text.split())))
    return found


def moved_places(
    questions: Sequence[GoldQuestion], a: Contents, b: Contents, content: ContentDiff
) -> list[MovedQuestion]:
    """Return what moved under the gold places of ``questions``. What was never there has not moved."""
    return _Places(a, b, content).of_all(questions)


@dataclass(frozen=True, slots=True)
class _Read:
    """An article's sections, with the text of each and of all of them folded."""

    sections: Sequence[SectionText]
    texts: Sequence[str]
    whole: str

    @classmethod
    def of(cls, sections: Sequence[SectionText]) -> _Read:
        texts = [fold(section.content) for section in sections]
        return cls(sections, texts, " ".join(texts))


class _Places:
    """The gold articles of both packs; only those that changed are read, each once."""

    def __init__(self, a: Contents, b: Contents, content: ContentDiff) -> None:
        self._removed = {fold(article.title): article for article in content.removed}
        self._renamed = {fold(change.before): change for change in content.renamed}
        old_title = {change.after: change.before for change in content.renamed}
        # A gold set that came with the second pack already has the new titles.
        self._changed: Mapping[str, tuple[str, ArticleChange]] = {
            fold(name): (old_title.get(change.title, change.title), change)
            for change in content.changed
            for name in (change.title, old_title.get(change.title, change.title))
        }
        # Thousands of questions may ask for one long article: it is read and folded once.
        self._before, self._after = (
            cache(lambda title, side=side: _Read.of(side.sections_of(title))) for side in (a, b)
        )

    def of_all(self, questions: Sequence[GoldQuestion]) -> list[MovedQuestion]:
        return [
            MovedQuestion(question.id, kind, title, before, after)
            for question in questions
            for gold in question.gold
            for kind, title, before, after in self._of(question, gold)
        ]

    def _of(self, question: GoldQuestion, gold: Gold) -> Iterator[tuple[MoveKind, str, str | None, str | None]]:
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
        told = list(self._within(question, gold, change.title, one, two))
        yield from told
        if not told:
            size = f"{change.words_added} words added, {change.words_removed} removed"
            yield "text-changed", change.title, None, size

    def _within(
        self, question: GoldQuestion, gold: Gold, title: str, one: _Read, two: _Read
    ) -> Iterator[tuple[MoveKind, str, str | None, str | None]]:
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
        held = [answer for answer, folded in answers.items() if _stands_in(one.whole, folded)]
        if held and not any(_stands_in(two.whole, folded) for folded in answers.values()):
            yield "answer-gone", title, held[0], None
            return
        places = [
            dict.fromkeys(
                _heading(section)
                for section, text in zip(side.sections, side.texts, strict=True)
                if any(_stands_in(text, folded) for folded in answers.values())
            )
            for side in (one, two)
        ]
        if places[0].keys() - places[1].keys():
            yield "answer-moved", title, _listed(places[0]), _listed(places[1])


def states(text: str, answer: str) -> bool:
    """Tell whether ``text`` holds ``answer`` as whole words; case, spaces and Unicode form do not matter."""
    return _stands_in(fold(text), fold(answer))


def _stands_in(text: str, answer: str) -> bool:
    return answer in text and re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) is not None


def _heading(section: SectionText) -> str:
    return section.heading_path[-1] if section.heading_path else _LEAD


def _listed(headings: Mapping[str, None]) -> str | None:
    return "; ".join(headings) or None
