"""A profile: every knob of retrieval and answering, in one frozen value.

The defaults below are the profile ``enhanced``. ``auto`` stands for the figure that fits the pack or the question (see
``pipeline.tuning``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from wikigr.profiles.limits import Limits

Auto = Literal["auto"]
Share = Annotated[float, Limits(ge=0.0, le=1.0)]
Weight = Annotated[float, Limits(gt=0.0, le=1.0)]
Few = Annotated[int, Limits(ge=1, le=10)]
Positive = Annotated[int, Limits(gt=0)]
Name = Annotated[str, Limits(min_length=1)]


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """Candidates: which rankers, how they are fused, and whether the question is also asked in other words."""

    mode: Literal["hybrid", "dense", "lexical"] = "hybrid"
    fusion: Literal["weighted", "rrf"] = "weighted"
    multi_query: bool = False


@dataclass(frozen=True, slots=True)
class GraphRerankerOptions:
    """Mixing with PageRank; ``alpha`` and ``beta`` sum to 1, ``cache_ttl`` is in seconds.

    By default PageRank decides between near equals only: with the documented weights (``auto``) it can lift what has
    little to do with the question, and what they gain on the demo pack's gold questions cannot be told from chance.
    """

    enabled: bool = True
    alpha: Weight | Auto = 0.95
    beta: Weight | Auto = 0.05
    cache_ttl: Annotated[int, Limits(ge=0)] | Auto = "auto"


@dataclass(frozen=True, slots=True)
class GraphWalkOptions:
    """Following links and mentions from what the question names and finds; ``restart`` is how near it stays."""

    enabled: bool = True
    restart: Annotated[float, Limits(gt=0.0, lt=1.0)] = 0.4


@dataclass(frozen=True, slots=True)
class MultiStrategyOptions:
    """Looking the question up in the graph: links, triplets, paths, Cypher (reference/multi-strategy-retrieval.md).

    ``planner``: ``claude`` lets a model plan, ``rule`` needs none, ``auto`` takes Claude where there is a key or a
    server. ``max_calls`` and ``max_seconds`` hold for the planning of one question, ``max_tokens`` for what it keeps.
    """

    enabled: bool = False
    planner: Literal["auto", "rule", "claude"] = "auto"
    iterations: Annotated[int, Limits(ge=1, le=10)] = 2
    max_num_relations: Annotated[int, Limits(ge=1, le=50)] = 5
    max_num_entities: Annotated[int, Limits(ge=1, le=50)] = 5
    max_num_iterations: Annotated[int, Limits(ge=1, le=10)] = 3
    max_num_triplets: Annotated[int, Limits(ge=1, le=1000)] = 60
    max_nodes: Annotated[int, Limits(ge=1, le=10_000)] = 200
    max_tokens: Annotated[int, Limits(ge=1, le=100_000)] = 2_000
    max_calls: Annotated[int, Limits(ge=1, le=100)] = 12
    max_seconds: Annotated[float, Limits(gt=0.0, le=3600.0)] = 60.0


@dataclass(frozen=True, slots=True)
class CrossEncoderOptions:
    """Scoring question and section together with a model of its own."""

    enabled: bool = False
    model: Name = "cross-encoder/ms-marco-MiniLM-L-12-v2"


@dataclass(frozen=True, slots=True)
class MultiDocOptions:
    """Sections of several articles; without it, those of the best one. ``min_relevance`` is a cosine."""

    enabled: bool = True
    num_docs: Few | Auto = 5
    max_sections: Few | Auto = 3
    min_relevance: Share | Auto = "auto"


@dataclass(frozen=True, slots=True)
class SectionQualityOptions:
    """Leaving out sections that say too little."""

    enabled: bool = True
    threshold: Share = 0.3


@dataclass(frozen=True, slots=True)
class FewShotOptions:
    """Worked examples in a model's prompt."""

    enabled: bool = True
    num_examples: Few = 3


@dataclass(frozen=True, slots=True)
class SynthesisOptions:
    """Who writes the answer. ``auto`` takes Claude where there is a key or a server, else quotes the pack.

    ``citations``: ``native`` sends search-result blocks, ``markers`` numbers them in the text; ``auto`` is native for
    Claude models. ``own_knowledge`` lets the model answer, labeled so, what the pack does not cover. ``timeout`` is
    in seconds.
    """

    provider: Literal["auto", "claude", "none"] = "auto"
    model: Name = "claude-opus-4-6"
    expansion_model: Name = "claude-haiku-4-5-20251001"
    citations: Literal["auto", "native", "markers"] = "auto"
    max_tokens: Annotated[int, Limits(ge=1, le=32_000)] = 1024
    own_knowledge: bool = False
    timeout: Annotated[float, Limits(gt=0.0, le=3600.0)] = 60.0
    retries: Annotated[int, Limits(ge=0, le=10)] = 2


@dataclass(frozen=True, slots=True)
class BudgetOptions:
    """What one run may spend on a model, in tokens and in US dollars; ``null`` is no limit."""

    max_tokens: Positive | None = None
    max_cost_usd: Annotated[float, Limits(gt=0.0, le=10_000.0)] | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """How a question is retrieved for and answered."""

    name: str = "enhanced"
    description: str = "Hybrid retrieval, graph reranking, five documents by three sections, few-shot, section quality"
    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
    graph_reranker: GraphRerankerOptions = field(default_factory=GraphRerankerOptions)
    graph_walk: GraphWalkOptions = field(default_factory=GraphWalkOptions)
    multi_strategy: MultiStrategyOptions = field(default_factory=MultiStrategyOptions)
    cross_encoder: CrossEncoderOptions = field(default_factory=CrossEncoderOptions)
    multi_doc: MultiDocOptions = field(default_factory=MultiDocOptions)
    section_quality: SectionQualityOptions = field(default_factory=SectionQualityOptions)
    few_shot: FewShotOptions = field(default_factory=FewShotOptions)
    synthesis: SynthesisOptions = field(default_factory=SynthesisOptions)
    budget: BudgetOptions = field(default_factory=BudgetOptions)
