"""The types of the JSON documents, from which the server generates its schemas.

No command imports this module at run time, because ``typing_extensions`` would slow it down. Pydantic needs its
``TypedDict`` on Python 3.11.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict


class PackShape(TypedDict):
    """What identifies a pack."""

    name: str
    version: str
    digest: str


class SpanShape(TypedDict):
    """A short answer, or the surroundings of one: ``content[start:end] == text`` in the stored section."""

    text: str
    section_id: str
    start: int
    end: int
    pack: NotRequired[str]


class HopShape(TypedDict):
    """One hop of a chain: a question, its answer, and the number of the citation."""

    question: str
    answer: str
    n: int
    probability: float


class CitationShape(TypedDict):
    """A quotation: ``content[start:end] == quote`` in the stored section."""

    n: int
    title: str
    section_id: str
    section: str
    source_id: str
    quote: str
    start: int
    end: int
    url: str | None
    pack: NotRequired[str]


class EntityShape(TypedDict):
    """An entity of a cited article."""

    name: str
    type: str
    article: str


class StageShape(TypedDict):
    """What a stage did; ``dropped`` gives the reason by section id, among the listed candidates."""

    stage: str
    ms: float
    scored: int
    dropped: dict[str, str]
    dropped_in_all: int
    notes: dict[str, Any]


class CandidateShape(TypedDict):
    """A ranked section; one that was not read has a ``reason`` and no content."""

    rank: int
    title: str
    section_id: str
    section: str | None
    source_id: str | None
    score: float
    scores: dict[str, float]
    content: str | None
    url: str | None
    reason: str | None
    pack: NotRequired[str]


class SentenceShape(TypedDict):
    """A sentence that was considered for the answer."""

    section_id: str
    start: int
    end: int
    text: str
    score: float
    parts: dict[str, float]
    margin: float | None
    cited: bool
    pack: NotRequired[str]


class ExplainShape(TypedDict):
    """What every stage did, the first of the ranked sections and the sentences, and how many there are in all."""

    stages: list[StageShape]
    candidates: list[CandidateShape]
    candidates_in_all: int
    sentences: list[SentenceShape]
    sentences_in_all: int


class UsageShape(TypedDict):
    """What a model counted; ``cost_usd`` is ``null`` if its price is unknown."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    calls: int
    cost_usd: float | None


class PossibleAnswerShape(TypedDict):
    """What an answer and its alternatives have in common; ``context`` are the surroundings of the first citation."""

    answer: str
    kind: str
    confidence: float
    span: SpanShape | None
    citations: list[CitationShape]
    context: SpanShape | None


class StatedAnswer(PossibleAnswerShape):
    """What a reader is told: the answer to a question, how sure it is, and where it is from."""

    question: str
    level: Literal["sure", "likely", "not_sure", "not_covered"]
    alternatives: list[PossibleAnswerShape]
    pack: PackShape | None
    packs: NotRequired[list[PackShape]]
    model: str


class AnswerDocument(StatedAnswer):
    """The answer to a question with verified citations."""

    schema_version: int
    abstained: bool
    query_type: str
    chain: list[HopShape]
    reader: Literal["small"] | None
    sources: list[str]
    unverified_claims: list[str]
    entities: list[EntityShape]
    facts: list[str]
    cypher_query: str
    profile: str
    degraded: bool
    warnings: list[str]
    usage: UsageShape
    timings: Mapping[str, float]
    explain: NotRequired[ExplainShape]
    # Only of a server: a follow-up question as it was understood, null for a question that stands on its own.
    understood: NotRequired[str | None]


class ResultShape(TypedDict):
    """A section that a search found."""

    rank: int
    title: str
    section_id: str
    section: str
    source_id: str
    score: float
    scores: dict[str, float]
    content: str
    url: str | None
    pack: NotRequired[str]


class SearchDocument(TypedDict):
    """The sections that best match a question, best first."""

    schema_version: int
    question: str
    results: list[ResultShape]
    profile: str
    degraded: bool
    warnings: list[str]
    pack: PackShape | None
    packs: NotRequired[list[PackShape]]
    timings: Mapping[str, float]


class OutlineShape(TypedDict):
    """A section in the outline of its article."""

    section_id: str
    section: str
    heading_path: list[str]
    word_count: int


class LinkShape(TypedDict):
    """Another article: ``link`` by the author, or a ``mention``."""

    title: str
    kind: str


class SectionDocument(TypedDict):
    """A section with its neighbors and the articles that it names."""

    schema_version: int
    section_id: str
    title: str
    section: str
    heading_path: list[str]
    source_id: str
    url: str | None
    content: str
    previous: OutlineShape | None
    next: OutlineShape | None
    links: list[LinkShape]
    pack: PackShape
    warnings: list[str]


class ArticleDocument(TypedDict):
    """An article: its text, the outline of its sections, and the articles that it names and that name it."""

    schema_version: int
    title: str
    url: str | None
    aliases: list[str]
    categories: list[str]
    lead: str
    sections: list[OutlineShape]
    content: str
    links: list[LinkShape]
    backlinks: list[LinkShape]
    pagerank: float | None
    pack: PackShape
    warnings: list[str]


class NodeShape(TypedDict):
    """An article, whose key is its title, or an entity, whose key is its id."""

    kind: str
    key: str
    name: str


class EdgeShape(TypedDict):
    """An edge in its stored direction, with the section that states it."""

    source: NodeShape
    relation: str
    target: NodeShape
    section_id: str | None


class NeighborsDocument(TypedDict):
    """The edges of a node."""

    schema_version: int
    node: NodeShape
    edges: list[EdgeShape]
    truncated: bool
    warnings: list[str]


class PathShape(TypedDict):
    """A path: one node more than edges."""

    text: str
    nodes: list[NodeShape]
    edges: list[EdgeShape]


# "from" is a keyword.
PathsDocument = TypedDict(
    "PathsDocument",
    {
        "schema_version": int,
        "from": NodeShape,
        "to": NodeShape | None,
        "metapath": str | None,
        "paths": list[PathShape],
        "truncated": bool,
        "warnings": list[str],
    },
)


class StageRankShape(TypedDict):
    """The rank of the expected article at a stage, or the reason why it is not there."""

    stage: str
    rank: int | None
    article_rank: int | None
    of: int
    section_id: str | None
    score: float | None
    reason: str | None


class WhyDocument(TypedDict):
    """What every stage did with an expected article."""

    schema_version: int
    question: str
    title: str
    section_id: str | None
    profile: str
    outcome: str
    reason: str
    dropped_at: str | None
    setting: str | None
    stages: list[StageRankShape]
    abstained: bool
    degraded: bool
    warnings: list[str]


class ListedShape(TypedDict):
    """A pack in a list; ``given_as`` is the name by which requests choose it."""

    schema_version: int
    path: NotRequired[str]
    name: str
    version: str
    description: str
    license: str
    created: str
    source: dict[str, Any]
    counts: dict[str, int]
    encoder: dict[str, Any]
    digest: str
    installed_as: str | None
    given_as: str
    size: int
    default: bool


class UnusableShape(TypedDict):
    """A pack that cannot be used, and why."""

    given_as: str
    path: NotRequired[str]
    problem: str


class PacksDocument(TypedDict):
    """The packs of a server."""

    schema_version: int
    packs: list[ListedShape]
    unusable: list[UnusableShape]
    default: dict[str, Any] | None
    defaults: list[dict[str, Any]]
