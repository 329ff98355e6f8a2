"""Training examples and development questions from ``asked``."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from training.examples import Example, Passage, contains_answer
from training.measured import Measured
from training.negatives import SEARCH
from training.search import ParagraphSearch
from training.sources.asked import (
    DEVELOPMENT,
    NAME,
    TRAINING,
    UNANSWERABLE,
    YES_NO,
    AskedQuestion,
    AskedSection,
    AskedSource,
    align,
    read_collection,
)

# Sections without the answer that a question is read against; a near miss has one more, because it has no other.
_NEGATIVES = 3
_SEARCH_DEPTH = 16
# Sections that a development question is read in, among which are those that answer it.
_SECTIONS = 12
# A section holds the evidence too if this share of its words follow each other there.
_SAME_EVIDENCE = 0.9

_OWN = Path(__file__).parent / "asked"


def read_asked(data: Path, own_pages: Path, seed: int) -> dict[str, list[AskedSource]]:
    """Return the sources of both collections by part. ``own_pages`` are those of ``training/asked``, drawn again."""
    parts: dict[str, list[AskedSource]] = {}
    shared = data / NAME
    for folder, pages, aside in ((shared, shared / "pages", True), (_OWN, own_pages, False)):
        if folder.is_dir():
            for part, source in read_collection(folder, pages, seed, aside=aside):
                parts.setdefault(part, []).append(source)
    return parts


def training_examples(sources: Sequence[AskedSource], seed: int) -> list[Example]:
    """Return each question with the section that answers it and with others of its source that do not.

    The others are those that BM25 finds for the question. A near miss is read against the best sections of its page.
    """
    examples = [example for source in sources for example in _of_source(source)]
    random.Random(seed).shuffle(examples)
    return examples


def _of_source(source: AskedSource) -> Iterator[Example]:
    for question, found in zip(source.questions, _found(source), strict=True):
        kind = UNANSWERABLE
        if question.section is not None:
            yield _example(source, question, source.sections[question.section], "answer")
            kind = SEARCH
        others = [n for n in found if not _answers(source, question, n)]
        for number in others[: _NEGATIVES + (question.section is None)]:
            yield _example(source, question, source.sections[number], kind)


def _example(source: AskedSource, question: AskedQuestion, section: AskedSection, kind: str) -> Example:
    answers = kind == "answer"
    return Example(
        source=f"{NAME}/{source.name}",
        kind=kind,
        id=question.id,
        question=question.question,
        title=section.title,
        heading=section.heading,
        text=section.text,
        accepted=question.accepted if answers else (),
        spans=question.spans if answers else (),
    )


def _found(source: AskedSource) -> list[list[int]]:
    search = ParagraphSearch([(f"{s.title}\n{s.heading}", s.text) for s in source.sections], None)
    asked = [question.question for question in source.questions]
    found = search.search(asked, len(source.sections))
    # What follows the hits of BM25 has no score, and is in the order of the source.
    near = [question.section is None and bool(question.page) for question in source.questions]
    return [
        [n for n in numbers if not only_page or source.sections[n].page == question.page][:_SEARCH_DEPTH]
        for question, numbers, only_page in zip(source.questions, found, near, strict=True)
    ]


def _answers(source: AskedSource, question: AskedQuestion, number: int) -> bool:
    """Return whether the section ``number`` holds the answer or the evidence, too."""
    if question.section is None:
        return False
    if number == question.section:
        return True
    text = source.sections[number].text
    if question.kind != YES_NO and contains_answer(text, question.accepted):
        return True
    evidence = source.sections[question.section].text[slice(*question.evidence)]
    aligned = align(text, evidence)
    return aligned is not None and aligned[0] >= _SAME_EVIDENCE


def development_questions(sources: Sequence[AskedSource]) -> Iterator[Measured]:
    """Yield each question with up to twelve sections of its source that BM25 finds; the one that answers is added."""
    for source in sources:
        for question, found in zip(source.questions, _found(source), strict=True):
            numbers = found[:_SECTIONS]
            if question.section is not None and question.section not in numbers:
                numbers = [*numbers[: _SECTIONS - 1], question.section]
            sections = [source.sections[n] for n in numbers]
            yield Measured(
                group=f"asked, {source.group}",
                kind=question.kind,
                question=question.question,
                accepted=question.accepted,
                pattern="",
                covered=question.section is not None,
                sections=tuple(Passage(s.title, s.heading, s.text) for s in sections),
                sentences=(),
                gold=numbers.index(question.section) if question.section is not None else None,
            )


def asked_parts(data: Path, own_pages: Path, seed: int) -> tuple[list[Example], list[Measured]]:
    """Return the training examples and the development questions; what is put aside is not read on."""
    parts = read_asked(data, own_pages, seed)
    return training_examples(parts[TRAINING], seed), list(development_questions(parts[DEVELOPMENT]))
