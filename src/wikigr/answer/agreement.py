"""The answer that a model wrote and the one that was found without it: which of them is given, and how sure it is."""

from __future__ import annotations

from dataclasses import fields, replace

from wikigr.answer.abstention import NOT_COVERED
from wikigr.answer.answer import ABSTAINED, SYNTHESIS, Answer, PossibleAnswer
from wikigr.answer.citation_stream import Written
from wikigr.answer.probability import LEVELS
from wikigr.answer.stages import Draft, level_of_claims
from wikigr.answer.statement import read_statement

# The word of a model counts as evidence: what it answers is this many times as likely to be right as it was. Chosen,
# not fitted: large enough to lift an answer that both give by a level, too small for a model alone to overturn one
# that is more likely right than not.
_WEIGHT = 2.0


def settle(offline: Answer, written: Written, draft: Draft, model: str) -> Answer:
    """Return the answer to a question for which there is ``offline``, after ``model`` has written.

    What a model wrote is the answer if some of it is verified, unless it contradicts an answer that stays likelier;
    then it is ``rejected``. The confidence falls with the share of its claims that are not verified; if that is half
    of them or more, the answer is not sure.
    """
    base = replace(offline, model=model, claims=written.claims, unverified=written.unverified)
    share = 1 - len(written.unverified) / written.claims if written.claims else 0.0
    text = PossibleAnswer(text=written.text, confidence=0.0, citations=written.citations)
    if not (share or written.declined):
        return replace(base, rejected=text if written.text else None)
    by_model = replace(base, kind="", span=None, context=None, lead="", chain=())
    possible = PossibleAnswer(**{field.name: getattr(offline, field.name) for field in fields(PossibleAnswer)})
    if written.declined:
        return replace(
            by_model,
            text=NOT_COVERED,
            query_type=ABSTAINED,
            confidence=0.0,
            level="not_covered",
            citations=(),
            alternatives=(possible, *offline.alternatives),
        )
    agrees = _agreement(offline, written, draft)
    right = offline.confidence
    # Where the answer without a model is wrong, another one that a model gives is right in half of the cases.
    other = (1 - right) * 0.5
    if agrees is False:
        total = right + _WEIGHT * other + (1 - right - other)
        if right >= _WEIGHT * other:
            level = max(offline.level, level_of_claims(draft, right / total), key=LEVELS.index)
            rejected = replace(text, confidence=_WEIGHT * other / total * share)
            return replace(base, confidence=right / total, level=level, agrees=False, rejected=rejected)
        right = _WEIGHT * other / total
    elif agrees:
        right = _WEIGHT * right / (_WEIGHT * right + 1 - right)
    return replace(
        by_model,
        text=written.text,
        query_type=SYNTHESIS,
        confidence=right * share,
        level=level_of_claims(draft, right * share) if share > 0.5 else "not_sure",
        citations=written.citations,
        span=offline.span if agrees else None,
        alternatives=(possible,) if agrees is False else (),
        agrees=agrees,
    )


def _agreement(offline: Answer, written: Written, draft: Draft) -> bool | None:
    """Return whether the verified claims give the answer ``offline``; without a short answer, it may be unknown."""
    quotes_same = any(
        one.section_id == other.section_id and one.start < other.end and other.start < one.end
        for one in written.citations
        for other in offline.citations
    )
    if offline.span is None:
        return True if quotes_same else None
    language = draft.state.question.language
    short, said = read_statement(offline.span.text, language), read_statement(written.verified, language)
    named = frozenset(token for name in short.names for token in name) | short.words
    if short.is_empty:
        return short.tokens <= said.tokens
    numbers = {number for number, _, _ in short.values}
    if numbers <= said.numbers and all(map(said.has_date, short.dates)) and named <= said.tokens:
        return True
    # From the same sentence, a part of a name or of a date is the same answer.
    return quotes_same and numbers <= said.numbers and bool((named | short.numbers) & (said.tokens | said.numbers))
