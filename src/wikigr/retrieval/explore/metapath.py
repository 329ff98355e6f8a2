"""Parse metapaths: sequences of relations such as ``director -> born_in -> ~LINKS_TO``."""

from __future__ import annotations

import re
from itertools import islice

from wikigr.errors import UsageError
from wikigr.graph.neighborhood import STRUCTURAL, Neighborhood, Step
from wikigr.suggestions import did_you_mean, nearest

MAX_STEPS = 8
# Stored relations, most frequent first, that are compared with a misspelled name.
_MAX_COMPARED = 5000
_MAX_SUGGESTIONS = 3
_MAX_QUOTED_CHARS = 80

_SEPARATORS = re.compile(r"[\s_\-]+")


def parse_metapath(text: str, neighborhood: Neighborhood) -> tuple[Step, ...]:
    """Return the steps of a metapath.

    A step is ``LINKS_TO``, ``MENTIONS``, ``HAS_ENTITY`` or a relation of the pack, matched exactly or else ignoring
    case, spaces, hyphens and underscores. A leading ``~`` reverses its direction. A step that is spelled exactly as a
    stored relation is that relation, even if it contains an arrow or begins with ``~``. Raises ``UsageError`` for an
    empty step, more than ``MAX_STEPS`` steps, or an unknown relation (with the nearest names as a hint).
    """
    parts = _split_steps(text, neighborhood)
    if len(parts) > MAX_STEPS:
        raise UsageError(f"The metapath has {len(parts)} steps; at most {MAX_STEPS} are allowed.")
    steps = []
    for part in parts:
        if part.startswith("~") and not _is_structural(part) and part in neighborhood.relations:
            steps.append(Step(part))
            continue
        name = part.removeprefix("~").strip()
        if not name:
            raise UsageError(
                f"The metapath {_quote(text)} has an empty step.",
                hint="Write it as: relation -> relation -> ~relation.",
            )
        steps.append(Step(_resolve_relation(name, neighborhood), part.startswith("~")))
    return tuple(steps)


def _split_steps(text: str, neighborhood: Neighborhood) -> list[str]:
    """Split at arrows, but keep a relation whose stored name contains an arrow in one piece."""
    pieces = text.split("->")
    # Read the relations of the pack only if a name may contain an arrow.
    if len(pieces) == 1 or all(_is_structural(piece.strip()) for piece in pieces):
        return [piece.strip() for piece in pieces]
    arrows = {name: name.count("->") for name in neighborhood.relations if "->" in name}
    most = max(arrows.values(), default=0)
    parts = []
    begin = 0
    while begin < len(pieces):
        # Prefer the longest stored name that begins here.
        for end in range(min(begin + most + 1, len(pieces)), begin, -1):
            part = "->".join(pieces[begin:end]).strip()
            if end == begin + 1 or part in arrows or part.removeprefix("~").strip() in arrows:
                break
        parts.append(part)
        begin = end
    return parts


def _is_structural(part: str) -> bool:
    return part.removeprefix("~").strip() in STRUCTURAL


def _resolve_relation(name: str, neighborhood: Neighborhood) -> str:
    """Return the stored name of the relation ``name``."""
    if name in STRUCTURAL:
        return name
    known = neighborhood.relations
    if name in known:
        return name
    wanted = _normalize(name)
    # Most frequent first: among spelling variants, the most used one wins.
    for stored in (*known, *STRUCTURAL):
        if _normalize(stored) == wanted:
            return stored
    plain: dict[str, str] = {}
    for stored in (*islice(known, _MAX_COMPARED), *STRUCTURAL):
        plain.setdefault(_normalize(stored), stored)
    near = [plain[match] for match in nearest(wanted, plain, most=_MAX_SUGGESTIONS)]
    raise UsageError(
        f"The pack has no relation {_quote(name)}.",
        hint=did_you_mean(near, "`wikigr graph schema` lists its relations.", shown=str),
    )


def _normalize(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()


def _quote(text: str) -> str:
    return repr(text if len(text) <= _MAX_QUOTED_CHARS else f"{text[: _MAX_QUOTED_CHARS - 1]}…")
