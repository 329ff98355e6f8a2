"""The sections that wikigr's search finds in a pack of SQuAD 2.0, for held-out and off-topic questions."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from training.examples import Passage, Question, read_lines
from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
from wikigr.sources.detect import open_source

RETRIEVED_FILE = "retrieved.jsonl"
SQUAD2_PACK = "squad2-pack"
SECTIONS = 5

ANSWERABLE = "answerable"
UNANSWERABLE = "unanswerable"
OFF_TOPIC = "off_topic"


@dataclass(frozen=True, slots=True)
class RetrievedQuestion:
    """A question with its gold paragraph, or any held-out one if it is off-topic, and the sections found for it."""

    group: str
    id: str
    question: str
    accepted: tuple[str, ...]
    gold: Passage
    sections: tuple[Passage, ...]


def retrieve(
    corpus: Path, held_out: Sequence[Question], off_topic: Sequence[str], work: Path, encoder: Embedder, *, limit: int
) -> None:
    """Build a pack of the paragraphs in ``corpus`` and write ``retrieved.jsonl`` to ``work``.

    At most ``limit`` questions of each group are drawn, always the same ones.
    """
    draw = random.Random(limit)
    groups = {
        ANSWERABLE: [question for question in held_out if question.spans],
        UNANSWERABLE: [question for question in held_out if not question.spans],
    }
    asked = [
        RetrievedQuestion(group, q.id, q.question, q.accepted, Passage(q.title, "", q.text), ())
        for group, questions in groups.items()
        for q in draw.sample(questions, min(limit, len(questions)))
    ]
    for number, text in enumerate(draw.sample(off_topic, min(limit, len(off_topic)))):
        other = draw.choice(held_out)
        asked.append(RetrievedQuestion(OFF_TOPIC, str(number), text, (), Passage(other.title, "", other.text), ()))
    pack = build_squad2_pack(corpus, work, encoder)
    with Pack(pack, purpose="queries") as opened, (work / RETRIEVED_FILE).open("w", encoding="utf-8") as file:
        pipeline = Pipeline(load_profile(), opened, offline=True)
        for item in asked:
            found = (evidence.section for evidence in pipeline.search(item.question, top_k=SECTIONS))
            sections = tuple(Passage(section.title, section.heading, section.content) for section in found)
            file.write(json.dumps(asdict(replace(item, sections=sections)), ensure_ascii=False) + "\n")


def build_squad2_pack(corpus: Path, work: Path, encoder: Embedder) -> Path:
    """Build the pack of all paragraphs in ``work``, unless it is there, and return its folder."""
    pack = work / SQUAD2_PACK
    if not (pack / "manifest.json").exists():
        articles = work / "squad2.jsonl"
        articles.write_text("".join(json.dumps(row) + "\n" for row in read_lines(corpus)), encoding="utf-8")
        build_pack(open_source(articles), str(articles), pack, encoder, BuildOptions(name="squad2"))
    return pack


def read_retrieved(path: Path) -> list[RetrievedQuestion]:
    """Read what ``retrieve`` wrote."""
    with path.open(encoding="utf-8") as lines:
        return [_retrieved(json.loads(line)) for line in lines]


def _retrieved(values: dict[str, Any]) -> RetrievedQuestion:
    return RetrievedQuestion(
        group=values["group"],
        id=values["id"],
        question=values["question"],
        accepted=tuple(values["accepted"]),
        gold=Passage(**values["gold"]),
        sections=tuple(Passage(**section) for section in values["sections"]),
    )


def first_of_each_group(questions: Sequence[RetrievedQuestion], count: int) -> list[RetrievedQuestion]:
    """Return the first ``count`` questions of each group."""
    seen: dict[str, int] = {}
    kept = []
    for question in questions:
        seen[question.group] = seen.get(question.group, 0) + 1
        if seen[question.group] <= count:
            kept.append(question)
    return kept
