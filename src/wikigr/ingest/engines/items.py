"""The results of parsing as JSON, for processes whose messages are not unpickled."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from wikigr.errors import RecordError
from wikigr.ingest.staging import load_article
from wikigr.sources.article import Redirect, Skipped, SourceArticle, SourceItem


def encode_items(items: list[SourceItem] | RecordError) -> Any:
    """Return the result of a record as values of JSON; its text may contain lone surrogates."""
    if isinstance(items, RecordError):
        return {"where": items.where, "reason": items.reason, "hint": items.hint}
    return [[type(item).__name__, asdict(item)] for item in items]


def decode_items(found: Any) -> list[SourceItem] | RecordError:
    """Return what ``encode_items`` got."""
    if isinstance(found, dict):
        return RecordError(found["where"], found["reason"], hint=found["hint"])
    return [_decode_item(kind, fields) for kind, fields in found]


def _decode_item(kind: str, fields: dict[str, Any]) -> SourceItem:
    if kind == SourceArticle.__name__:
        return load_article(fields)
    return Redirect(**fields) if kind == Redirect.__name__ else Skipped(**fields)
