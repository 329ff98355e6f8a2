"""Questions that people asked of real sources, with the sentences that wikigr's search finds for them.

``people`` are 87 questions of six sources, each with a pattern that the answer must match; ``nq`` is the held-out half
of the questions of NQ-open whose coverage is known, asked of all passages. Neither is ever trained on.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from training.examples import Passage, read_lines, states_answer
from training.sources.natural_questions import read_natural_questions
from wikigr.embeddings.embedder import Embedder
from wikigr.graph_search.hops.chain_search import HopsOptions
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.question.answer_type import answer_type
from wikigr.retrieval.sentences import rank_sentences
from wikigr.retrieval.trace import Trace
from wikigr.sources.detect import open_source

JUDGED_FILE = "judged.jsonl"

PEOPLE = "people"
NQ = "nq"
NOT_COVERED = "not covered"

_PROJECT = Path(__file__).parent.parent

# Where the sources of ``people`` are: Debian's packages git-doc and python3.11-doc, the demo pack, and shared files.
_SOURCES: dict[str, Callable[[Path], Path]] = {
    "git": lambda data: Path("/usr/share/doc/git-doc"),
    "python": lambda data: Path("/usr/share/doc/python3.11/html"),
    "ray": lambda data: data / "people" / "wikipedia_en_ray_charles_2015-06.zim",
    "physics": lambda data: _PROJECT / "packs" / "physics" / "articles",
    "faq": lambda data: data / "people" / "faq.jsonl",
    "org": lambda data: data / "people" / "org.tsv",
}


def people_sources(data: Path) -> dict[str, Path]:
    """Return where the sources of ``people`` are, by name."""
    return {name: place(data) for name, place in _SOURCES.items()}


# Sections whose sentences are kept.
SECTIONS = 8

_PROCEDURE = re.compile(r"\b(?:how (?:do|can|to)|how should)\b", re.IGNORECASE)
_DEFINITION = re.compile(r"^what (?:is|are|does|do)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """Characters ``start`` to ``end`` of the section number ``section``; ``features`` is its score without a reader."""

    section: int
    start: int
    end: int
    features: float


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question with what was retrieved for it.

    Right is what matches ``pattern``, or contains one of ``accepted`` where there is none. ``covered`` says whether the
    source answers at all. ``nearest`` is the cosine of the nearest section.
    """

    group: str
    source: str
    question: str
    kind: str
    covered: bool
    pattern: str
    accepted: tuple[str, ...]
    nearest: float
    sections: tuple[Passage, ...]
    sentences: tuple[JudgedSentence, ...]

    def is_right(self, text: str) -> bool:
        """Return whether ``text`` states the answer."""
        return self.covered and states_answer(text, self.pattern, self.accepted)


def question_kind(question: str, *, covered: bool) -> str:
    """Return the kind under which a question is counted."""
    if not covered:
        return NOT_COVERED
    if _PROCEDURE.search(question):
        return "how-to"
    kind = answer_type(question)
    if kind is not None and kind.is_short:
        return kind.name
    return "definition" if _DEFINITION.search(question) else "other"


def judge_all(data: Path, packs: Path, encoder: Embedder) -> Iterator[JudgedQuestion]:
    """Yield all questions, from packs that are built in the folder ``packs`` where they are missing.

    A source that is not installed is left out, with a message that names it.
    """
    people = json.loads((data / "people" / "questions.json").read_text(encoding="utf-8"))
    for source, asked in people.items():
        place = _SOURCES[source](data)
        if not place.exists():
            warnings.warn(f"{place} is missing; the questions about {source} are left out", stacklevel=2)
            continue
        items = [(question, gold or "", (), gold is not None) for question, gold in asked]
        yield from _retrieved(PEOPLE, source, items, _build(place, packs / source, encoder))
    passages = packs / "nq-passages.jsonl"
    packs.mkdir(parents=True, exist_ok=True)
    rows = read_lines(data / "questions" / "nq-passages.jsonl.xz")
    passages.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    questions = read_natural_questions(data / "questions", held_out=True)
    known = [(item.question, "", item.answers, item.covered) for item in questions if item.covered is not None]
    yield from _retrieved(NQ, NQ, known, _build(passages, packs / NQ, encoder))


def _build(source: Path, pack: Path, encoder: Embedder) -> Path:
    if not (pack / "manifest.json").exists():
        build_pack(open_source(source), str(source), pack, encoder, BuildOptions(name=pack.name))
    return pack


def _retrieved(
    group: str, source: str, items: Iterable[tuple[str, str, tuple[str, ...], bool]], folder: Path
) -> Iterator[JudgedQuestion]:
    with Pack(folder, purpose="queries") as pack:
        pipeline = Pipeline(Profile().override(HopsOptions, enabled=False), pack, offline=True)
        for question, pattern, accepted, covered in items:
            state = pipeline.retrieve(question, Trace())
            evidence = state.evidence[:SECTIONS]
            numbers = {item.section.section_id: number for number, item in enumerate(evidence)}
            yield JudgedQuestion(
                group=group,
                source=source,
                question=question,
                kind=question_kind(question, covered=covered),
                covered=covered,
                pattern=pattern,
                accepted=tuple(accepted),
                nearest=max((item.candidate.scores.get("dense", 0.0) for item in evidence), default=0.0),
                sections=tuple(
                    Passage(item.section.title, item.section.heading, item.section.content) for item in evidence
                ),
                sentences=tuple(
                    JudgedSentence(numbers[s.section.section_id], s.start, s.end, round(s.feature_score, 6))
                    for s in rank_sentences(evidence, state.question, None)
                ),
            )


def write_judged(path: Path, questions: Iterable[JudgedQuestion]) -> None:
    """Write ``questions`` as JSON Lines."""
    with path.open("w", encoding="utf-8") as file:
        for question in questions:
            file.write(json.dumps(asdict(question), ensure_ascii=False) + "\n")


def read_judged(path: Path) -> list[JudgedQuestion]:
    """Read what ``write_judged`` wrote."""
    with path.open(encoding="utf-8") as lines:
        return [_question(json.loads(line)) for line in lines]


def _question(values: dict[str, Any]) -> JudgedQuestion:
    convert: dict[str, Callable[[Any], Any]] = {
        "accepted": tuple,
        "sections": lambda rows: tuple(Passage(**row) for row in rows),
        "sentences": lambda rows: tuple(JudgedSentence(**row) for row in rows),
    }
    return JudgedQuestion(**{name: convert.get(name, lambda value: value)(value) for name, value in values.items()})
