"""A new reranker is one class with a score, and one row of the table of stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import pytest

from wikigr.options import Options
from wikigr.pack.open import Pack
from wikigr.pipeline import pipeline
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.pipeline.stages import RETRIEVAL_STAGES, Stage, rankers_only
from wikigr.rerankers.stage import RerankingStage
from wikigr.retrieval.state import Result
from wikigr.retrieval.trace import StageRecord, Trace


@dataclass(frozen=True, slots=True)
class BrevityOptions(Options):
    section: ClassVar[str] = "brevity"

    enabled: Annotated[bool, "prefer short sections"] = False


class Brevity(RerankingStage[BrevityOptions]):
    name = "brevity"
    pool = 3

    def score(self, question: str, passages: Sequence[Result], record: StageRecord) -> list[float]:
        return [1.0 / len(passage["content"]) for passage in passages]


@pytest.fixture(autouse=True)
def row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the row after the stages that find candidates."""
    fuse = next(n for n, stage in enumerate(RETRIEVAL_STAGES, start=1) if stage.name == "fuse")
    row = Stage(Brevity, BrevityOptions)
    monkeypatch.setattr(pipeline, "RETRIEVAL_STAGES", (*RETRIEVAL_STAGES[:fuse], row, *RETRIEVAL_STAGES[fuse:]))


def test_a_search_keeps_the_best_of_the_pool(physics_pack: Path) -> None:
    profile, trace = rankers_only(Profile()), Trace()
    with Pack(physics_pack) as pack:
        before = Pipeline(profile, pack, offline=True).search("What is spin?", top_k=12)
        brief = Pipeline(profile.override(BrevityOptions, enabled=True), pack, offline=True)
        found = brief.search("What is spin?", top_k=4, trace=trace)
    shortest = sorted(before, key=lambda item: len(item.section.content))[:4]
    assert [item.section.section_id for item in found] == [item.section.section_id for item in shortest]
    assert [item.score for item in found] == [1.0 / len(item.section.content) for item in shortest]
    assert all(item.candidate.scores["relevance"] > 0.0 for item in found)
    (record,) = [record for record in trace.stages if record.stage == "brevity"]
    assert (record.scored, len(record.ranking)) == (12, 4)
