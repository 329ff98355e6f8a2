"""Answer a comparison: read the date or the number of both things, and choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from wikigr.hops.one_hop import contains
from wikigr.hops.quantities import date_in, number_in
from wikigr.index.candidate import Section
from wikigr.index.lexical import stems
from wikigr.question.comparison import Comparison
from wikigr.reader.passage import Span
from wikigr.retrieval.chain import Chain, Hop
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import words

_Value = float | tuple[int, int, int]


def choose(comparison: Comparison, ask: Callable[[str], Sequence[Hop]]) -> Chain | None:
    """Return the chain that ends with the sentence about the thing that the question asks for.

    ``None`` unless the pack gives a value for both things, in sections that name them, and one value is greater.
    """
    found = [_measure(comparison, name, ask) for name in (comparison.first, comparison.second)]
    valued = [item for item in found if item is not None]
    if len(valued) < 2 or not _differ(valued[0][0], valued[1][0]):
        return None
    # The chosen one comes last: it answers the question.
    (_, other), (_, chosen) = sorted(valued, key=lambda item: item[0], reverse=comparison.lowest)
    return Chain((other, chosen), is_comparison=True, named=_span_of_name(chosen))


def _differ(one: _Value, other: _Value) -> bool:
    """Return whether one value is known to be greater; 1885 is neither before nor after October 1885."""
    if not (isinstance(one, tuple) and isinstance(other, tuple)):
        return one != other
    return next((0 not in pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]), False)


def _measure(comparison: Comparison, name: str, ask: Callable[[str], Sequence[Hop]]) -> tuple[_Value, Hop] | None:
    value_in: Callable[[str], _Value | None] = date_in if comparison.measure == "date" else number_in
    for hop in ask(comparison.ask_about(name)):
        value = value_in(hop.answer)
        if value is not None and _names(hop.section, name):
            return value, replace(hop, name=name)
    return None


def _names(section: Section, name: str) -> bool:
    """Return whether ``section`` contains the whole ``name``: the last word alone may be of another person's name."""
    named = _name_stems(name)
    return any(contains(_name_stems(text), named) for text in (section.title, section.content))


def _name_stems(text: str) -> list[str]:
    return stems(" ".join(word for word in words(text) if word not in FUNCTION_WORDS))


def _span_of_name(hop: Hop) -> Span | None:
    """Return the characters of the name of ``hop`` in its sentence, or ``None`` if they are not there."""
    bare = hop.name.removeprefix("the ").removeprefix("The ")
    place = hop.section.content.find(bare, hop.start, hop.end)
    return replace(hop.span, start=place, end=place + len(bare)) if place >= 0 else None
