"""An answer without a language model: the best sentences of the best sections, quoted."""

from __future__ import annotations

from collections.abc import Sequence

from wikigr.answer.citations import Citation
from wikigr.answer.sentences import SentenceScore
from wikigr.text import words

# Sentences in an answer.
MAX_SENTENCES = 3
# A further sentence must come this near to the best one's score, or it is padding.
SENTENCE_FLOOR = 0.75
# A sentence of which so much was quoted already adds nothing: a picture's caption, the same lead in two articles.
_SAME = 0.7
# The least share of the question's words, and the least number of words, with which a fragment follows a sentence.
_TELLING = 0.2
_MIN_WORDS = 5


def quote(ranked: Sequence[SentenceScore], stating: Sequence[SentenceScore] = ()) -> tuple[Citation, ...]:
    """Return citations of ``stating``, the sentences that state a chain of facts which answers the question.

    Without such a chain they are the best of ``ranked`` (best first): at most three, none far below the first, none
    that says what one before it says, and after a sentence no table row or other fragment that tells little.
    """
    chosen = list(stating) or _best(ranked)
    return tuple(
        Citation(
            n=n,
            title=s.section.title,
            section_id=s.section.section_id,
            heading=s.section.heading,
            source_id=s.section.source_id,
            quote=s.text,
            start=s.start,
            end=s.end,
        )
        for n, s in enumerate(chosen, start=1)
    )


def _best(ranked: Sequence[SentenceScore]) -> list[SentenceScore]:
    chosen: list[SentenceScore] = []
    said: list[str] = []
    for sentence in ranked:
        if len(chosen) == MAX_SENTENCES or sentence.score < SENTENCE_FLOOR * ranked[0].score:
            break
        if chosen and chosen[0].is_prose and not (sentence.is_prose or _is_telling(sentence)):
            continue
        text = f" {' '.join(words(sentence.text))} "
        if not any(_says_again(text, other) for other in said):
            chosen.append(sentence)
            said.append(text)
    return chosen


def _is_telling(fragment: SentenceScore) -> bool:
    """Tell whether a table row or the like speaks of what is asked, and is more than a heading."""
    if fragment.of_words < _TELLING or fragment.text.endswith(":"):
        return False
    # "Capital: Zedtown"
    return ":" in fragment.text or len(words(fragment.text)) >= _MIN_WORDS


def _says_again(text: str, before: str) -> bool:
    """Tell whether one of two texts, each as words between spaces, holds the other and little else."""
    shorter, longer = sorted((text, before), key=len)
    return shorter in longer and (text is shorter or len(shorter) >= _SAME * len(longer))


def as_text(citations: Sequence[Citation]) -> str:
    """Return the quotations as one text, each with its number."""
    return " ".join(f"{' '.join(c.quote.split())} [{c.n}]" for c in citations)
