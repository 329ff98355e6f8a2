"""The types of the JSON documents, from which the server generates its schemas.

Commands that print documents do not import this module at run time, because ``typing_extensions`` would slow them
down. Pydantic needs its ``TypedDict`` on Python 3.11. The parts that explain a result are free objects here;
docs/reference/json.md describes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from wikigr.sources.block import BlockKind


class Document(TypedDict):
    """What most documents have in common."""

    schema_version: int
    warnings: list[str]


class PackShape(TypedDict):
    """What identifies a pack."""

    name: str
    version: str
    digest: str


class OfPacks(TypedDict):
    """The pack of a result; of several ``packs``, that of its first section, ``null`` without any."""

    pack: PackShape | None
    packs: NotRequired[list[PackShape]]


class Stored(TypedDict):
    """The characters ``content[start:end]`` of a stored section; ``pack`` is the name of one of several packs."""

    section_id: str
    start: int
    end: int
    pack: NotRequired[str]


RunRole = Literal["", "around", "quoted", "short", "match", "found", "citation", "unverified"]


class RunShape(TypedDict):
    """A piece of text, such as the surroundings of a quotation, a quotation in surroundings, or a short answer in it.

    ``match`` is a word of the question, ``found`` a quotation that was looked for, ``citation`` the number ``n`` of a
    citation, and ``unverified`` the mark of a claim.
    """

    text: str
    role: RunRole
    n: int | None


class RowShape(TypedDict):
    """A row of a table with a cell for each column; ``marked`` if it is quoted and others are not.

    ``n`` is the number of the citation that ends with it.
    """

    cells: list[list[RunShape]]
    marked: bool
    n: int | None


class BlockShape(TypedDict):
    """A block of text with runs, or a table with rows; ``kind``, ``depth``, ``label`` are those of a block of a pack.

    ``n`` is the number of the citation that quotes this code or whole table.
    """

    kind: BlockKind
    depth: int
    label: str
    n: int | None
    runs: list[RunShape]
    columns: list[str]
    rows: list[RowShape]


class SpanShape(Stored):
    """A short answer, or the surroundings of one."""

    text: str


class CitationShape(Stored):
    """Quotation number ``n`` of an answer."""

    n: int
    title: str
    section: str
    source_id: str
    quote: str
    url: str | None
    blocks: list[BlockShape]


class HopShape(TypedDict):
    """One hop of a chain: a question, its answer, and the number of the citation."""

    question: str
    answer: str
    n: int
    probability: float


class EntityShape(TypedDict):
    """An entity of a cited article."""

    name: str
    type: str
    article: str


class UsageShape(TypedDict):
    """What a model counted; ``cost_usd`` is ``null`` if its price is unknown."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    calls: int
    cost_usd: float | None


class PossibleAnswerShape(TypedDict):
    """What an answer and its alternatives have in common; ``context`` are the surroundings of the first citation.

    ``blocks`` are the answer as it is shown: in its surroundings, with the numbers of its citations.
    """

    answer: str
    kind: str
    confidence: float
    span: SpanShape | None
    citations: list[CitationShape]
    context: SpanShape | None
    blocks: list[BlockShape]


class StatedAnswer(PossibleAnswerShape, OfPacks):
    """What a reader is told: the answer to a question, how sure it is, and where it is from.

    ``understood`` is the question with its words corrected, its dates filled in, or what a follow-up left out; null if
    it was answered as typed. ``heading`` stands above the passages that are shown instead of an answer; null if one is
    stated.
    """

    question: str
    # Receipts of earlier releases lack these two.
    understood: NotRequired[str | None]
    heading: NotRequired[str | None]
    level: Literal["sure", "likely", "not_sure", "not_covered"]
    alternatives: list[PossibleAnswerShape]
    model: str
    agrees: bool | None
    rejected: PossibleAnswerShape | None


class AnswerDocument(StatedAnswer, Document):
    """The answer to a question with verified citations."""

    abstained: bool
    query_type: str
    chain: list[HopShape]
    reader: Literal["small", "base"] | None
    sources: list[str]
    claims: int
    unverified_claims: list[str]
    entities: list[EntityShape]
    facts: list[str]
    cypher_query: str
    profile: str
    degraded: bool
    usage: UsageShape
    timings: Mapping[str, float]
    explain: NotRequired[dict[str, Any]]


