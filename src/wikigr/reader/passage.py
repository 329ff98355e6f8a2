"""What the reader reads and returns, and its options: what a question imports before the models are loaded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Literal

from wikigr.options import Limits, Options, Positive

# The names of the readers, in answers and in JSON.
ReaderName = Literal["small", "base"]
SMALL: ReaderName = "small"
BASE: ReaderName = "base"

MAX_ANSWER_TOKENS = 30


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """The size of windows, all in tokens.

    ``tokens`` is the length of a window, and ``overlap`` the text that it shares with the next one. Longer questions
    and title lines are truncated to ``question_tokens`` and ``title_tokens``.
    """

    tokens: int = 256
    overlap: int = 64
    question_tokens: int = 64
    title_tokens: int = 32

    def __post_init__(self) -> None:
        # The special tokens of a window and the colon after the title: five for MPNet, one less for BERT.
        room = self.tokens - self.question_tokens - self.title_tokens - 5
        if min(self.question_tokens, self.title_tokens) < 0 or not 0 <= self.overlap < room:
            raise ValueError(f"A window of {self.tokens} tokens leaves no room for new text after the overlap.")


@dataclass(frozen=True, slots=True)
class Passage:
    """A section to read; ``ranges`` are the characters ``(start, end)`` of the sentences in ``text``, in order.

    With a ``focus``, only the windows are read that hold most of one of these ranges.
    """

    title: str
    heading: str
    text: str
    ranges: tuple[tuple[int, int], ...]
    focus: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start`` to ``end`` of a section's text; ``margin`` is its logit minus that of no answer."""

    start: int
    end: int
    margin: float


DEFAULT_WINDOWS = WindowOptions()


def as_probability(logit: float) -> float:
    """Return ``logit`` as a probability: the same order on a scale of 0 to 1."""
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


@dataclass(frozen=True, slots=True)
class Calibration:
    """The weights of two logistic models, fitted with an adapter on held-out articles (``training/calibrate.py``).

    ``sentence_*`` are those of a sentence, which order sentences: its intercept, the margin of its best span and its
    score without the reader. ``answer_*`` are those of an answer, whose probability is the confidence: its intercept,
    and the features of ``wikigr.retrieval.reading.reading_features``.
    """

    sentence_intercept: float
    sentence_margin: float
    sentence_features: float
    answer_intercept: float
    answer_margin: float
    answer_gap: float
    answer_features: float
    answer_nearest: float

    def sentence_logit(self, margin: float, features: float) -> float:
        """Return the logit of the probability that a sentence answers the question."""
        return self.sentence_intercept + self.sentence_margin * margin + self.sentence_features * features

    def answer_logit(self, margin: float, gap: float, features: float, nearest: float) -> float:
        """Return the logit of the probability that an answer is right."""
        return (
            self.answer_intercept
            + self.answer_margin * margin
            + self.answer_gap * gap
            + self.answer_features * features
            + self.answer_nearest * nearest
        )

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Calibration:
        """Return the weights that ``asdict`` wrote; raises ``ValueError`` if one is missing or not finite."""
        names = [field.name for field in fields(cls)]
        weights = {name: values.get(name) for name in names}
        if any(not isinstance(weight, int | float) or not math.isfinite(weight) for weight in weights.values()):
            raise ValueError(f"the calibration must have a finite number for each of {', '.join(names)}")
        return cls(**{name: float(weight) for name, weight in weights.items() if weight is not None})


# Before anything is fitted, margins alone decide.
UNCALIBRATED = Calibration(0.0, 0.5, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0)


_WindowTokens = Annotated[int, Limits(ge=128, le=512)]
_OverlapTokens = Annotated[int, Limits(ge=0, le=256)]


@dataclass(frozen=True, slots=True)
class ReaderOptions(Options):
    """Finding the short answer in the best sections.

    In a profile file, ``reader: small`` (or ``auto``) stands for the section with ``enabled: true``, ``reader: base``
    for the one with ``use: base`` and eight sections, and ``reader: off`` for the one with ``enabled: false``.
    """

    section: ClassVar[str] = "reader"

    enabled: Annotated[bool, "find the short answer with the reader; `reader: off` is short for `false`"] = True
    use: Annotated[ReaderName, "`small` alone, or `base` to read the best passages again"] = SMALL
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
