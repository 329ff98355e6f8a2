"""What the tools return: the documents of the commands, cut to what fits into the context of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NotRequired, TypeVar, cast

from typing_extensions import TypedDict

from wikigr.documents.shapes import (
    AnswerDocument,
    ArticleDocument,
    EdgeShape,
    LinkShape,
    NeighborsDocument,
    NodeShape,
    PathsDocument,
    PossibleAnswerShape,
    SearchDocument,
    SectionDocument,
    StageRankShape,
    WhyDocument,
)

_Shape = TypeVar("_Shape")

# Characters of text in one result, about 2,500 tokens of English. A longer text is continued with `offset`.
MAX_TEXT = 10_000
# Characters of a section in the list of a search, and of a quotation.
MAX_SNIPPET = 800
MAX_QUOTE = 1_500
# Characters of a title, a heading, a name or an address.
MAX_NAME = 300
# Entries of a list.
MAX_LISTED = 60


class AskCitation(TypedDict):
    """A quotation; ``quote`` is characters ``start`` to ``end`` of the section."""

    n: int
    pack: str
    title: str
    section_id: str
    section: str
    quote: str
    start: int
    end: int
    url: str | None


class AskPossible(TypedDict):
    """A possible answer with its citations. ``confidence`` is the probability that it is right.

    ``short_answer`` is null if there is none. ``context`` is the first quotation with the sentences around it.
    """

    answer: str
    short_answer: str | None
    kind: str
    confidence: float
    citations: list[AskCitation]
    context: str | None


class AskResult(AskPossible):
    """The answer, and up to two ``alternatives`` from other sections if it is not sure.

    Of ``sure`` answers, nine of ten are right; ``likely`` ones are right more often than not; ``not_sure`` ones may be
    as wrong as their alternatives. ``understood`` is the question with what it referred to, null if it stood on its
    own.
    """

    level: Literal["sure", "likely", "not_sure", "not_covered"]
    alternatives: list[AskPossible]
    abstained: bool
    unverified_claims: list[str]
    nearest_articles: list[str]
    model: str
    understood: str | None
    warnings: list[str]


class SearchHit(TypedDict):
    """A section; ``text`` is its beginning."""

    pack: str
    title: str
    section_id: str
    section: str
    score: float
    text: str
    url: str | None


class SearchResult(TypedDict):
    """The sections found, best first."""

    results: list[SearchHit]
    warnings: list[str]


class SectionResult(TypedDict):
    """A section. If ``next_offset`` is not null, the text continues there."""

    pack: str
    title: str
    section_id: str
    section: str
    heading_path: list[str]
    text: str
    total_chars: int
    next_offset: int | None
    previous_section_id: str | None
    next_section_id: str | None
    links: list[str]
    url: str | None
    warnings: list[str]


class OutlineEntry(TypedDict):
    """A section of an article."""

    section_id: str
    section: str


class ArticleResult(TypedDict):
    """An article. If ``next_offset`` is not null, the text continues there; ``truncated`` lists are incomplete."""

    pack: str
    title: str
    categories: list[str]
    aliases: list[str]
    text: str
    total_chars: int
    next_offset: int | None
    sections: list[OutlineEntry]
    links: list[str]
    backlinks: list[str]
    truncated: list[str]
    pagerank: float | None
    url: str | None
    warnings: list[str]


class EdgeResult(TypedDict):
    """An edge in its stored direction, and the section that states it."""

    source: str
    relation: str
    target: str
    section_id: str | None


class NeighborsResult(TypedDict):
    """The edges of a node."""

    node: NodeShape
    edges: list[EdgeResult]
    truncated: bool
    warnings: list[str]


class PathResult(TypedDict):
    """A path, and the sections that state its edges."""

    path: str
    section_ids: list[str]


class PathsResult(TypedDict):
    """The paths found, the shortest first."""

    paths: list[PathResult]
    truncated: bool
    warnings: list[str]


class WhyResult(TypedDict):
    """What happened to an expected article: ``cited``, ``read``, ``dropped`` or ``not_found``, and why."""

    title: str
    section_id: str | None
    outcome: str
    reason: str
    dropped_at: str | None
    stages: list[StageRankShape]
    warnings: list[str]


class PackResult(TypedDict):
    """A pack; give ``pack`` to other tools to choose it."""

    pack: str
    version: str
    description: str
    license: str
    articles: int
    sections: int
    problem: NotRequired[str]


class PacksResult(TypedDict):
    """The packs of the server."""

    packs: list[PackResult]


def ask_result(document: AnswerDocument, pack: str) -> AskResult:
    """Return the result of ``ask``; ``pack`` is the one of citations that name none."""
    explain = document.get("explain")
    nearest = [candidate["title"] for candidate in explain["candidates"]] if explain and document["abstained"] else []
    return _projection(
        AskResult,
        document,
        **_possible_answer(document, pack, MAX_TEXT),
        alternatives=[_possible_answer(other, pack, MAX_QUOTE) for other in document["alternatives"]],
        nearest_articles=list(dict.fromkeys(map(_name, nearest)))[:5],
        understood=document.get("understood"),
    )


def _possible_answer(answer: PossibleAnswerShape, pack: str, max_chars: int) -> AskPossible:
    """Return an answer or an alternative, with at most ``max_chars`` characters of its text."""
    span, context = answer["span"], answer["context"]
    return _projection(
        AskPossible,
        answer,
        answer=cut(answer["answer"], max_chars),
        short_answer=None if span is None else cut(span["text"], MAX_QUOTE),
        citations=[_projection(AskCitation, {"pack": pack, **cited}) for cited in answer["citations"][:MAX_LISTED]],
        context=None if context is None else cut(context["text"], MAX_QUOTE),
    )


def search_result(document: SearchDocument, pack: str) -> SearchResult:
    """Return the result of ``search``."""
    hits = [
        _projection(SearchHit, {"pack": pack, **hit}, text=cut(hit["content"], MAX_SNIPPET))
        for hit in document["results"]
    ]
    return _projection(SearchResult, document, results=hits)


def section_result(document: SectionDocument, pack: str, offset: int) -> SectionResult:
    """Return the result of ``read_section``, with the text from ``offset``."""
    before, after = document["previous"], document["next"]
    return _projection(
        SectionResult,
        document,
        **_page_of(document, offset),
        pack=pack,
        previous_section_id=before["section_id"] if before is not None else None,
        next_section_id=after["section_id"] if after is not None else None,
    )


def article_result(document: ArticleDocument, pack: str, offset: int) -> ArticleResult:
    """Return the result of ``article``, with the text from ``offset``."""
    lists: dict[str, Sequence[Any]] = {name: document[name] for name in ("sections", "links", "backlinks")}  # type: ignore[literal-required]
    truncated = [name for name, entries in lists.items() if len(entries) > MAX_LISTED]
    return _projection(ArticleResult, document, **_page_of(document, offset), pack=pack, truncated=truncated)


def neighbors_result(document: NeighborsDocument) -> NeighborsResult:
    """Return the result of ``neighbors``."""
    truncated = document["truncated"] or len(document["edges"]) > MAX_LISTED
    return _projection(NeighborsResult, document, truncated=truncated)


def paths_result(document: PathsDocument) -> PathsResult:
    """Return the result of ``paths``."""
    paths = [
        {
            "path": cut(path["text"], MAX_QUOTE),
            "section_ids": list(dict.fromkeys(edge["section_id"] for edge in path["edges"] if edge["section_id"])),
        }
        for path in document["paths"]
    ]
    return _projection(PathsResult, document, paths=paths)


def why_result(document: WhyDocument) -> WhyResult:
    """Return the result of ``why``."""
    return _projection(WhyResult, document)


def packs_result(document: dict[str, Any]) -> PacksResult:
    """Return the result of ``packs``."""
    unknown = {"version": "", "description": "", "license": "", "counts": {}}
    rows = [*document["packs"], *({**unknown, **row} for row in document["unusable"])]
    return {"packs": [_pack(row) for row in rows]}


def _pack(row: dict[str, Any]) -> PackResult:
    found: PackResult = {
        "pack": row["given_as"],
        "version": row["version"],
        "description": cut(row["description"], MAX_SNIPPET),
        "license": _name(row["license"]),
        "articles": row["counts"].get("articles", 0),
        "sections": row["counts"].get("sections", 0),
    }
    return {**found, "problem": cut(row["problem"], MAX_SNIPPET)} if "problem" in row else found


def cut(text: str, most: int) -> str:
    """Return ``text``, or its beginning with an ellipsis if it has more than ``most`` characters."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def beginning(text: str, tool: str, argument: str, name: str) -> str:
    """Return ``text``; of a longer one, the first part, with the call of the ``tool`` that reads on."""
    part, following = _page(text, 0)
    return _with_call(part, following, len(text), tool, argument, name)


