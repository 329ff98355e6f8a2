"""Remove what a model thinks before it answers from its text, whole or streamed.

Servers that know the format of a model send its thoughts apart. Others leave them in the text: in tags such as <think>,
or without the opening tag, which the prompt already contained (DeepSeek-R1, Qwen3-Thinking).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMES = "think|thinking|thought|thoughts|reasoning"
_OPENING = re.compile(rf"\s*<({_NAMES})>", re.IGNORECASE)
# What may become an opening tag.
_BEGUN = re.compile(r"\s*(?:<[a-z]{0,9})?", re.IGNORECASE)
# Thoughts without an opening tag end with a tag at the end of a line; one within a line is part of an answer.
_CLOSING = re.compile(rf"</(?:{_NAMES})>[^\S\n]*(?:\n|\Z)\s*", re.IGNORECASE)


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
        if self.holds or not self._is_answer() or _BEGUN.fullmatch(self._held):
            return ""
        return self._release()

    def finish(self) -> str:
        """Return the text that was kept back; thoughts that do not end are dropped."""
        if not self._is_answer():
            return ""
        ended = [] if self.found or self._answers else list(_CLOSING.finditer(self._held))
        if ended:
            self.found = self.unopened = True
            self._held = self._held[ended[-1].end() :]
        return self._release()

    def _is_answer(self) -> bool:
        """Drop thoughts in tags from the beginning of the held text, and return whether they have ended."""
        while self._closing or (opening := _OPENING.match(self._held)):
            if not self._closing and opening is not None:
                self.found, self._closing = True, f"</{opening[1]}>"
                self._held = self._held[opening.end() :]
            end = re.search(self._closing, self._held, re.IGNORECASE)
            if end is None:
                # Only the beginning of the tag may be needed again.
                self._held = self._held[-len(self._closing) :]
                return False
            self._held, self._closing = self._held[end.end() :], ""
        return True

    def _release(self) -> str:
        ready = self._held.lstrip() if self.found else self._held
        self._held, self._answers = "", True
        return ready
