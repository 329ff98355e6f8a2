"""Earlier questions as a form carries them from page to page, so that the server keeps no conversation."""

from __future__ import annotations

import json
from collections.abc import Sequence

from wikigr.errors import UsageError
from wikigr.question.follow_up import MAX_TURNS, Turn
from wikigr.text import scrub

# Characters of one turn in a form. A longer one is not carried.
MAX_TURN_CHARS = 1_500


def write_turn(turn: Turn) -> str:
    """Return ``turn`` as the value of a field, or ``""`` if it is too long."""
    value = json.dumps([turn.question, turn.answer, *turn.titles], ensure_ascii=False, separators=(",", ":"))
    return value if len(value) <= MAX_TURN_CHARS else ""


def read_turns(values: Sequence[str]) -> tuple[Turn, ...]:
    """Return the last turns from the values of their fields; raises ``UsageError`` for what no page has written."""
    return tuple(_read(value) for value in values[-MAX_TURNS:])


def _read(value: str) -> Turn:
    try:
        found = json.loads(value) if len(value) <= MAX_TURN_CHARS else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or len(found) < 2 or not all(isinstance(part, str) for part in found):
        raise UsageError("The parameter turn is damaged.", hint="Ask the question again with its subject.")
    question, answer, *titles = map(scrub, found)
    return Turn(question, answer, tuple(titles))