def with_rest(found: ArticleResult | SectionResult, tool: str, argument: str, name: str) -> str:
    """Return the text of a result, with the call of the ``tool`` that reads on if there is more."""
    return _with_call(found["text"], found["next_offset"], found["total_chars"], tool, argument, name)


def _with_call(part: str, following: int | None, total: int, tool: str, argument: str, name: str) -> str:
    if following is None:
        return part
    call = f"{tool} with {argument} {name!r} and offset {following}"
    return f"{part}\n\n[{following:,} of {total:,} characters. Read on with the tool {call}.]"


def _page(text: str, offset: int) -> tuple[str, int | None]:
    """Return the part of ``text`` from ``offset``, ended between words if possible, and where the rest begins."""
    part = text[offset : offset + MAX_TEXT]
    if offset + len(part) >= len(text):
        return part, None
    space = part.rfind(" ", MAX_TEXT // 2)
    part = part if space < 0 else part[: space + 1]
    return part, offset + len(part)


def _page_of(document: SectionDocument | ArticleDocument, offset: int) -> dict[str, Any]:
    text, following = _page(document["content"], offset)
    return {"text": text, "total_chars": len(document["content"]), "next_offset": following}


def _projection(shape: type[_Shape], document: Any, **own: Any) -> _Shape:
    """Return the keys of ``shape``: those in ``own``, and the others from ``document``, cut as ``_CUTS`` says."""
    keys = shape.__annotations__
    return cast(_Shape, {key: own[key] if key in own else _CUTS.get(key, _whole)(document[key]) for key in keys})


def _whole(value: object) -> object:
    return value


def _edge(edge: EdgeShape) -> EdgeResult:
    names = {end: _name(edge[end]["name"] or edge[end]["key"]) for end in ("source", "target")}  # type: ignore[literal-required]
    return _projection(EdgeResult, edge, **names)


def _name(text: str) -> str:
    return cut(" ".join(text[: 4 * MAX_NAME].split()), MAX_NAME)


def _address(url: str | None) -> str | None:
    """Return an address unless it is too long to be of use: a cut one would lead elsewhere."""
    return url if url is not None and len(url) <= MAX_QUOTE else None


def _titles(links: Sequence[LinkShape]) -> list[str]:
    return [_name(link["title"]) for link in links[:MAX_LISTED]]


# What fits into the context of a model, by the key of a document.
_CUTS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("title", "section", "relation"), _name),
    **dict.fromkeys(("quote", "reason"), partial(cut, most=MAX_QUOTE)),
    **dict.fromkeys(("links", "backlinks"), _titles),
    **dict.fromkeys(("categories", "aliases"), lambda names: [_name(name) for name in names[:20]]),
    "url": _address,
    "heading_path": lambda headings: [_name(heading) for heading in headings[:10]],
    "sections": lambda entries: [_projection(OutlineEntry, entry) for entry in entries[:MAX_LISTED]],
    "node": lambda node: {key: _name(value) for key, value in node.items()},
    "edges": lambda edges: [_edge(edge) for edge in edges[:MAX_LISTED]],
    "unverified_claims": lambda claims: [cut(claim, MAX_QUOTE) for claim in claims[:10]],
    "warnings": lambda warnings: [cut(warning, MAX_NAME) for warning in warnings[:10]],
}
