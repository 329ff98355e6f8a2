"""What the guard knows of an expression without running it, and which expressions may meet."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wikigr.retrieval.cypher.dialect import TAKES_ARRAY, TAKES_GRAPH, TAKES_ONLY_GRAPH, TYPES
from wikigr.retrieval.cypher.tokens import BlockedQueryError, blocked, shown

MAX_COPIES = 16  # how many stored values one expression may join: s+s, ten times over, is 1,024 copies
MAX_ELEMENTS = 1_000  # of all ranges together
MAX_PATTERN = 200  # characters of a regular expression

_TYPE = re.compile(r"([A-Za-z][A-Za-z0-9_]*)((?:\[[0-9]{0,4}\]){0,2})\Z")
_COUNTED = re.compile(r"\{\s*(\d*)\s*,?\s*(\d*)")


@dataclass(frozen=True)
class Value:
    """What is known of an expression: how many stored values it may join, whether it is a collected list, …"""

    copies: int = 0
    collected: bool = False
    literal: str | int | None = None
    kind: str = ""  # "graph": a node, relationship or path; "array": of a fixed size, as embeddings are; "map"
    untyped: bool = False  # NULL, an empty list, or nothing but such: many functions end the process on one (0.15.3)


ONE = Value(copies=1)
GRAPH = Value(copies=1, kind="graph")


def untyped_value() -> BlockedQueryError:
    """Return the refusal of a value whose type nothing tells."""
    return blocked(
        "a NULL or an empty list stands where its type is not known; write CAST(NULL AS STRING), or leave it out"
    )


def are_whole(values: list[Value]) -> bool:
    """Tell whether all are written out and are numbers from 0 to 2,147,483,647."""
    return all(isinstance(value.literal, int) and 0 <= value.literal < 2**31 for value in values)


def counted_from_one() -> BlockedQueryError:
    """Return the refusal of the place 0."""
    return blocked("there is no place 0: counting starts at 1 in this dialect; substring(x, 1, 3) is the first three")


def not_plain(what: str) -> BlockedQueryError:
    """Return the refusal of what only a plain value can be used for: ``what`` completes "… cannot"."""
    return blocked(f"a node, a relationship, a path, a map or an embedding cannot {what}; name a property")


def check_plain(values: list[Value], what: str) -> None:
    """Raise ``BlockedQueryError`` unless all are plain values, which can be compared, sorted and joined."""
    if any(value.kind for value in values):
        raise not_plain(what)


def check_kinds(name: str, values: list[Value]) -> None:
    """Raise ``BlockedQueryError`` unless the function ``name`` can take such values."""
    first = values[0].kind if values else ""
    if name in TAKES_ONLY_GRAPH and first != "graph":
        raise blocked(f"{name.lower()}() takes a node, a relationship or a path of a MATCH")
    allowed = {"": True, "graph": name in TAKES_GRAPH, "array": name in TAKES_ARRAY, "map": False}
    if not all(allowed[value.kind] for value in values):
        raise not_plain(f"be given to {name.lower()}()")


def check_type(text: str) -> bool:
    """Tell whether a type is an array of a fixed size; raises ``BlockedQueryError`` for one that is not allowed."""
    found = _TYPE.match(text)
    if found is None or found[1].upper() not in TYPES:
        raise blocked(f"a value cannot be cast to {shown(text) or 'that'}")
    return any(character.isdigit() for character in found[2])


def check_pattern(pattern: str | int | None) -> None:
    """Raise ``BlockedQueryError`` unless the pattern is small.

    It is compiled once and read in linear time, but each counted repeat multiplies its size.
    """
    if not isinstance(pattern, str):
        raise blocked("a regular expression must be written out, in quotes")
    size = 1
    for lowest, highest in _COUNTED.findall(pattern):
        size *= max(1, int((highest or lowest or "1")[:6]))
    if len(pattern) > MAX_PATTERN or size > MAX_ELEMENTS:
        raise blocked(
            f"a regular expression is longer than {MAX_PATTERN} characters or repeats more than {MAX_ELEMENTS} times"
        )


def larger_value(one: Value, other: Value) -> Value:
    """Return what is known of a value that is one of the two."""
    return Value(
        copies=max(1, one.copies, other.copies),
        collected=one.collected or other.collected,
        kind=one.kind or other.kind,
    )


def join_values(values: list[Value], *, collected: str | None = None) -> Value:
    """Return what is known of a value made of all of these.

    Raises ``BlockedQueryError`` where it could grow too large; ``collected``, if given, completes "a collected list
    cannot …".
    """
    if collected and any(value.collected for value in values):
        raise blocked(
            f"a list from collect() over any number of rows cannot {collected}; put WITH … LIMIT {MAX_ELEMENTS} before "
            "the collect()"
        )
    copies = sum(value.copies for value in values)
    if copies > MAX_COPIES:
        raise blocked(f"one value would be joined of more than {MAX_COPIES} stored ones")
    if len(values) == 1:
        return values[0]
    collects = any(value.collected for value in values)
    return Value(copies=copies, collected=collects)
