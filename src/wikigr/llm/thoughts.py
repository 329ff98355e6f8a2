"""Remove what a model thinks before it answers from its text, whole or streamed.

Servers that know the format of a model send its thoughts apart. Others leave them in the text: in tags such as <think>,
or without the opening tag, which the prompt already contained (DeepSeek-R1, Qwen3-Thinking).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning")
_OPENING = re.compile(rf"\s*<({'|'.join(_NAMES)})>", re.IGNORECASE)
# Thoughts without an opening tag end with a tag at the end of a line; one within a line is part of an answer.
_CLOSING = re.compile(rf"</(?:{'|'.join(_NAMES)})>[^\S\n]*(?:\n|\Z)\s*", re.IGNORECASE)
_LONGEST = max(map(len, _NAMES)) + 2


@dataclass(slots=True)
class Thoughts:
    """Returns the text of one reply without thoughts, as its pieces arrive.

    ``holds`` keeps all text back until the end, because a tag that has no opening tag may follow. ``found`` says that
    the model has thought, and ``unopened`` that its thoughts have no opening tag.
    """

    holds: bool = False
    found: bool = False
    unopened: bool = False
    _held: str = ""
    _closing: str = ""
    _answers: bool = False

    def apart(self) -> None:
        """The server sends the thoughts apart, so the text contains none."""
        self.found = True
        self.holds = False

    def feed(self, piece: str) -> str:
        """Return the text to pass on after ``piece``."""
        if self._answers:
            return piece
        self._held += piece
        return "" if self.holds else self._ready()

    def finish(self) -> str:
        """Return the text that was kept back; thoughts that do not end are dropped."""
        ready = self._ready()
        if self._closing:
            return ready
        rest, self._held, self._answers = self._held, "", True
        ended = list(_CLOSING.finditer(rest)) if not self.found else []
        self.found, self.unopened = self.found or bool(ended), bool(ended)
        return ready + (rest[ended[-1].end() :] if ended else rest)

    def _ready(self) -> str:
        """Drop thoughts at the beginning of the held text, and return what follows if nothing more can precede it."""
        while True:
            if not self._closing:
                opening = _OPENING.match(self._held)
                if opening is None:
                    break
                self.found, self._closing = True, f"</{opening[1].casefold()}>"
                self._held = self._held[opening.end() :]
            end = self._held.casefold().find(self._closing)
            if end < 0:
                # Only the beginning of the tag may be needed again.
                self._held = self._held[-len(self._closing) :]
                return ""
            self._held = self._held[end + len(self._closing) :].lstrip()
            self._closing = ""
        begun = self._held.lstrip()
        may_open = not begun or (len(begun) < _LONGEST and any(f"<{n}>".startswith(begun.casefold()) for n in _NAMES))
        if may_open or (self.holds and not self.found):
            return ""
        ready = begun if self.found else self._held
        self._held, self._answers = "", True
        return ready
