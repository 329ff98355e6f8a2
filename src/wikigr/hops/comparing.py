"""Answer a comparison: read the date or the number of both things, and choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from wikigr.hops.reading import is_about
from wikigr.hops.values import date_in, number_in
from wikigr.question.comparison import Comparison
from wikigr.retrieval.chain import Chain, Hop
from wikigr.text import fold

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
        sentence = hop.section.content[hop.start : hop.end]
        place = fold(sentence).find(fold(name.removeprefix("the ").removeprefix("The ")))
        if value is not None and is_about(hop.section, name):
            if place < 0:
                return value, replace(hop, name=name)
            start = hop.start + place
            return value, replace(hop, name=name, span=replace(hop.span, start=start, end=start + len(name)))
    return None
