"""Static properties of expressions, and the rules for combining them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wikigr.retrieval.cypher.dialect import TAKES_ARRAY, TAKES_GRAPH, TAKES_ONLY_GRAPH, TYPES
from wikigr.retrieval.cypher.tokens import BlockedQueryError, blocked, visible

MAX_COPIES = 16  # stored values that one expression may concatenate: ten nested s+s are 1,024 copies
MAX_ELEMENTS = 1_000  # total of all ranges
MAX_PATTERN = 200  # characters in a regular expression

_TYPE = re.compile(r"([A-Za-z][A-Za-z0-9_]*)((?:\[[0-9]{0,4}\]){0,2})\Z")
_COUNTED = re.compile(r"\{\s*(\d*)\s*,?\s*(\d*)")


@dataclass(frozen=True)
class Value:
    """What is known about an expression without running it."""

    copies: int = 0  # stored values that it may concatenate
    collected: bool = False  # a list from collect() over an unlimited number of rows
    literal: str | int | None = None
    kind: str = ""  # "graph": a node, relationship or path; "array": fixed-size, like an embedding; "map"
    untyped: bool = False  # NULL, an empty list, or a list of these: many functions crash on them (0.15.3)


ONE = Value(copies=1)
GRAPH = Value(copies=1, kind="graph")


def untyped_error() -> BlockedQueryError:
    """Return the error for a value of unknown type."""
    return blocked("the type of a NULL or an empty list is unknown; write CAST(NULL AS STRING), or remove it")


def are_integer_literals(values: list[Value]) -> bool:
    """Return whether all values are integer literals from 0 to 2,147,483,647."""
    return all(isinstance(value.literal, int) and 0 <= value.literal < 2**31 for value in values)


def position_zero_error() -> BlockedQueryError:
    """Return the error for position 0."""
    return blocked("positions start at 1 in this dialect, not 0: substring(x, 1, 3) returns the first three characters")


def not_plain_error(what: str) -> BlockedQueryError:
    """Return the error for an operation that needs plain values; ``what`` completes "… cannot"."""
    return blocked(f"a node, a relationship, a path, a map or an embedding cannot {what}; use a property")


def check_plain(values: list[Value], what: str) -> None:
    """Raise ``BlockedQueryError`` unless all values are plain: safe to compare, sort and concatenate."""
    if any(value.kind for value in values):
        raise not_plain_error(what)


def check_kinds(name: str, values: list[Value]) -> None:
    """Raise ``BlockedQueryError`` unless the function ``name`` accepts values of these kinds."""
    first = values[0].kind if values else ""
    if name in TAKES_ONLY_GRAPH and first != "graph":
        raise blocked(f"{name.lower()}() takes a node, a relationship or a path from a MATCH")
    allowed = {"": True, "graph": name in TAKES_GRAPH, "array": name in TAKES_ARRAY, "map": False}
    if not all(allowed[value.kind] for value in values):
        raise not_plain_error(f"be passed to {name.lower()}()")


def check_type(text: str) -> bool:
    """Return whether a type is a fixed-size array; raises ``BlockedQueryError`` for a type that is not allowed."""
    found = _TYPE.match(text)
    if found is None or found[1].upper() not in TYPES:
        raise blocked(f"a value cannot be cast to {visible(text) or 'this type'}")
    return any(character.isdigit() for character in found[2])


def check_pattern(pattern: str | int | None) -> None:
    """Raise ``BlockedQueryError`` for a regular expression that is too large or not a literal.

    The engine compiles it once and matches in linear time, but each counted repetition multiplies its size.
    """
    if not isinstance(pattern, str):
        raise blocked("a regular expression must be a string literal")
    size = 1
    for lowest, highest in _COUNTED.findall(pattern):
        size *= max(1, int((highest or lowest or "1")[:6]))
    if len(pattern) > MAX_PATTERN or size > MAX_ELEMENTS:
        raise blocked(
            f"a regular expression is longer than {MAX_PATTERN} characters or repeats more than {MAX_ELEMENTS} times"
        )


def merge_values(one: Value, other: Value) -> Value:
    """Return the properties of a value that is one of the two."""
    return Value(
        copies=max(1, one.copies, other.copies),
        collected=one.collected or other.collected,
        kind=one.kind or other.kind,
    )


def combine_values(values: list[Value], *, collected: str | None = None) -> Value:
    """Return the properties of a value that combines all of these.

    Raises ``BlockedQueryError`` if it could grow too large. If given, ``collected`` completes the message "a collected
    list cannot …".
    """
    if collected and any(value.collected for value in values):
        raise blocked(
            f"a list from collect() over an unlimited number of rows cannot {collected}; put WITH … LIMIT "
            f"{MAX_ELEMENTS} before the collect()"
        )
    copies = sum(value.copies for value in values)
    if copies > MAX_COPIES:
        raise blocked(f"one value would concatenate more than {MAX_COPIES} stored values")
    if len(values) == 1:
        return values[0]
    collects = any(value.collected for value in values)
    return Value(copies=copies, collected=collects)
