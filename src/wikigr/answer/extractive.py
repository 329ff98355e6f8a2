"""An answer without a language model: the best sentences of the best sections, quoted."""

from __future__ import annotations

from collections.abc import Sequence

from wikigr.answer.citations import Citation
from wikigr.answer.sentences import SentenceScore

# Sentences in an answer.
MAX_SENTENCES = 3
# A further sentence must come this near to the best one's score, or it is padding.
SENTENCE_FLOOR = 0.75


def quote(ranked: Sequence[SentenceScore], stating: Sequence[SentenceScore] = ()) -> tuple[Citation, ...]:
    """Return citations of ``stating``, the sentences that state a chain of facts which answers the question.

    Without such a chain they are the best of ``ranked`` (best first): at most three, none far below the first.
    """
    floor = SENTENCE_FLOOR * ranked[0].score if ranked else 0.0
    chosen = list(stating) or [sentence for sentence in ranked[:MAX_SENTENCES] if sentence.score >= floor]
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


def as_text(citations: Sequence[Citation]) -> str:
    """Return the quotations as one text, each with its number."""
    return " ".join(f"{' '.join(c.quote.split())} [{c.n}]" for c in citations)
