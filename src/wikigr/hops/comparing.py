"""Answer a comparison: read the date or the number of both things, and choose."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from wikigr.hops.reading import is_about
from wikigr.hops.values import date_in, number_in
from wikigr.question.comparison import Comparison
from wikigr.reader.passage import Span
from wikigr.retrieval.chain import Chain, Hop

_Value = float | tuple[int, int, int]


def choose(comparison: Comparison, ask: Callable[[str], Sequence[Hop]]) -> Chain | None:
    """Return the chain that ends with the sentence about the thing that the question asks for.

    ``None`` unless the pack gives a value for both things, in sentences that name them, and the values differ.
    """
    found = [_measure(comparison, name, ask) for name in (comparison.first, comparison.second)]
    valued = [item for item in found if item is not None]
    if len(valued) < 2 or valued[0][0] == valued[1][0]:
        return None
    # The chosen one comes last: it answers the question.
    (_, other), (_, chosen) = sorted(valued, key=lambda item: item[0], reverse=comparison.lowest)
    return Chain((other, chosen))


def _measure(comparison: Comparison, name: str, ask: Callable[[str], Sequence[Hop]]) -> tuple[_Value, Hop] | None:
    value_in: Callable[[str], _Value | None] = date_in if comparison.measure == "date" else number_in
    for hop in ask(comparison.ask_about(name)):
        value = value_in(hop.answer)
        if value is not None and is_about(hop.section, name):
            return value, replace(hop, name=name, span=_span_of_name(hop, name))
    return None


def _span_of_name(hop: Hop, name: str) -> Span:
    """Return the characters of ``name`` in the sentence of ``hop``, or the value with the margin of no short answer.

    What is compared answers the question, and not its date or number.
    """
    bare = name.removeprefix("the ").removeprefix("The ")
    place = hop.section.content.find(bare, hop.start, hop.end)
    if place < 0:
        return replace(hop.span, margin=-math.inf)
    return replace(hop.span, start=place, end=place + len(bare))
