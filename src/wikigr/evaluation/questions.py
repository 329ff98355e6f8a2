"""Gold questions: the reader of their JSON Lines files and the hash of a question set."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from wikigr.errors import SourceError, UsageError
from wikigr.options import Limits
from wikigr.question.question import QuestionError, checked
from wikigr.sources.jsonl import JsonlSource
from wikigr.sources.streams import MAX_LINE_BYTES
from wikigr.validation import Identifier, InvalidError, Text, validated

# The types of questions that are composed of several articles but not of a chain of hops.
COMPARISON = "comparison"
INTERSECTION = "intersection"

_HOP_WORDS = {"single": 1, "one": 1, "two": 2, "three": 3, "four": 4}
_HOP_TYPE = re.compile(rf"({'|'.join(_HOP_WORDS)}|[1-9])[ _-]?hops?|single", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Gold:
    """The place of an answer: an article, optionally narrowed to a section (heading) or a passage (source id).

    ``title`` is stored as in the file and compared after folding.
    """

    title: Text
    section: Text | None = None
    source_id: Text | None = None


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question with its accepted answers and the locations that contain them.

    An answerable question has at least one answer and one gold location; an unanswerable one has no answers.
    ``type`` and ``split`` are empty if the file does not name them. Questions of the same ``cluster`` are not
    independent. ``line`` counts from 1. ``gold`` follows the chain of hops in the order of the file, and ``hops`` is
    the number of locations to combine, at least 1 (None if unknown).
    """

    id: str
    question: str
    answers: tuple[str, ...]
    gold: tuple[Gold, ...]
    answerable: bool
    type: str
    split: str
    cluster: str | None
    line: int
    hops: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a question file. Only problems of the kind ``form`` make a question unusable.

    The other kinds are those of ``question_checks``. ``question_id`` is empty if the line is not a question.
    """

    kind: str
    question_id: str
    line: int
    message: str


def load_questions(
    path: Path | str, *, split: str | None = None, problems: list[Problem] | None = None
) -> list[GoldQuestion]:
    """Read gold questions in file order; with ``split``, only those of the split.

    The file is JSON Lines, plain or compressed with gzip, bzip2 or xz (``"-"`` reads standard input). A line is

    - ``{id, question, answers, gold: [{title, section?, source_id?}], answerable, type, split, cluster?, hops?}``, or
    - a line of a public question-answering set: ``{id, question, answers, gold_titles, gold_ids?, is_impossible?}``,
      where ``gold_ids[i]`` is a passage of the article ``gold_titles[i]``.

    Only ``id``, ``question``, ``answers`` and a gold location are required. A question is answerable by default.
    Without ``hops``, a ``type`` such as ``single``, ``two-hop`` or ``3hop`` gives the number of hops. Other fields are
    ignored. All lines are checked, including those of other splits.

    Raises ``UsageError`` for an unreadable file, an invalid line, a repeated id, and if no question is left. With
    ``problems``, invalid lines are skipped and added to that list as problems of the kind ``form``.
    """
    name = "standard input" if str(path) == "-" else str(path)
    questions: dict[str, GoldQuestion] = {}
    try:
        for record in JsonlSource(path).records():
            try:
                if record.is_too_long:
                    raise InvalidError(f"the line is longer than {MAX_LINE_BYTES // (1024 * 1024)} MiB")
                question = validated(_Line, record.data).as_question(record.line)
            except InvalidError as error:
                found, where = Problem("form", "", record.line, str(error)), f"{name}, line {record.line}"
            else:
                first = questions.setdefault(question.id, question)
                if first is question:
                    continue
                twice = f"the id {question.id!r} is used twice, on line {first.line} and on line {question.line}"
                found, where = Problem("form", question.id, question.line, twice), name
            if problems is None:
                raise UsageError(f"{where}: {found.message}.")
            problems.append(found)
    except SourceError as error:
        raise UsageError(f"Cannot read the questions: {error.message}", hint=error.hint) from error
    chosen = [question for question in questions.values() if split is None or question.split == split]
    if not chosen and not problems:
        splits = sorted({question.split for question in questions.values()} - {""})
        there = f"its splits are {', '.join(splits)}" if splits else "none of its questions names a split"
        raise UsageError(f"{name} has no questions of the split {split!r}: {there}.")
    return chosen


def question_set_hash(questions: Collection[GoldQuestion]) -> str:
    """Return the SHA-256 (hexadecimal) of ``questions``, independent of the order of questions, answers and gold.

    It covers every field except ``line`` and ``hops``, which do not influence an answer.
    """
    canonical = sorted(
        [
            question.id,
            question.question,
            sorted(set(question.answers)),
            sorted({(gold.title, gold.section or "", gold.source_id or "") for gold in question.gold}),
            question.answerable,
            question.type,
            question.split,
            question.cluster or "",
        ]
        for question in questions
    )
    return hashlib.sha256(json.dumps(canonical, ensure_ascii=True).encode("ascii")).hexdigest()


def count_hops(kind: str) -> int | None:
    """Return the number of hops that a type of question names (``single``, ``two-hop``, ``3hop``), else None."""
    found = _HOP_TYPE.fullmatch(kind)
    if found is None:
        return None
    count = (found[1] or "single").lower()
    return _HOP_WORDS.get(count) or int(count)


def question_file(root: Path) -> Path:
    """Return the file of the gold questions in a pack's folder; raise ``UsageError`` if there is none."""
    file = root / "eval" / "questions.jsonl"
    if not file.is_file():
        raise UsageError(
            f"The pack {root} has no test questions (eval/questions.jsonl).", hint="Give --questions FILE."
        )
    return file


