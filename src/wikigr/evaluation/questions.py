"""Gold questions: the reader of their JSON Lines files and the hash of a question set."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wikigr.errors import SourceError, UsageError
from wikigr.sources.jsonl import MAX_LINE_BYTES, JsonlRecord, JsonlSource

ProblemKind = Literal[
    "form",
    "duplicate",
    "missing-title",
    "missing-section",
    "missing-passage",
    "answered",
    "answer-in-question",
    "answer-outside-gold",
    "single-hop",
]


# The types of questions that are composed of several articles but not of a chain of hops.
COMPARISON = "comparison"
INTERSECTION = "intersection"

_HOP_WORDS = {"single": 1, "one": 1, "two": 2, "three": 3, "four": 4}
_HOP_TYPE = re.compile(rf"({'|'.join(_HOP_WORDS)}|[1-9])[ _-]?hops?|single", re.IGNORECASE)


class QuestionError(UsageError):
    """A question file is invalid. The message names the file and, if known, the line."""


@dataclass(frozen=True, slots=True)
class Gold:
    """The place of an answer: an article, optionally narrowed to a section (heading) or a passage (source id).

    ``title`` is stored as in the file and compared after folding.
    """

    title: str
    section: str | None = None
    source_id: str | None = None


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

    ``question_id`` is empty if the line is not a question.
    """

    kind: ProblemKind
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

    Raises ``QuestionError`` for an unreadable file, an invalid line, a repeated id, and if no question is left. With
    ``problems``, invalid lines are skipped and added to that list as problems of the kind ``form``.
    """
    source = JsonlSource(path)
    name = "standard input" if str(path) == "-" else str(path)
    questions: dict[str, GoldQuestion] = {}
    try:
        for record in source.records():
            try:
                question = _Line(record).question()
            except _LineError as error:
                if problems is None:
                    raise QuestionError(f"{name}, line {record.line}: {error}.") from error
                problems.append(Problem("form", "", record.line, str(error)))
                continue
            first = questions.setdefault(question.id, question)
            if first is not question:
                twice = f"the id {question.id!r} is used twice, on line {first.line} and on line {question.line}"
                if problems is None:
                    raise QuestionError(f"{name}: {twice}.")
                problems.append(Problem("form", question.id, question.line, twice))
    except SourceError as error:
        raise QuestionError(f"Cannot read the questions: {error.message}", hint=error.hint) from error
    chosen = [question for question in questions.values() if split is None or question.split == split]
    if not chosen and not problems:
        splits = sorted({question.split for question in questions.values()} - {""})
        there = f"its splits are {', '.join(splits)}" if splits else "none of its questions names a split"
        raise QuestionError(f"{name} has no questions of the split {split!r}: {there}.")
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
            f"The pack {root} has no gold questions (eval/questions.jsonl).", hint="Give --questions FILE."
        )
    return file


class _LineError(Exception):
    """The mistake in one line."""


class _Line:
    """One line of the file, parsed field by field. The first mistake raises ``_LineError``."""

    def __init__(self, record: JsonlRecord) -> None:
        self._line = record.line
        self._fields = self._load(record)

    def question(self) -> GoldQuestion:
        identifier = self._identifier()
        question = self._text("question")
        if question is None:
            raise _LineError("the question is missing: `question`")
        answerable = self._answerable()
        answers = self._answers()
        gold = self._gold()
        if not answerable and self._fields.get("is_impossible") is True:
            # SQuAD 2.0 lists plausible but wrong answers here.
            answers = ()
        if answerable and not answers:
            raise _LineError(
                "the question is answerable, but has no answers: give `answers`, or mark it as not `answerable`"
            )
        if not answerable and answers:
            raise _LineError("the question is not `answerable`, but has `answers`")
        if answerable and not gold:
            raise _LineError("the question is answerable, but has no gold article: give `gold` or `gold_titles`")
        return GoldQuestion(
            id=identifier,
            question=question,
            answers=answers,
            gold=gold,
            answerable=answerable,
            type=self._text("type") or "",
            split=self._text("split") or "",
            cluster=self._text("cluster"),
            line=self._line,
            hops=self._hops(),
        )

    def _load(self, record: JsonlRecord) -> Mapping[str, Any]:
        if record.is_too_long:
            raise _LineError(f"the line is longer than {MAX_LINE_BYTES // (1024 * 1024)} MiB")
        try:
            value = json.loads(record.data.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise _LineError(f"invalid UTF-8 at byte {error.start + 1} of the line") from error
        except json.JSONDecodeError as error:
            raise _LineError(f"invalid JSON: {error.msg} at column {error.colno}") from error
        except (ValueError, RecursionError) as error:
            raise _LineError(f"invalid JSON: {error}") from error
        if not isinstance(value, dict):
            raise _LineError(f"expected a JSON object, found {_kind(value)}")
        return value

    def _identifier(self) -> str:
        value = self._fields.get("id")
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        identifier = self._text("id")
        if identifier is None:
            raise _LineError("the question has no id: `id`")
        return identifier

    def _answerable(self) -> bool:
        answerable = self._flag("answerable")
        impossible = self._flag("is_impossible")
        if answerable is not None and answerable is impossible:
            raise _LineError("`answerable` and `is_impossible` contradict each other")
        if answerable is None:
            return not impossible
        return answerable

    def _hops(self) -> int | None:
        value = self._fields.get("hops")
        if value is None:
            return count_hops(self._text("type") or "")
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise _LineError(f"`hops` must be an integer of at least 1, not {json.dumps(value)}")
        return value

    def _answers(self) -> tuple[str, ...]:
        values = self._list("answers")
        return tuple(dict.fromkeys(self._string(value, f"answers[{i}]") for i, value in enumerate(values)))

    def _gold(self) -> tuple[Gold, ...]:
        has_own = self._fields.get("gold") is not None
        if has_own and (self._fields.get("gold_titles") is not None or self._fields.get("gold_ids") is not None):
            raise _LineError("`gold` cannot be combined with `gold_titles` or `gold_ids`: give one of them")
        places = self._own_gold() if has_own else self._public_gold()
        return tuple(dict.fromkeys(places))

    def _own_gold(self) -> list[Gold]:
        places = []
        for i, value in enumerate(self._list("gold")):
            name = f"gold[{i}]"
            if not isinstance(value, dict):
                raise _LineError(f"`{name}` must be an object with a `title`, not {_kind(value)}")
            section, source_id = (
                None if value.get(key) is None else self._string(value[key], f"{name}.{key}")
                for key in ("section", "source_id")
            )
            places.append(Gold(self._string(value.get("title"), f"{name}.title"), section, source_id))
        return places

    def _public_gold(self) -> list[Gold]:
        titles = [self._string(value, f"gold_titles[{i}]") for i, value in enumerate(self._list("gold_titles"))]
        ids = [
            None if value is None else self._string(value, f"gold_ids[{i}]")
            for i, value in enumerate(self._list("gold_ids"))
        ]
        if ids and len(ids) != len(titles):
            raise _LineError(
                f"there are {len(titles)} `gold_titles` for {len(ids)} `gold_ids`: each passage needs its article"
            )
        return [Gold(title, source_id=i) for title, i in zip(titles, ids or [None] * len(titles), strict=True)]

    def _text(self, key: str) -> str | None:
        value = self._fields.get(key)
        return None if value is None else self._string(value, key)

    def _flag(self, key: str) -> bool | None:
        value = self._fields.get(key)
        if value is None or isinstance(value, bool):
            return value
        raise _LineError(f"`{key}` must be true or false, not {_kind(value)}")

    def _list(self, key: str) -> list[Any]:
        value = self._fields.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise _LineError(f"`{key}` must be a list, not {_kind(value)}")
        return value

    def _string(self, value: object, name: str) -> str:
        if not isinstance(value, str):
            raise _LineError(f"`{name}` must be a string, not {_kind(value)}")
        text = value.strip()
        if not text:
            raise _LineError(f"`{name}` is empty")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise _LineError(f"`{name}` contains an unpaired surrogate")
        return text


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
