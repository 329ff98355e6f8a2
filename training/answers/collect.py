"""Ask the questions, and write the features of all candidates with whether each is right."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from training.answers.questions import AskedQuestion, QuestionSource
from wikigr.answer.candidates.table import find_candidates
from wikigr.answer.probability import Features, describe, rivals
from wikigr.answer.stages import Draft, material_of
from wikigr.index.candidate import Evidence, Section
from wikigr.index.stored_blocks import encode_blocks
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
from wikigr.reader.passage import ReaderOptions
from wikigr.retrieval.state import State
from wikigr.retrieval.trace import Trace
from wikigr.retrieval.units import units_of
from wikigr.sources.block import cut_blocks, shift_blocks

# The share of the covered questions that are asked once more of sections without the sentences that answer them.
_REMOVED_SHARE = 0.35


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """The candidates for one question: their features, whether each is right, and the numbers of its rivals.

    ``covered`` says whether the pack answers the question at all. ``removed`` marks a question whose answer was taken
    out of the sections.
    """

    group: str
    source: str
    question: str
    covered: bool
    removed: bool
    features: tuple[Features, ...]
    right: tuple[bool, ...]
    rivals: tuple[tuple[int, ...], ...]


def collect(source: QuestionSource, *, reader: bool, seed: int) -> Iterator[JudgedAnswers]:
    """Yield the judged candidates for every question of ``source``, read by the reader or not."""
    draw = random.Random(f"{seed}:{source.name}")
    profile = load_profile().override(ReaderOptions, enabled=reader)
    with Pack(source.build()) as pack:
        pipeline = Pipeline(profile, pack, offline=True)
        for asked in source.questions:
            state = pipeline.retrieve(asked.question, Trace())
            yield _judged(source, asked, pipeline.read(state, Trace()), removed=False)
            if asked.covered and not (source.has_near_misses or state.paths) and draw.random() < _REMOVED_SHARE:
                draft = pipeline.read(without_answer(state, asked), Trace())
                yield _judged(source, asked, draft, removed=True)


def _judged(source: QuestionSource, asked: AskedQuestion, draft: Draft, *, removed: bool) -> JudgedAnswers:
    material = material_of(draft)
    candidates = find_candidates(material)
    return JudgedAnswers(
        group=source.group,
        source=source.name,
        question=asked.question,
        covered=asked.covered and not removed,
        removed=removed,
        features=tuple(describe(candidates, material)),
        right=tuple(not removed and asked.is_right(c.text, c.short) for c in candidates),
        rivals=tuple(map(tuple, rivals(candidates))),
    )


def without_answer(state: State, asked: AskedQuestion) -> State:
    """Return ``state`` without the sentences that state the answer; what several hops found is dropped."""
    kept = tuple(replace(item, section=_cut(item.section, asked)) for item in state.evidence)
    return replace(state, evidence=tuple(filter(_has_text, kept)), chains=())


def _cut(section: Section, asked: AskedQuestion) -> Section:
    content, blocks = section.content, section.blocks
    for unit in reversed(units_of(section)):
        if asked.is_right(content[unit.start : unit.end]):
            before, after = (
                cut_blocks(content, blocks, *place) for place in ((0, unit.start), (unit.end, len(content)))
            )
            blocks = (*before, *shift_blocks(after, unit.start))
            content = content[: unit.start] + content[unit.end :]
    return replace(section, content=content, stored_blocks=encode_blocks(content, blocks))


def _has_text(item: Evidence) -> bool:
    return bool(item.section.content.strip())


def write_judged(path: Path, judged: Sequence[JudgedAnswers]) -> None:
    """Write ``judged`` as JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(asdict(item)) + "\n" for item in judged), encoding="utf-8")


def read_judged(path: Path) -> list[JudgedAnswers]:
    """Read what ``write_judged`` wrote."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        values = json.loads(line)
        values["features"] = tuple(Features(**item) for item in values["features"])
        values["right"] = tuple(values["right"])
        values["rivals"] = tuple(map(tuple, values["rivals"]))
        found.append(JudgedAnswers(**values))
    return found
