"""How much a section has to say about a question (reference/retrieval-enhancements.md, `_score_section_quality`)."""

from __future__ import annotations

from wikigr.text import fold, word_count, words

CONTENT_QUALITY_THRESHOLD = 0.3
"""The lowest score with which a section enters the context of a synthesis (reference/retrieval-enhancements.md)."""

# Function words that say how a question asks, not what it asks about.
STOP_WORDS: frozenset[str] = frozenset(
    """a an the this that these those
    about as at by for from in into of on to with
    i you he she it we they me him her us them my your his its our their
    am is are was were be been being do does did has have had can could may might must shall should will would
    and or but if nor so than not
    what which who whom whose when where why how there""".split()
)

_STUB_WORDS = 20


def score_section_quality(content: str, question: str) -> float:
    """Score a section by its length and by the keywords of ``question`` in it: in [0, 1], 0 below 20 words.

    Length is counted in whitespace-separated words and gives 0.26 to 0.8, full from 200 words; the share of the
    question's keywords that the section holds adds up to 0.2. Keywords are the question's words without
    ``STOP_WORDS``, compared without case, punctuation, Unicode form or a possessive ``'s``; where there are none,
    they add nothing. The formula is that of reference/retrieval-enhancements.md.
    """
    length = word_count(content)
    if length < _STUB_WORDS:
        return 0.0
    keywords = _terms(question) - STOP_WORDS
    overlap_ratio = len(keywords & _terms(content)) / len(keywords) if keywords else 0.0
    length_score = min(0.8, 0.2 + (length / 200) * 0.6)
    keyword_score = min(0.2, overlap_ratio * 0.2)
    return min(1.0, length_score + keyword_score)


def _terms(text: str) -> set[str]:
    return {word.removesuffix("'s") for word in words(fold(text))}
