"""Hallucination: the share of an answer's sentences that the cited sections do not support."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence, Set

from wikigr.evaluation.metrics.answered import AnsweredQuestion
from wikigr.segmentation import sentence_spans
from wikigr.stop_words import STOP_WORDS
from wikigr.text import fold, words

# One cited section must contain more than this share of a sentence's content words.
MIN_SUPPORT = 0.5

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def measure_hallucination(answered: AnsweredQuestion) -> float:
    """Return ``hallucination_rate`` of the answer; NaN if the pack abstained."""
    if answered.answer.abstained:
        return math.nan
    stored = answered.stored
    cited = {c.section_id: stored[c.section_id] for c in answered.answer.citations if c.section_id in stored}
    return hallucination_rate(
        [answered.text[start:end] for start, end in sentence_spans(answered.text)],
        [f"{section.title}\n{section.heading}\n{section.content}" for section in cited.values()],
    )


def hallucination_rate(sentences: Sequence[str], cited: Sequence[str]) -> float:
    """Return the share of ``sentences`` that no ``cited`` text supports, in [0, 1]; NaN without content words.

    A text supports a sentence if it contains more than ``MIN_SUPPORT`` of the sentence's distinct content words (words
    not in ``STOP_WORDS``) and all words with a digit, so that a wrong year is always unsupported. Several texts are not
    combined. Case, Unicode form, possessives and thousands separators make no difference. Sentences without content
    words make no claim and are not counted.

    The measure compares words and not meanings: a paraphrase may count as unsupported, and a false sentence made of the
    section's own words does not.
    """
    texts = [_content_words(text) for text in cited]
    claims = [claim for sentence in sentences if (claim := _content_words(sentence))]
    if not claims:
        return math.nan
    return sum(not any(_supports(text, claim) for text in texts) for claim in claims) / len(claims)


def _supports(text: Set[str], claim: Set[str]) -> bool:
    figures = {word for word in claim if any(character.isdigit() for character in word)}
    return figures <= text and len(claim & text) > MIN_SUPPORT * len(claim)


def _content_words(text: str) -> frozenset[str]:
    joined = _THOUSANDS.sub("", fold(text))
    return frozenset(word.removesuffix("'s") for word in words(joined)) - STOP_WORDS
