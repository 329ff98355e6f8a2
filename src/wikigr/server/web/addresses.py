"""The addresses of the pages. Names are in the query, never in the path, so that no title can be taken for a path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from urllib.parse import quote, urlencode, urlsplit

Value = str | int | Sequence[str] | None
# The parameters by which the page of an article leads back to an answer or to the results of a search.
Back = Mapping[str, str]
NOWHERE: Back = MappingProxyType({})


def address(path: str, parameters: Mapping[str, Value], fragment: str = "") -> str:
    """Return the address of a page of this server; parameters that are empty or ``None`` are left out."""
    kept = {name: value for name, value in parameters.items() if value not in (None, "", ())}
    query = urlencode(kept, doseq=True, quote_via=quote, errors="replace")
    return f"{path}{'?' if query else ''}{query}{'#' if fragment else ''}{fragment}"


def outside_address(url: str | None) -> str | None:
    """Return ``url`` if it is a web address that a page may link to, else ``None``."""
    if url is None:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def section_anchor(section_id: str) -> str:
    """Return the anchor of a section in the page of its article: ``s3`` for ``Title#3``."""
    return f"s{section_id.rpartition('#')[2]}"


def article_address(pack: str, title: str, section_id: str | None = None, back: Back = NOWHERE) -> str:
    """Return the address of an article, or of one of its sections."""
    anchor = "" if section_id is None else section_anchor(section_id)
    return address("/article", {"pack": pack, "title": title, "section": section_id, **back}, anchor)


def quote_address(pack: str, title: str, section_id: str, start: int, end: int, back: Back = NOWHERE) -> str:
    """Return the address of an article at the quotation ``start:end`` of one of its sections."""
    place: dict[str, Value] = {"pack": pack, "title": title, "section": section_id, "start": start, "end": end, **back}
    return address("/article", place, "quote")
