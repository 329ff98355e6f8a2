"""Questions with known answers, and the packs that they are asked of. None of them trained the reader."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from eval.real.packs import ENCODER, SOURCES, build
from eval.real.questions import load_questions
from training.config import RECIPES
from training.examples import read_lines, states_answer
from training.judged import people_sources
from training.sources.natural_questions import read_natural_questions
from training.sources.squad2 import choose_held_out
from wikigr.embeddings.loader import open_encoder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.sources.detect import open_source

_PROJECT = Path(__file__).parent.parent.parent
# Schemas of ``benchmarks/schemas`` that are not held out.
_SCHEMAS = ("companies", "movies")
_SCHEMA_SCALE = 0.25
_QUESTIONS_PER_WORDING = 4
# Questions that are drawn of a source with more.
MAX_QUESTIONS = 240


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question; right is what matches ``pattern``, or contains one of ``accepted`` where there is none.

    The pack does not answer it if there is neither.
    """

    question: str
    pattern: str = ""
    accepted: tuple[str, ...] = ()

    @property
    def covered(self) -> bool:
        return bool(self.pattern or self.accepted)

    def is_right(self, text: str, short: str = "") -> bool:
        """Return whether ``text`` or the ``short`` answer states the answer."""
        return self.covered and states_answer(f"{short}\n{text}", self.pattern, self.accepted)


@dataclass(frozen=True)
class QuestionSource:
    """The questions that are asked of one pack; ``group`` names the data set, and ``build`` returns the pack's folder.

    ``build`` raises ``WikigrError`` if the pack cannot be built. Of a source that ``has_near_misses``, no question
    needs to be asked without its answer.
    """

    group: str
    name: str
    build: Callable[[], Path]
    questions: tuple[AskedQuestion, ...] = field(repr=False)
    has_near_misses: bool = False

    def drawn(self, most: int) -> QuestionSource:
        """Return the source with at most ``most`` of its questions, the same ones each time."""
        return replace(self, questions=_drawn(list(self.questions), most))


def question_sources(data: Path, work: Path, cache: Path) -> Iterator[QuestionSource]:
    """Yield all sources that are installed; packs are built below ``work`` and ``cache`` where they are missing."""
    for source in SOURCES:
        if not source.location.exists():
            print(f"{source.name} is left out: apt-get install {source.debian_package}", file=sys.stderr)
            continue
        asked = tuple(AskedQuestion(q.question, q.gold or "") for q in load_questions(source))
        yield QuestionSource("bench", source.name, partial(build, source, cache), asked)
    yield from _people(data, work)
    yield QuestionSource(
        "demo", "demo", partial(build_folder, _PROJECT / "packs" / "physics" / "articles", work / "demo"), _demo()
    )
    yield from _schemas(work)
    yield QuestionSource(
        "nq", "nq", partial(_built_lines, data / "questions" / "nq-passages.jsonl.xz", work / "nq"), _nq(data)
    )
    for name in ("squad2", "musique", "hotpotqa"):
        pack = partial(_built_lines, data / name / "corpus.jsonl.xz", work / name)
        yield QuestionSource(name, name, pack, _drawn(list(_corpus_questions(data / name))))


def _people(data: Path, work: Path) -> Iterator[QuestionSource]:
    people = json.loads((data / "people" / "questions.json").read_text(encoding="utf-8"))
    for name, place in people_sources(data).items():
        if not place.exists():
            print(f"people/{name} is left out: {place} is missing", file=sys.stderr)
            continue
        asked = tuple(AskedQuestion(question, gold or "") for question, gold in people[name])
        yield QuestionSource("people", f"people-{name}", partial(build_folder, place, work / f"people-{name}"), asked)


def _demo() -> tuple[AskedQuestion, ...]:
    rows = []
    for name in ("questions.jsonl", "composed.jsonl"):
        lines = (_PROJECT / "packs" / "physics" / "eval" / name).read_text(encoding="utf-8").splitlines()
        rows += [json.loads(line) for line in lines]
    return tuple(AskedQuestion(row["question"], accepted=tuple(row["answers"])) for row in rows)


def _schemas(work: Path) -> Iterator[QuestionSource]:
    """Yield generated graphs without text, with questions of one, two and three hops."""
    sys.path.insert(0, str(_PROJECT / "benchmarks"))
    from schema_graph import make_graph, make_questions, write

    for name in _SCHEMAS:
        schema = json.loads((_PROJECT / "benchmarks" / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
        graph = make_graph(schema, _SCHEMA_SCALE)
        rows: list[dict[str, Any]] = list(make_questions(schema, graph, _QUESTIONS_PER_WORDING))
        folder = work / f"schema-{name}"
        write(folder, graph, iter(rows))
        asked = [AskedQuestion(row["question"], accepted=tuple(row["answers"])) for row in rows]
        yield QuestionSource(
            "schemas", f"schema-{name}", partial(build_folder, folder / "graph.tsv", folder / "pack"), _drawn(asked)
        )


def _nq(data: Path) -> tuple[AskedQuestion, ...]:
    found = read_natural_questions(data / "questions", held_out=True)
    return _drawn(
        [AskedQuestion(q.question, accepted=q.answers if q.covered else ()) for q in found if q.covered is not None]
    )


def _corpus_questions(folder: Path) -> Iterator[AskedQuestion]:
    """Yield the questions of a corpus; of SQuAD 2.0, those on the articles that the reader never saw."""
    rows = list(read_lines(folder / "queries.jsonl.xz"))
    titles = {title for row in rows for title in row["gold_titles"]}
    config = RECIPES["small"]
    held_out = set(choose_held_out(titles, config.data.held_out_articles, config.seed))
    for row in rows:
        if folder.name != "squad2" or held_out & set(row["gold_titles"]):
            is_answered = row.get("answerable", not row.get("is_impossible", False))
            yield AskedQuestion(row["question"], accepted=tuple(row["answers"]) if is_answered else ())


def _drawn(questions: list[AskedQuestion], most: int = MAX_QUESTIONS) -> tuple[AskedQuestion, ...]:
    draw = random.Random(len(questions))
    return tuple(draw.sample(questions, min(most, len(questions))))


def _built_lines(corpus: Path, pack: Path) -> Path:
    if (pack / "manifest.json").exists():
        return pack
    lines = pack.with_suffix(".jsonl")
    lines.parent.mkdir(parents=True, exist_ok=True)
    lines.write_text("".join(json.dumps(row) + "\n" for row in read_lines(corpus)), encoding="utf-8")
    return build_folder(lines, pack)


def build_folder(source: Path, pack: Path, source_format: str | None = None) -> Path:
    """Return the folder of the pack of ``source``, which is built if it is missing."""
    if not (pack / "manifest.json").exists():
        pack.parent.mkdir(parents=True, exist_ok=True)
        options = BuildOptions(name=pack.name, jobs=1, keep_going=True)
        encoder = open_encoder(ENCODER, purpose="bulk")
        build_pack(open_source(source, source_format), str(source), pack, encoder, options)
    return pack
