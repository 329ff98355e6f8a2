"""The options of the reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from wikigr.options import Limits, Options, Positive
from wikigr.reader.passage import MAX_ANSWER_TOKENS, WindowOptions

ReaderUse = Literal["small", "large", "auto"]

_WindowTokens = Annotated[int, Limits(ge=128, le=512)]
_OverlapTokens = Annotated[int, Limits(ge=0, le=256)]


@dataclass(frozen=True, slots=True)
class ReaderOptions(Options):
    """Finding the short answer in the best sections.

    In a profile file, ``reader: small`` (or ``large``, ``auto``) stands for the section with this ``use``, and
    ``reader: off`` for the section with ``enabled: false``.
    """

    section: ClassVar[str] = "reader"

    enabled: Annotated[bool, "find the short answer with the reader"] = True
    use: Annotated[
        ReaderUse,
        "`small` alone, or `large` to read the best sentences again; `auto` is `large` where it is prepared",
    ] = "small"
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
