"""The results of parsing as JSON, for processes whose messages are not unpickled."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from wikigr.errors import RecordError
from wikigr.sources.article import BadPart, Names, RawDocument, Record, ScannedSource, Source, SourceItem
from wikigr.validation import validated

# What parsing or scanning a record gives.
Result = list[SourceItem] | Names | RecordError

# Characters of a reason, and of what is added to the name of a record to say where in it.
_MAX_REASON = 2_000
_MAX_WHERE = 200


def parse_record(source: Source, record: Record) -> list[SourceItem] | RecordError:
    """Return what is in one record of ``source``; a bad one gives its error."""
    try:
        return list(source.parse(record))
    except RecordError as error:
        return error


def scan_document(source: ScannedSource, document: RawDocument) -> Names | RecordError:
    """Return the names in one document of ``source``; a bad one gives its error."""
    try:
        return source.scan(document)
    except RecordError as error:
        return error


def encode_result(result: Result) -> Any:
    """Return the result of a record as values of JSON."""
    if isinstance(result, RecordError):
        return {"error": [result.where, result.reason, result.hint]}
    return asdict(result) if isinstance(result, Names) else [asdict(item) for item in result]


def decode_items(value: Any, place: str) -> list[SourceItem] | RecordError:
    """Return the items, or the error, of the record ``place``; raises ``ValueError`` for another form of ``value``."""
    items: list[SourceItem] | RecordError = _checked(list[SourceItem], value, place)
    if isinstance(items, RecordError):
        return items
    # The message of a bad part names its record.
    return [
        BadPart(_within(item.where, place), item.reason[:_MAX_REASON], item.is_lost)
        if isinstance(item, BadPart)
        else item
        for item in items
    ]


def decode_names(value: Any, place: str) -> Names | RecordError:
    """Return the names of the document ``place``, or its error; raises ``ValueError`` for another form of ``value``."""
    names: Names = _checked(Names, value, place)
    return names


def _checked(form: Any, value: Any, place: str) -> Any:
    if isinstance(value, dict) and value.keys() == {"error"}:
        where, reason, hint = validated(tuple[str, str, str | None], json.dumps(value["error"]))
        return RecordError(_within(where, place), reason[:_MAX_REASON], hint=hint)
    return validated(form, json.dumps(value))


def _within(where: str, place: str) -> str:
    """Return where in the record ``place`` something is, or the record if ``where`` does not say that."""
    return where if place in where and len(where) <= len(place) + _MAX_WHERE else place
