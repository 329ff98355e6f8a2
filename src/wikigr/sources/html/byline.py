"""Find who wrote an HTML page and when: in its metadata, its JSON-LD and the header that is not read as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from selectolax.lexbor import LexborNode

from wikigr.sources.bylines import Byline

# Names of <meta> in lower case; those of Open Graph, Dublin Core and Highwire are in common use.
_AUTHORS = ("author", "article:author", "citation_author", "dc.creator", "dcterms.creator")
_PUBLISHED = (
    *("article:published_time", "datepublished", "date", "citation_publication_date", "citation_date", "dc.date"),
    *("dcterms.date", "dcterms.created", "dcterms.issued", "pubdate"),
)
_UPDATED = ("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "last-modified")
_BYLINES = "header [itemprop=author], header [rel=author], header .byline, header .author, header .post-author"
_TIMES = "header time[datetime]"
# Characters of JSON-LD that are parsed, and the depth in which a page's description may be.
_MAX_JSON_CHARS = 200_000
_MAX_JSON_DEPTH = 4


def find_byline(root: LexborNode) -> Byline:
    """Return the authors and dates of a page."""
    metas: dict[str, list[str]] = {}
    for node in root.css("meta[content]"):
        name = node.attributes.get("name") or node.attributes.get("property") or node.attributes.get("itemprop") or ""
        metas.setdefault(name.strip().lower(), []).append(node.attributes.get("content") or "")
    for described in _descriptions(root):
        for name in ("datePublished", "dateModified"):
            metas.setdefault(name.lower(), []).extend(_names(described.get(name)))
        metas.setdefault("author", []).extend(_names(described.get("author")))
    authors = next((metas[name] for name in _AUTHORS if any(metas.get(name, ()))), None)
    if authors is None:
        authors = [node.text(separator=" ") for node in root.css(_BYLINES)][:1]
    published = _first(metas, _PUBLISHED)
    if not published:
        time = root.css_first(_TIMES)
        published = (time.attributes.get("datetime") or "") if time is not None else ""
    return Byline(tuple(authors), published, _first(metas, _UPDATED))


def _first(metas: Mapping[str, list[str]], names: tuple[str, ...]) -> str:
    return next((value for name in names for value in metas.get(name, ()) if value.strip()), "")


def _descriptions(root: LexborNode) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of JSON-LD that have an author or a date."""
    for node in root.css("script[type='application/ld+json']"):
        text = node.text()
        if len(text) > _MAX_JSON_CHARS:
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        yield from _objects(value, 0)


def _objects(value: object, depth: int) -> Iterator[Mapping[str, Any]]:
    if depth > _MAX_JSON_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _objects(item, depth + 1)
    elif isinstance(value, dict):
        if "author" in value or "datePublished" in value:
            yield value
        yield from _objects(value.get("@graph", []), depth + 1)


def _names(value: object) -> list[str]:
    if isinstance(value, list):
        return [name for item in value for name in _names(item)]
    if isinstance(value, dict):
        return _names(value.get("name", ""))
    return [value] if isinstance(value, str) else []
