"""What every output says of an answer: the words for its level, the numbers of its citations, its surroundings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer, PossibleAnswer
    from wikigr.answer.citations import Citation
    from wikigr.answer.probability import Level
    from wikigr.llm.usage import Usage

LEVEL_WORDS: Mapping[Level, str] = {
    "sure": "Sure",
    "likely": "Likely",
    "not_sure": "Not sure",
    "not_covered": "Not covered",
}
# The headings of what is shown with a likely answer, instead of an answer that is not sure, instead of a list that the
# pack cannot give, and without any answer.
OTHERS = "Other possible answers"
PERHAPS = "Perhaps one of these:"
CANNOT_LIST = "I cannot list them; here are the sections:"
NEAREST = "Nearest passages"


AGREEMENT: Mapping[bool | None, str] = {
    None: "",
    True: ", the same with and without the model",
    False: ", not the same with and without the model",
}


def level_in_words(level: Level, confidence: float, agrees: bool | None = None) -> str:
    """Return a level with its confidence, and whether a model ``agrees``: ``Likely (0.87)``."""
    return f"{LEVEL_WORDS[level]} ({confidence:.2f}){AGREEMENT[agrees]}"


def rejected_in_words(model: str, *, is_cited: bool) -> str:
    """Return the heading of what ``model`` wrote where that is not the answer."""
    return f"What {model} wrote{'' if is_cited else ', of which nothing is verified'}"


def usage_in_words(usage: Usage) -> str:
    """Return the tokens that a model read and wrote, and their price."""
    if usage.is_unknown:
        return "tokens and cost unknown: the server does not report them"
    tokens_in = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    price = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    return f"{tokens_in:,} tokens in, {usage.output_tokens:,} out, {price}"


def is_doubtful(answer: Answer) -> bool:
    """Return whether passages are shown instead of an answer: it quotes the pack and is not sure."""
    return answer.level == "not_sure" and bool(answer.kind and answer.citations)


def heading_of_passages(answer: Answer) -> str | None:
    """Return what stands above the passages that are shown instead of an answer, or ``None`` if one is stated."""
    if not is_doubtful(answer):
        return None
    return CANNOT_LIST if answer.cannot_list else PERHAPS


def shown_citations(answer: Answer) -> tuple[Citation, ...]:
    """Return the citations of the answer and of its alternatives, numbered on as outputs show them.

    Those of what a model wrote that is not the answer are the last.
    """
    possible = (answer, *answer.alternatives, *filter(None, (answer.rejected,)))
    return tuple(replace(c, n=n) for n, c in enumerate((c for each in possible for c in each.citations), start=1))


def surroundings_of(answer: PossibleAnswer) -> tuple[int, int]:
    """Return the range of the first quotation with its surroundings, in characters of its section.

    What another citation quotes is left out, because it follows anyway.
    """
    first, context = answer.citations[0], answer.context
    if context is None or context.section_id != first.section_id:
        return first.start, first.end
    others = [c for c in answer.citations[1:] if c.section_id == first.section_id]
    is_before = any(c.start < first.start and c.end > context.start for c in others)
    is_after = any(c.start < context.end and c.end > first.end for c in others)
    return first.start if is_before else context.start, first.end if is_after else context.end
