"""Ask gold questions and score the answers, in this process or on the workers of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.evaluation.cached_pack import CachedPack
from wikigr.evaluation.metrics import score
from wikigr.evaluation.questions import GoldQuestion
from wikigr.evaluation.samples import Sample, parse_line, write_line
from wikigr.ingest.engines.cluster import Cluster
from wikigr.llm.budget import BudgetError
from wikigr.pack.layout import MANIFEST, Layout
from wikigr.pack.manifest import read_manifest
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.retrieval.candidates import fetch

Item = tuple[GoldQuestion, Profile, int]
"""A question, the profile that answers it, and the number of the repeat."""

# The number of ranked sections that are stored and scored. They nearly always cover ten different articles.
MAX_RANKED = 20
# Questions in a task of a cluster: a second of work or less.
_QUESTIONS_PER_TASK = 8


def ask_question(pipeline: Pipeline, question: GoldQuestion, repeat: int) -> Sample:
    """Ask ``question`` and score the answer. A failure is a sample with an ``error``.

    Raises ``BudgetError`` for an exhausted budget, and ``UsageError`` for a mistake in the profile.
    """
    name = pipeline.profile.name
    model = pipeline.model
    asked = hits = 0
    if model is not None:
        # The cache keeps the reply of each repeat separately.
        model.repeat = repeat
        asked, hits = model.asked, model.hits
    try:
        answer = pipeline.answer(question.question)
        ranking = fetch(pipeline.pack, answer.ranking[:MAX_RANKED])
    except (BudgetError, UsageError):
        raise
    except WikigrError as error:
        return Sample(name, question.id, repeat, error=error.message)
    return Sample(
        profile=name,
        question_id=question.id,
        repeat=repeat,
        answer=answer.text,
        query_type=answer.query_type,
        confidence=round(answer.confidence, 6),
        level=answer.level,
        span=None if answer.span is None else asdict(answer.span),
        metrics={metric: round(value, 6) for metric, value in score(question, answer, ranking).items()},
        citations=tuple(
            {"section_id": c.section_id, "title": c.title, "quote": c.quote, "start": c.start, "end": c.end}
            for c in answer.citations
        ),
        ranking=tuple(
            {"section_id": e.section.section_id, "source_id": e.section.source_id, "score": round(e.score, 6)}
            for e in ranking
        ),
        warnings=tuple(answer.trace.warnings),
        degraded=answer.trace.degraded,
        timings=dict(answer.trace.timings()),
        usage=answer.usage.to_dict() if answer.usage.calls else {},
        cached=model is not None and model.asked == asked and model.hits > hits,
    )


def ask_on_cluster(
    cluster: Cluster, pack: CachedPack, todo: Sequence[Item], warn: Callable[[str], None]
) -> Iterator[Sample]:
    """Yield a sample for each item of ``todo``, in order; ``warn`` receives failures that are tried again.

    Raises ``ClusterError`` if a node does not have the pack at the same path, or fails repeatedly.
    """
    root = str(pack.layout.root.absolute())
    cluster.check(PackCheck(root, pack.manifest.digest))
    tasks = [todo[first : first + _QUESTIONS_PER_TASK] for first in range(0, len(todo), _QUESTIONS_PER_TASK)]
    names = [f"Asking {len(task)} questions, the first with the id {task[0][0].id!r}," for task in tasks]
    done: dict[int, str] = {}
    following = 0
    for task, lines in cluster.run(Asker(root, tasks), range(len(tasks)), name=names.__getitem__, note=warn):
        done[task] = lines
        while following in done:
            yield from map(parse_line, done.pop(following).split("\n")[:-1])
            following += 1


@dataclass
class Asker:
    """Asks some questions in each task. A worker process opens the pack once, and each pipeline once."""

    root: str
    tasks: Sequence[Sequence[Item]]
    _pack: CachedPack | None = field(default=None, init=False)
    _pipelines: dict[str, Pipeline] = field(default_factory=dict, init=False)

    def __call__(self, task: int) -> str:
        if self._pack is None:
            self._pack = CachedPack(self.root, threads=1)
        lines = []
        for question, profile, repeat in self.tasks[task]:
            if profile.name not in self._pipelines:
                self._pipelines[profile.name] = Pipeline(profile, self._pack, model=None, offline=True)
            lines.append(write_line(ask_question(self._pipelines[profile.name], question, repeat)))
        return "".join(lines)


@dataclass(frozen=True)
class PackCheck:
    """Checks that a node has the pack of the run."""

    root: str
    digest: str

    def __call__(self) -> tuple[str, str] | None:
        hint = f"Put the pack into a folder that all nodes share, under the same path: {self.root}"
        try:
            found = read_manifest(Layout(Path(self.root)).part(MANIFEST)).digest
        except PackError as error:
            return f"cannot open the pack: {error.message}", hint
        return None if found == self.digest else (f"has another pack in {self.root}", hint)
