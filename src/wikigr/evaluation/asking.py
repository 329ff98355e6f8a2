"""Ask gold questions and score the answers, in this process or on the workers of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.evaluation.cached_pack import CachedPack
from wikigr.evaluation.metrics import score
from wikigr.evaluation.questions import GoldQuestion
from wikigr.evaluation.samples import Sample
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


def ask_on_cluster(cluster: Cluster, pack: CachedPack, todo: Sequence[Item]) -> Iterator[Sample]:
    """Yield a sample for each item of ``todo``, in order.

    Raises ``ClusterError`` if a node does not have the pack at the same path, or a question fails repeatedly.
    """
    root = str(pack.layout.root.absolute())
    cluster.check(PackCheck(root, pack.manifest.digest))
    tasks = [todo[first : first + _QUESTIONS_PER_TASK] for first in range(0, len(todo), _QUESTIONS_PER_TASK)]
    for samples in cluster.map(_ask_items, root, tasks, name=_name_of_task):
        yield from samples


def _name_of_task(items: Sequence[Item]) -> str:
    return f"Asking {len(items)} questions, the first with the id {items[0][0].id!r},"


def _ask_items(root: str, items: Sequence[Item]) -> list[Sample]:
    """Ask questions in a process of a worker, which opens the pack once, and each pipeline once."""
    return [ask_question(_pipeline(root, profile), question, repeat) for question, profile, repeat in items]


_opened: dict[str, tuple[CachedPack, dict[str, Pipeline]]] = {}


def _pipeline(root: str, profile: Profile) -> Pipeline:
    if root not in _opened:
        _opened[root] = CachedPack(root, threads=1), {}
    pack, pipelines = _opened[root]
    if profile.name not in pipelines:
        pipelines[profile.name] = Pipeline(profile, pack, model=None, offline=True)
    return pipelines[profile.name]


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