@dataclass(frozen=True, slots=True)
class _Line:
    """The fields of a line; others are ignored."""

    id: Identifier
    question: Text
    answers: tuple[Text, ...] | None = None
    gold: tuple[Gold, ...] | None = None
    gold_titles: tuple[Text, ...] | None = None
    gold_ids: tuple[Text | None, ...] | None = None
    answerable: bool | None = None
    is_impossible: bool | None = None
    type: Text | None = None
    split: Text | None = None
    cluster: Text | None = None
    hops: Annotated[int, Limits(ge=1)] | None = None

    def as_question(self, line: int) -> GoldQuestion:
        """Return the question on ``line``.

        Raises ``InvalidError`` for a question that cannot be asked, and for fields that do not fit each other.
        """
        try:
            checked(self.question)
        except QuestionError as error:
            raise InvalidError(f"the {error.message.removeprefix('The ').removesuffix('.')}") from error
        if self.answerable is not None and self.answerable is self.is_impossible:
            raise InvalidError("`answerable` and `is_impossible` contradict each other")
        answerable = not self.is_impossible if self.answerable is None else self.answerable
        answers, gold = self.answers or (), self._places()
        if not answerable and self.is_impossible:
            # SQuAD 2.0 lists plausible but wrong answers here.
            answers = ()
        if answerable and not answers:
            raise InvalidError(
                "the question is answerable, but has no answers: give `answers`, or mark it as not `answerable`"
            )
        if not answerable and answers:
            raise InvalidError("the question is not `answerable`, but has `answers`")
        if answerable and not gold:
            raise InvalidError("the question is answerable, but has no gold article: give `gold` or `gold_titles`")
        return GoldQuestion(
            id=self.id,
            question=self.question,
            answers=tuple(dict.fromkeys(answers)),
            gold=tuple(dict.fromkeys(gold)),
            answerable=answerable,
            type=self.type or "",
            split=self.split or "",
            cluster=self.cluster,
            line=line,
            hops=self.hops or count_hops(self.type or ""),
        )

    def _places(self) -> Sequence[Gold]:
        if self.gold is not None:
            if self.gold_titles is not None or self.gold_ids is not None:
                raise InvalidError("`gold` cannot be combined with `gold_titles` or `gold_ids`: give one of them")
            return self.gold
        titles, ids = self.gold_titles or (), self.gold_ids or ()
        if ids and len(ids) != len(titles):
            raise InvalidError(
                f"there are {len(titles)} `gold_titles` for {len(ids)} `gold_ids`: each passage needs its article"
            )
        return [Gold(title, source_id=i) for title, i in zip(titles, ids or [None] * len(titles), strict=True)]
