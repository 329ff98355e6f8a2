"""A pair of a question and its answer: the answer, where the pair's question is like the one asked."""

from __future__ import annotations

from collections.abc import Iterator

from wikigr.answer.candidates.candidate import MAX_CHARS, AnswerCandidate, Material, Quotation
from wikigr.index.candidate import Section

# A longer answer is quoted up to the end of the block before this place.
_QUOTED_CHARS = 700


def find_pairs(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the answers of pairs of an FAQ; ``fit`` is the cosine of their question with the one asked."""
    pairs = [item.section for item in material.evidence if asked_by(item.section)][:6]
    similar = material.similarity([asked_by(section) for section in pairs])
    for section, cosine in zip(pairs, similar, strict=True):
        end = _end_of_answer(section)
        if end:
            yield AnswerCandidate("pair", (Quotation(section, 0, end),), fit=max(0.0, cosine))


def asked_by(section: Section) -> str:
    """Return the question that ``section`` answers, if its heading or its article's title is one, or nothing."""
    names = (section.heading, section.title if section.position == 0 else "")
    return next((name for name in names if name.rstrip().endswith("?")), "")


def _end_of_answer(section: Section) -> int:
    """Return where the quoted part of an answer ends."""
    whole = len(section.content.rstrip())
    if whole <= _QUOTED_CHARS:
        return whole
    ends = [block.end for block in section.blocks]
    end = max((end for end in ends if end <= _QUOTED_CHARS), default=ends[0])
    return end if end <= MAX_CHARS else 0
