"""The table of stages: all code that depends on the stages reads it.

The pipeline runs the enabled rows in order. ``--explain``, ``wikigr why``, ``eval run --ablate``, the
schema of profiles and the generated reference take names, sections, scores and reasons from here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from wikigr.answer.extractive import ExtractiveOptions
from wikigr.answer.stages import Assess, FindAnswers, RankSentences, ReadSentences
from wikigr.graph_search.explore.options import MultiStrategyOptions
from wikigr.graph_search.explore.stage import MultiStrategyStage
from wikigr.graph_search.hops.chain_search import HopsOptions
from wikigr.graph_search.hops.stage import Hops
from wikigr.graph_search.relation_paths.stage import RelationPaths, RelationPathsOptions
from wikigr.index.candidate import CROSS_ENCODER, DENSE, HOPS, LEXICAL, UNIT, WALK
from wikigr.llm.options import BudgetOptions, FewShotOptions, ModelFileOptions, SynthesisOptions
from wikigr.options import Options
from wikigr.pipeline.profile import Profile
from wikigr.reader.passage import ReaderOptions
from wikigr.rerankers.cross_encoder import CrossEncoderOptions, CrossEncoding
from wikigr.rerankers.graph_reranker import GraphRerankerOptions, GraphReranking
from wikigr.rerankers.graph_walk import EntityLinking, GraphWalk, GraphWalkOptions
from wikigr.rerankers.section_quality import SectionQuality, SectionQualityOptions
from wikigr.rerankers.unit_match import UnitMatch, UnitMatchOptions
from wikigr.retrieval.candidates import DenseSearch, Encode, Fetch, Fuse, LexicalSearch, RetrievalOptions
from wikigr.retrieval.document_selection import DocumentSelection, MultiDocOptions
from wikigr.retrieval.multi_query import MultiQuery
from wikigr.retrieval.state import PipelineStage
from wikigr.retrieval.trace import LEFT_OUT, StageRecord, Trace


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of retrieval, or between the evidence and an answer.

    ``run`` is the class that runs it and has its name, and ``options`` the section of a profile that configures it.
    ``enabled_by`` decides whether a profile enables it; by default these options do. ``score`` is the key that it
    writes into ``Candidate.scores``. ``reason`` says why a section is absent after it (``{count}`` is how many are
    present).

    A stage that ``ranks`` orders or keeps sections. One that ``finds`` can bring in sections that no stage before it
    had, and a ``ranker`` starts from the question alone. The failure of an ``optional`` stage is recorded, and the next
    stage runs. Stages marked ``reads`` select and read text; a plain search skips them. Those marked ``asks`` ask
    further questions, or a model; they do not run for questions that a stage asks.
    """

    run: type[PipelineStage[Any, Any]]
    options: type[Options]
    enabled_by: Callable[[Profile], bool] | None = None
    score: str = ""
    reason: str = LEFT_OUT
    ranks: bool = True
    finds: bool = False
    ranker: bool = False
    optional: bool = False
    reads: bool = False
    asks: bool = False

    @property
    def name(self) -> str:
        """The name of the stage in traces, timings and messages."""
        return self.run.name

    def traced(self, trace: Trace) -> AbstractContextManager[StageRecord]:
        """Time the stage in ``trace``; the failure of an optional stage is recorded there and goes no further."""
        return trace.enhancement(self.name) if self.optional else trace.stage(self.name)

    def applies_to(self, profile: Profile) -> bool:
        """Return whether ``profile`` enables the stage."""
        if self.enabled_by is not None:
            return self.enabled_by(profile)
        options: Any = profile[self.options]
        return bool(options.enabled)


def _always(profile: Profile) -> bool:
    return True


RETRIEVAL_STAGES = (
    Stage(
        RelationPaths,
        RelationPathsOptions,
        reason="it states no fact on the relation path that explains the question best",
        finds=True,
        ranker=True,
        optional=True,
        reads=True,
        asks=True,
    ),
    Stage(
        MultiQuery,
        RetrievalOptions,
        lambda profile: profile[RetrievalOptions].multi_query,
        ranks=False,
        optional=True,
        asks=True,
    ),
    Stage(Encode, RetrievalOptions, lambda profile: profile[RetrievalOptions].mode != "lexical", ranks=False),
    Stage(
        DenseSearch,
        RetrievalOptions,
        lambda profile: profile[RetrievalOptions].mode != "lexical",
        score=DENSE,
        reason="it is not among the {count} sections nearest by vectors",
        finds=True,
        ranker=True,
    ),
    Stage(
        LexicalSearch,
        RetrievalOptions,
        lambda profile: profile[RetrievalOptions].mode != "dense",
        score=LEXICAL,
        reason="it is not among the {count} best by BM25",
        finds=True,
        ranker=True,
    ),
    Stage(Fuse, RetrievalOptions, _always, reason="no ranker found it", finds=True),
    Stage(UnitMatch, UnitMatchOptions, score=UNIT, optional=True),
    Stage(
        CrossEncoding,
        CrossEncoderOptions,
        score=CROSS_ENCODER,
        reason="it is not among the {count} that the cross-encoder ranks highest",
        optional=True,
    ),
    Stage(GraphReranking, GraphRerankerOptions, optional=True),
    Stage(
        EntityLinking,
        GraphWalkOptions,
        lambda profile: profile[GraphWalkOptions].enabled or profile[MultiStrategyOptions].enabled,
        ranks=False,
        optional=True,
    ),
    Stage(
        GraphWalk,
        GraphWalkOptions,
        score=WALK,
        reason="no short path leads to it from the nodes that the question names or the articles found",
        finds=True,
        optional=True,
    ),
    Stage(
        Hops,
        HopsOptions,
        lambda profile: profile[HopsOptions].enabled and profile[ReaderOptions].enabled,
        score=HOPS,
        reason="none of the questions on the way to the answer leads to it",
        finds=True,
        optional=True,
        asks=True,
    ),
    Stage(MultiStrategyStage, MultiStrategyOptions, optional=True, asks=True),
    Stage(DocumentSelection, MultiDocOptions, _always, reads=True),
    Stage(Fetch, RetrievalOptions, _always, ranks=False, reads=True),
    Stage(SectionQuality, SectionQualityOptions, reads=True),
)

ANSWER_STAGES = (
    Stage(RankSentences, ReaderOptions, _always, reason="it contains no sentence"),
    Stage(ReadSentences, ReaderOptions, reason="it is not among the {count} sections that the reader read"),
    Stage(FindAnswers, ReaderOptions, _always, reason="it holds none of the answers that were found"),
    Stage(Assess, ReaderOptions, _always, ranks=False),
)


def rankers_only(profile: Profile) -> Profile:
    """Return ``profile`` without the stages that rerank what the rankers found."""
    for stage in RETRIEVAL_STAGES:
        if stage.optional and stage.ranks:
            for values in profile[stage.options].ablations().values():
                profile = profile.override(stage.options, **values)
    return profile


# The sections of a profile, in the order of the stages that they configure.
SECTIONS: tuple[type[Options], ...] = (
    *dict.fromkeys(stage.options for stage in RETRIEVAL_STAGES),
    ReaderOptions,
    ExtractiveOptions,
    FewShotOptions,
    SynthesisOptions,
    ModelFileOptions,
    BudgetOptions,
)
