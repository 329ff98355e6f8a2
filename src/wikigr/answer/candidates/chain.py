"""What several hops lead to: each asks about the answer of the one before."""

from __future__ import annotations

from collections.abc import Iterator

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of
from wikigr.question.intent import asks_short_answer

_MAX_CHAINS = 3


def find_chains(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the likeliest chains whose sections were read; ``fit`` is their strength. The last hop is quoted first."""
    by_place = {sentence.place: sentence for sentence in material.sentences}
    short = asks_short_answer(material.question)
    for chain in material.chains[:_MAX_CHAINS]:
        if not all(hop.place in by_place for hop in chain.hops):
            continue
        places = dict.fromkeys(hop.place for hop in (chain.last, *chain.hops[:-1]))
        quotations = tuple(quotation_of(by_place[place]) for place in places)
        kind = "chain" if chain.is_clause else "noun_chain"
        span = chain.short_answer if short else None
        yield AnswerCandidate(kind, quotations, span=span, hops=chain.hops, fit=chain.strength)
