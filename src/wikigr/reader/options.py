"""The options of the reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from wikigr.options import Limits, Options, Positive
from wikigr.reader.passage import MAX_ANSWER_TOKENS, WindowOptions

_WindowTokens = Annotated[int, Limits(ge=128, le=512)]
_OverlapTokens = Annotated[int, Limits(ge=0, le=256)]


@dataclass(frozen=True, slots=True)
class ReaderOptions(Options):
    """Finding the short answer in the best sections.

    In a profile file, ``reader: auto`` and ``reader: small`` stand for the section with ``enabled: true``, and
    ``reader: off`` for the one with ``enabled: false``.
    """

    section: ClassVar[str] = "reader"

    enabled: Annotated[bool, "find the short answer with the reader; `reader: off` is short for `false`"] = True
    sections: Annotated[Positive, "sections to read, the best ones first"] = 4
    window: Annotated[_WindowTokens, "tokens of a window, with the question and the title"] = 256
    overlap: Annotated[_OverlapTokens, "tokens of text that two windows of a section share"] = 64
    max_answer_tokens: Annotated[Positive, "tokens of a short answer at most"] = MAX_ANSWER_TOKENS

    def problem(self) -> tuple[tuple[str, ...], str] | None:
        try:
            self.windows()
        except ValueError:
            return ("window", "overlap"), "leave no room for new text"
        return None

    def windows(self) -> WindowOptions:
        """Return the size of windows; raises ``ValueError`` if they leave no room for new text."""
        return WindowOptions(tokens=self.window, overlap=self.overlap)
