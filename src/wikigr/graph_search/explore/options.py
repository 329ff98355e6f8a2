"""The options of the search of the graph, apart from the search, which most questions need not import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from wikigr.options import Limits, Options


@dataclass(frozen=True, slots=True)
class MultiStrategyOptions(Options):
    """Searching the graph for the question: links, triplets, paths and Cypher.

    ``max_calls`` and ``max_seconds`` limit the planning for one question, and ``max_tokens`` the evidence that is kept.
    """

    section: ClassVar[str] = "multi_strategy"

    enabled: Annotated[bool, "search the graph for the question: links, triplets, paths, Cypher"] = False
    planner: Annotated[
        Literal["auto", "rule", "claude"],
        "what plans: a model (`claude`), fixed rules (`rule`), or a model if one is configured (`auto`)",
    ] = "auto"
    iterations: Annotated[int, Limits(ge=1, le=10), "maximum rounds of planning and searching"] = 2
    max_num_relations: Annotated[int, Limits(ge=1, le=50), "relations to follow from an entity"] = 5
    max_num_entities: Annotated[int, Limits(ge=1, le=50), "entities to explore in an iteration"] = 5
    max_num_iterations: Annotated[int, Limits(ge=1, le=10), "hops of a triplet search"] = 3
    max_num_triplets: Annotated[int, Limits(ge=1, le=1000), "triplets to keep"] = 60
    max_nodes: Annotated[int, Limits(ge=1, le=10_000), "nodes to visit"] = 200
    max_tokens: Annotated[int, Limits(ge=1, le=100_000), "maximum graph evidence for the answer, in tokens"] = 2_000
    max_calls: Annotated[int, Limits(ge=1, le=100), "maximum model calls to plan one question"] = 12
    max_seconds: Annotated[float, Limits(gt=0.0, le=3600.0), "maximum time to plan one question, in seconds"] = 60.0
