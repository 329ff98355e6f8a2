"""The results of parsing as JSON, for processes whose messages are not unpickled."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from wikigr.errors import RecordError
from wikigr.ingest.staging import load_article
from wikigr.sources.article import Redirect, Skipped, SourceArticle, SourceItem


def encode_items(items: list[SourceItem] | RecordError) -> bytes:
    """Return the result of a record as JSON; every character is ASCII, because text may contain lone surrogates."""
    if isinstance(items, RecordError):
        return json.dumps({"where": items.where, "reason": items.reason, "hint": items.hint}).encode()
    return json.dumps([[type(item).__name__, asdict(item)] for item in items], separators=(",", ":")).encode()


def decode_items(stored: str | bytes) -> list[SourceItem] | RecordError:
    """Return what ``encode_items`` got."""
    found = json.loads(stored)
    if isinstance(found, dict):
        return RecordError(found["where"], found["reason"], hint=found["hint"])
    return [_decode_item(kind, fields) for kind, fields in found]


def _decode_item(kind: str, fields: dict[str, Any]) -> SourceItem:
    if kind == SourceArticle.__name__:
        return load_article(fields)
    return Redirect(**fields) if kind == Redirect.__name__ else Skipped(**fields)
