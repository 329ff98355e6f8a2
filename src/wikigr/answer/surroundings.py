"""The surroundings of an answer: the sentences before and after it that belong to it."""

from __future__ import annotations

from collections.abc import Sequence

from wikigr.answer.candidates.candidate import Quotation
from wikigr.answer.citations import StoredText
from wikigr.answer.sentences import SentenceScore

# Characters before and after the quotation at most.
_MAX_CHARS = 300
_NEW_LINE = "\n"


def surroundings(quotation: Quotation, sentences: Sequence[SentenceScore]) -> StoredText:
    """Return ``quotation`` with the sentence before and the one after it, where they stand on the same line.

    ``sentences`` are those of its section in the order of the text. The items of a list, the rows of a table and facts
    stand on lines of their own.
    """
    content = quotation.section.content
    start, end = quotation.start, quotation.end
    before = next((s for s in reversed(sentences) if s.end <= start), None)
    after = next((s for s in sentences if s.start >= end), None)
    if before is not None and start - before.start <= _MAX_CHARS and _NEW_LINE not in content[before.end : start]:
        start = before.start
    if after is not None and after.end - end <= _MAX_CHARS and _NEW_LINE not in content[end : after.start]:
        end = after.end
    return StoredText(content[start:end], quotation.section.section_id, start, end)
