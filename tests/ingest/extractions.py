"""Extractions in the format of the tool, for the tests of all extraction modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def graph(entities: Sequence[Sequence[Any]], relations: Sequence[Sequence[str]] = ()) -> dict[str, Any]:
    """Entities are (name, type, alias…) and relations are (subject, relation, object, evidence)."""
    return {
        "entities": [{"name": name, "type": kind, "aliases": list(others)} for name, kind, *others in entities],
        "relations": [
            dict(zip(("subject", "relation", "object", "evidence"), said, strict=True)) for said in relations
        ],
    }
