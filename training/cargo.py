"""Everything that a training on a GPU reads, as arrays and questions, from what ``prepare`` wrote."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from training.config import ASKED, DISTANT, GENERAL
from training.distill import PARTS, QUESTION_WINDOWS, QUESTIONS, WINDOWS
from training.examples import Example, read_examples
from training.judged import JUDGED_FILE, JudgedQuestion, read_judged
from training.measured import Measured
from training.prepare import draw_questions, part_file
from training.retrieve import ANSWERABLE, RETRIEVED_FILE, RetrievedQuestion, first_of_each_group, read_retrieved
from training.windows import pack_examples, pack_questions, read_questions, write_questions
from wikigr.reader.windows import WindowMaker

DEVELOPMENT_FILE = "development.jsonl.xz"
GOLD = "held-out, gold"
SECTIONS = "held-out, sections"

# Sections that are read for a question that people asked, and the weight of a sentence's score without the reader.
_JUDGED_SECTIONS = 4
_FEATURES_WEIGHT = 20.0


def write_cargo(work: Path, folder: Path, small: Path, *, seed: int = 7, held_out: int = 300) -> dict[str, int]:
    """Write the arrays and questions of ``work`` to ``folder``, and return their numbers."""
    maker = WindowMaker(Tokenizer.from_file(str(small / "tokenizer.json")))
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(seed)
    parts = []
    for name in (ASKED, GENERAL, DISTANT):
        path = work / part_file(name)
        examples = draw_questions(read_examples(path), 0, draw) if path.exists() else []
        # Windows of one question lie together, as sorting by title does with those of a paragraph: both compress well.
        examples.sort(key=lambda example: (example.title, example.text, example.question))
        parts.append((name, examples, places_of(examples) if name == ASKED else [0.0] * len(examples)))
    arrays, names = pack_examples([part for part in parts if part[1]], maker)
    np.savez(folder / WINDOWS, allow_pickle=False, **arrays)
    (folder / PARTS).write_text(json.dumps(names), encoding="utf-8")
    questions = [
        *read_questions(work / DEVELOPMENT_FILE),
        *from_held_out(first_of_each_group(read_retrieved(work / RETRIEVED_FILE), held_out)),
        *from_judged(read_judged(work / JUDGED_FILE)),
    ]
    write_questions(folder / QUESTIONS, questions)
    asked = pack_questions(questions, maker)
    np.savez(folder / QUESTION_WINDOWS, allow_pickle=False, **asked)
    counts = Counter(names[part] for part in arrays["part"].tolist())
    return {
        **counts,
        "tokens": len(arrays["ids"]),
        "questions": len(questions),
        "their windows": len(asked["question"]),
    }


def places_of(examples: Sequence[Example]) -> list[float]:
    """Return for each example the share of those whose sources come before its own, in the order of their hashes."""
    counts = Counter(example.source for example in examples)
    order = sorted(counts, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    before, place = 0, {}
    for name in order:
        place[name] = before / len(examples)
        before += counts[name]
    return [place[example.source] for example in examples]


def from_held_out(questions: Iterable[RetrievedQuestion]) -> list[Measured]:
    """Return the held-out questions twice: against the gold paragraph, and against the sections found."""
    return [
        Measured(group, item.group, item.question, item.accepted, "", item.group == ANSWERABLE, sections)
        for item in questions
        for group, sections in ((GOLD, (item.gold,)), (SECTIONS, item.sections))
    ]


def from_judged(questions: Iterable[JudgedQuestion]) -> list[Measured]:
    """Return the questions of ``judged`` with what their sentences are worth without a reader."""
    return [
        Measured(
            group=item.group,
            kind=item.kind,
            question=item.question,
            accepted=item.accepted,
            pattern=item.pattern,
            covered=item.covered,
            sections=item.sections[:_JUDGED_SECTIONS],
            sentences=tuple(
                (s.section, s.start, s.end, _FEATURES_WEIGHT * s.features)
                for s in item.sentences
                if s.section < _JUDGED_SECTIONS
            ),
        )
        for item in questions
    ]
