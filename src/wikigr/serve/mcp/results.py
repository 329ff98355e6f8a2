"""What the tools return: the documents of the commands, cut to what fits into the context of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from wikigr.documents.shapes import (
    AnswerDocument,
    ArticleDocument,
    EdgeShape,
    NeighborsDocument,
    NodeShape,
    PathsDocument,
    PossibleAnswerShape,
    SearchDocument,
    SectionDocument,
    StageRankShape,
    WhyDocument,
)

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
    return {
        **_possible_answer(document, pack, MAX_TEXT),
        "level": document["level"],
        "alternatives": [_possible_answer(other, pack, MAX_QUOTE) for other in document["alternatives"]],
        "abstained": document["abstained"],
        "unverified_claims": [cut(claim, MAX_QUOTE) for claim in document["unverified_claims"][:10]],
        "nearest_articles": list(dict.fromkeys(map(_name, nearest)))[:5],
        "model": document["model"],
        "understood": document.get("understood"),
        "warnings": _warnings(document["warnings"]),
    }


def _possible_answer(answer: PossibleAnswerShape, pack: str, max_chars: int) -> AskPossible:
    """Return an answer or an alternative, with at most ``max_chars`` characters of its text."""
    return {
        "answer": cut(answer["answer"], max_chars),
        "short_answer": cut(answer["span"]["text"], MAX_QUOTE) if answer["span"] is not None else None,
        "kind": answer["kind"],
        "confidence": answer["confidence"],
        "citations": [
            {
                "n": citation["n"],
                "pack": citation.get("pack", pack),
                "title": _name(citation["title"]),
                "section_id": citation["section_id"],
                "section": _name(citation["section"]),
                "quote": cut(citation["quote"], MAX_QUOTE),
                "start": citation["start"],
                "end": citation["end"],
                "url": _address(citation["url"]),
            }
            for citation in answer["citations"][:MAX_LISTED]
        ],
        "context": cut(answer["context"]["text"], MAX_QUOTE) if answer["context"] is not None else None,
    }


def search_result(document: SearchDocument, pack: str) -> SearchResult:
    """Return the result of ``search``."""
    return {
        "results": [
            {
                "pack": hit.get("pack", pack),
                "title": _name(hit["title"]),
                "section_id": hit["section_id"],
                "section": _name(hit["section"]),
                "score": hit["score"],
                "text": cut(hit["content"], MAX_SNIPPET),
                "url": _address(hit["url"]),
            }
            for hit in document["results"]
        ],
        "warnings": _warnings(document["warnings"]),
    }


def section_result(document: SectionDocument, pack: str, offset: int) -> SectionResult:
    """Return the result of ``read_section``, with the text from ``offset``."""
    before, after = document["previous"], document["next"]
    text, following = _page(document["content"], offset)
    return {
        "pack": pack,
        "title": _name(document["title"]),
        "section_id": document["section_id"],
        "section": _name(document["section"]),
        "heading_path": [_name(heading) for heading in document["heading_path"][:10]],
        "text": text,
        "total_chars": len(document["content"]),
        "next_offset": following,
        "previous_section_id": before["section_id"] if before is not None else None,
        "next_section_id": after["section_id"] if after is not None else None,
        "links": [_name(link["title"]) for link in document["links"][:MAX_LISTED]],
        "url": _address(document["url"]),
        "warnings": _warnings(document["warnings"]),
    }


def article_result(document: ArticleDocument, pack: str, offset: int) -> ArticleResult:
    """Return the result of ``article``, with the text from ``offset``."""
    text, following = _page(document["content"], offset)
    lists: dict[str, Sequence[Any]] = {name: document[name] for name in ("sections", "links", "backlinks")}  # type: ignore[literal-required]
    return {
        "pack": pack,
        "title": _name(document["title"]),
        "categories": [_name(name) for name in document["categories"][:20]],
        "aliases": [_name(name) for name in document["aliases"][:20]],
        "text": text,
        "total_chars": len(document["content"]),
        "next_offset": following,
        "sections": [
            {"section_id": entry["section_id"], "section": _name(entry["section"])}
            for entry in document["sections"][:MAX_LISTED]
        ],
        "links": [_name(link["title"]) for link in document["links"][:MAX_LISTED]],
        "backlinks": [_name(link["title"]) for link in document["backlinks"][:MAX_LISTED]],
        "truncated": [name for name, entries in lists.items() if len(entries) > MAX_LISTED],
        "pagerank": document["pagerank"],
        "url": _address(document["url"]),
        "warnings": _warnings(document["warnings"]),
    }


def neighbors_result(document: NeighborsDocument) -> NeighborsResult:
    """Return the result of ``neighbors``."""
    return {
        "node": {key: _name(value) for key, value in document["node"].items()},  # type: ignore[typeddict-item, arg-type]
        "edges": [_edge(edge) for edge in document["edges"][:MAX_LISTED]],
        "truncated": document["truncated"] or len(document["edges"]) > MAX_LISTED,
        "warnings": _warnings(document["warnings"]),
    }


def paths_result(document: PathsDocument) -> PathsResult:
    """Return the result of ``paths``."""
    return {
        "paths": [
            {
                "path": cut(path["text"], MAX_QUOTE),
                "section_ids": list(dict.fromkeys(edge["section_id"] for edge in path["edges"] if edge["section_id"])),
            }
            for path in document["paths"]
        ],
        "truncated": document["truncated"],
        "warnings": _warnings(document["warnings"]),
    }


def why_result(document: WhyDocument) -> WhyResult:
    """Return the result of ``why``."""
    return {
        "title": _name(document["title"]),
        "section_id": document["section_id"],
        "outcome": document["outcome"],
        "reason": cut(document["reason"], MAX_QUOTE),
        "dropped_at": document["dropped_at"],
        "stages": document["stages"],
        "warnings": _warnings(document["warnings"]),
    }


def packs_result(document: dict[str, Any]) -> PacksResult:
    """Return the result of ``packs``."""
    usable: list[PackResult] = [
        {
            "pack": row["given_as"],
            "version": row["version"],
            "description": cut(row["description"], MAX_SNIPPET),
            "license": _name(row["license"]),
            "articles": row["counts"].get("articles", 0),
            "sections": row["counts"].get("sections", 0),
        }
        for row in document["packs"]
    ]
    broken: list[PackResult] = [
        {
            "pack": row["given_as"],
            "version": "",
            "description": "",
            "license": "",
            "articles": 0,
            "sections": 0,
            "problem": cut(row["problem"], MAX_SNIPPET),
        }
        for row in document["unusable"]
    ]
    return {"packs": [*usable, *broken]}


def cut(text: str, most: int) -> str:
    """Return ``text``, or its beginning with an ellipsis if it has more than ``most`` characters."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def beginning(text: str, tool: str, argument: str, name: str) -> str:
    """Return ``text``; of a longer one, the first part, with the call of the ``tool`` that reads on."""
    part, following = _page(text, 0)
    if following is None:
        return part
    call = f"{tool} with {argument} {name!r} and offset {following}"
    return f"{part}\n\n[{following:,} of {len(text):,} characters. Read on with the tool {call}.]"


def _page(text: str, offset: int) -> tuple[str, int | None]:
    """Return the part of ``text`` from ``offset``, ended between words if possible, and where the rest begins."""
    part = text[offset : offset + MAX_TEXT]
    if offset + len(part) >= len(text):
        return part, None
    space = part.rfind(" ", MAX_TEXT // 2)
    part = part if space < 0 else part[: space + 1]
    return part, offset + len(part)


def _edge(edge: EdgeShape) -> EdgeResult:
    return {
        "source": _name(edge["source"]["name"] or edge["source"]["key"]),
        "relation": _name(edge["relation"]),
        "target": _name(edge["target"]["name"] or edge["target"]["key"]),
        "section_id": edge["section_id"],
    }


def _name(text: str) -> str:
    return cut(" ".join(text[: 4 * MAX_NAME].split()), MAX_NAME)


def _address(url: str | None) -> str | None:
    """Return an address unless it is too long to be of use: a cut one would lead elsewhere."""
    return url if url is not None and len(url) <= MAX_QUOTE else None


def _warnings(warnings: Sequence[str]) -> list[str]:
    return [cut(warning, MAX_NAME) for warning in warnings[:10]]
