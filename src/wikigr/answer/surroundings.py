"""The surroundings of an answer: the sentences before and after it that belong to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wikigr.answer.candidates.candidate import Quotation
from wikigr.answer.sentences import SentenceScore

# Characters before and after the quotation at most.
_MAX_CHARS = 300
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``text`` is exactly the characters ``start:end`` of the stored section ``section_id``, around a quotation."""

    section_id: str
    text: str
    start: int
    end: int


def surroundings(quotation: Quotation, sentences: Sequence[SentenceScore]) -> Surroundings:
    """Return ``quotation`` with the sentence before and the one after it, where they stand in the same paragraph.

    ``sentences`` are those of its section in the order of the text. Of a list or a table, the neighboring lines count.
    """
    content = quotation.section.content
    start, end = quotation.start, quotation.end
    before = next((s for s in reversed(sentences) if s.end <= start), None)
    after = next((s for s in sentences if s.start >= end), None)
    if before is not None and start - before.start <= _MAX_CHARS and not _BLANK_LINE.search(content, before.end, start):
        start = before.start
    if after is not None and after.end - end <= _MAX_CHARS and not _BLANK_LINE.search(content, end, after.start):
        end = after.end
    return Surroundings(quotation.section.section_id, content[start:end], start, end)
