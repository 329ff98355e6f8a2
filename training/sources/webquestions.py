"""WebQuestions (Berant et al. 2013): questions typed into Google with answers, but without passages.

The passages come from the leads of Wikispeedia's articles (distant supervision, Mintz et al. 2009).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from training.examples import Example, Question, contains_answer, occurrences, read_lines
from training.search import ParagraphSearch
from wikigr.index.lexical import stems
from wikigr.question.question import content_stems

NAME = "webquestions"
LICENSE = "CC BY 4.0; the passages: GFDL or CC BY-SA"

_DEPTH = 6
_MAX_PASSAGES = 2
# A passage says what is asked if it and its title contain this share of the stems of the question.
_MIN_COVERAGE = 0.75
_MIN_WORDS = 12


def read_webquestions(folder: Path) -> list[Question]:
    """Read ``webquestions.jsonl.xz``; the questions have no passages."""
    rows = read_lines(folder / "webquestions.jsonl.xz")
    return [Question(NAME, row["id"], row["question"], "", "", tuple(row["answers"]), ()) for row in rows]


def read_leads(folder: Path, left_out: frozenset[str]) -> list[tuple[str, str]]:
    """Return the titles and paragraphs of the leads in Wikispeedia, without the articles ``left_out``."""
    return [
        (row["title"], paragraph.strip())
        for row in read_lines(folder / "leads.jsonl.xz")
        if row["title"] not in left_out
        for paragraph in row["text"].split("\n")
        if not paragraph.startswith("#") and len(paragraph.split()) >= _MIN_WORDS
    ]


def distant_examples(data: Path, left_out: frozenset[str], negatives: int = 1) -> list[Example]:
    """Return the questions with the passages that state an answer, and against ``negatives`` that do not.

    BM25 alone finds them: a passage must share most words with the question anyway, and encoding all leads takes longer
    than everything else.
    """
    questions = read_webquestions(data / "questions")
    paragraphs = read_leads(data / "wikispeedia", left_out)
    found = ParagraphSearch(paragraphs, None).search([question.question for question in questions], _DEPTH)
    return [
        example
        for question, numbers in zip(questions, found, strict=True)
        for example in _of_question(question, [paragraphs[number] for number in numbers], negatives)
    ]


def _of_question(question: Question, passages: list[tuple[str, str]], negatives: int) -> Iterator[Example]:
    asked = set(content_stems(question.question))
    stating = 0
    for title, text in passages:
        spans = tuple(sorted({span for answer in question.accepted for span in occurrences(text, answer)}))
        said = asked & set(stems(f"{title} {text}"))
        if spans and len(said) >= _MIN_COVERAGE * len(asked) and stating < _MAX_PASSAGES:
            stating += 1
            yield _example(question, "answer", title, text, spans)
    # The answers are incomplete: a passage without one is a negative only where another one states it.
    if stating:
        others = [(title, text) for title, text in passages if not contains_answer(text, question.accepted)]
        for title, text in others[:negatives]:
            yield _example(question, "search", title, text, ())


def _example(question: Question, kind: str, title: str, text: str, spans: tuple[tuple[int, int], ...]) -> Example:
    return Example(NAME, kind, question.id, question.question, title, "", text, question.accepted, spans)
