"""Answer both parts of a question with two question words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from wikigr.answer.sentences import SentenceScore
from wikigr.question.answer_type import answer_type
from wikigr.question.question import Question
from wikigr.question.two_parts import two_parts
from wikigr.reader.passage import Span
from wikigr.stop_words import STOP_WORDS
from wikigr.text import words

# A sentence that answers one part answers the other too if that is more likely than not.
_MORE_LIKELY_THAN_NOT = 0.5


@dataclass(frozen=True, slots=True)
class TwoParts:
    """What the reader read for each part: the sentences in the order of how well they answer it, all of them read."""

    first: tuple[SentenceScore, ...]
    second: tuple[SentenceScore, ...]

    @property
    def stating(self) -> tuple[SentenceScore, ...]:
        """The sentence that answers both parts, or one for each.

        The span of the one is what answers both, if these words stand together. Otherwise none has a span, because
        what answers one part is half an answer.
        """
        for best, others in ((self.first[0], self.second), (self.second[0], self.first)):
            same = next((s for s in others if s.place == best.place), None)
            if same is not None and same.score >= _MORE_LIKELY_THAN_NOT:
                return (replace(same, span=_joined(same, best)),)
        return replace(self.first[0], span=None), replace(self.second[0], span=None)


def read_two_parts(question: Question, read: Callable[[Question], Sequence[SentenceScore]]) -> TwoParts | None:
    """Return what ``read`` finds for each part of ``question``, or ``None`` if it has one part or nothing was read."""
    parts = two_parts(question.text)
    if parts is None:
        return None
    first, second = (
        tuple(s for s in read(replace(question, text=part, answer_type=answer_type(part))) if s.span is not None)
        for part in parts
    )
    return TwoParts(first, second) if first and second else None


def _joined(one: SentenceScore, other: SentenceScore) -> Span | None:
    """Return the span from one answer in a sentence to the other, or ``None`` if more than stop words lies between."""
    assert one.span is not None
    assert other.span is not None
    before, after = sorted((one.span, other.span), key=lambda span: (span.start, span.end))
    if not STOP_WORDS.issuperset(words(one.section.content[before.end : after.start])):
        return None
    return Span(before.start, max(before.end, after.end), min(before.margin, after.margin))