class RecordShape(TypedDict):
    """How an answer came about: ``settings`` are options by the key of the profile that they changed.

    ``profile_sha256`` is the digest of the profile without them. ``model_server`` is the address of the model's server
    without credentials, empty for a model file, whose digest is ``model_sha256``; both are null without a model.
    """

    wikigr_version: str
    created: str
    profile_sha256: str
    settings: dict[str, bool | int | None]
    model_server: str | None
    model_sha256: str | None


class ReceiptDocument(AnswerDocument):
    """An answer with what it takes to check it; ``sha256`` is the digest of everything else.

    ``id`` is that of a question of a batch.
    """

    id: NotRequired[str | int]
    receipt: RecordShape
    sha256: str


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
    # Only of a server that was asked for it: the best part of the text, with the words of the question marked.
    snippet: NotRequired[list[RunShape]]


class SearchDocument(OfPacks, Document):
    """The sections that best match a question, best first."""

    question: str
    results: list[ResultShape]
    profile: str
    degraded: bool
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


class SectionDocument(Document):
    """A section with its neighbors and the articles that it names."""

    section_id: str
    title: str
    section: str
    heading_path: list[str]
    source_id: str
    url: str | None
    content: str
    blocks: list[BlockShape]
    previous: OutlineShape | None
    next: OutlineShape | None
    links: list[LinkShape]
    pack: PackShape


class ArticleDocument(Document):
    """An article: its text, the outline of its sections, and the articles that it names and that name it."""

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


class ReadSectionShape(TypedDict):
    """A section to read; ``level`` is 0 for the lead, and ``heading`` empty if it continues the one before it.

    ``anchor`` is its place in the source file or on the web page, such as ``page=7`` of a PDF.
    """

    section_id: str
    heading: str
    level: int
    url: str | None
    anchor: str
    blocks: list[BlockShape]


class HeadingShape(TypedDict):
    """A heading in the outline of an article; ``n`` is the number of its section, from 0."""

    n: int
    heading: str
    level: int


class FactShape(TypedDict):
    """A triple about an article, with the section that states it."""

    subject: str
    relation: str
    object: str
    section_id: str | None


class OriginalShape(TypedDict):
    """The source file that the server hands out; a browser shows a ``pdf`` by itself."""

    name: str
    kind: Literal["pdf", "file"]


class ReadDocument(Document):
    """Some sections of an article: from number ``first`` of ``total``. Others name it, and it names others.

    ``original`` is the file of the section that was asked for, or of the first one.
    """

    title: str
    pack: PackShape
    given_as: str
    source_id: str | None
    aliases: list[str]
    categories: list[str]
    outline: list[HeadingShape]
    first: int
    total: int
    sections: list[ReadSectionShape]
    links: list[LinkShape]
    backlinks: list[LinkShape]
    facts: list[FactShape]
    original: OriginalShape | None


class TitleShape(TypedDict):
    """An article of one of the packs."""

    title: str
    pack: str


class LetterShape(TypedDict):
    """A first letter, and the number of the first title with it."""

    letter: str
    first: int


class TitlesDocument(TypedDict):
    """Some titles: from number ``first`` of ``total``, or those that the ``ending`` of a text may begin."""

    schema_version: int
    titles: list[TitleShape]
    first: int
    total: int
    letters: list[LetterShape]
    ending: str


class ProfileShape(TypedDict):
    """A profile that requests can name; a model ``writes`` its answers."""

    name: str
    description: str
    writes: bool


class ServerDocument(TypedDict):
    """What a client needs to know about a server: its version, its limits and its profiles, the default one first.

    ``originals`` says whether it hands out source files.
    """

    schema_version: int
    version: str
    profiles: list[ProfileShape]
    max_question: int
    originals: bool


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


class NeighborsDocument(Document):
    """The edges of a node."""

    node: NodeShape
    edges: list[EdgeShape]
    truncated: bool


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


class WhyDocument(Document):
    """What every stage did with an expected article."""

    question: str
    title: str
    section_id: str | None
    profile: str
    outcome: str
    reason: str
    dropped_at: str | None
    setting: str | None
    stages: list[dict[str, Any]]
    abstained: bool
    degraded: bool


class PacksDocument(TypedDict):
    """The packs of a server; ``given_as`` of each is the name by which requests choose it."""

    schema_version: int
    packs: list[dict[str, Any]]
    unusable: list[dict[str, str]]
    default: dict[str, Any] | None
    defaults: list[dict[str, Any]]
