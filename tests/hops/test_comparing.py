"""Which of two things is chosen by their values, and when neither is."""

from __future__ import annotations

import pytest

from wikigr.hops.comparing import choose
from wikigr.index.candidate import Section
from wikigr.question.comparison import compare
from wikigr.reader.passage import Span
from wikigr.retrieval.chain import Chain, Hop


def chain_for(question: str, ada: str, bea: str) -> Chain | None:
    """Choose between Ada and Bea, for whom one sentence each has the values ``ada`` and ``bea``."""
    comparison = compare(question)
    assert comparison is not None

    def ask(asked: str) -> list[Hop]:
        name, value = ("Ada", ada) if "Ada" in asked else ("Bea", bea)
        text = f"{name}: {value}."
        section = Section(f"{name}#0", name, "Introduction", text, name, 0)
        start = text.index(value)
        return [Hop(asked, value, section, 0, len(text), Span(start, start + len(value), 5.0), True, 0.9)]

    return choose(comparison, ask)


@pytest.mark.parametrize(
    ("ada", "bea", "chosen"),
    [
        ("1885", "1886", "Ada"),
        ("7 October 1885", "6 October 1885", "Bea"),
        ("384 BC", "100 AD", "Ada"),
        # Nothing says which of them is first.
        ("1885", "October 1885", None),
        ("October 1885", "7 October 1885", None),
        ("1885", "1885", None),
        ("1885", "later", None),
    ],
)
def test_the_earlier_date_is_chosen_if_it_is_known(ada: str, bea: str, chosen: str | None) -> None:
    chain = chain_for("Who was born first, Ada or Bea?", ada, bea)
    assert (chain.last.name if chain is not None else None) == chosen
    if chain is not None:
        assert (chain.hops[0].answer, chain.last.answer) == ((bea, ada) if chosen == "Ada" else (ada, bea))
        assert chain.short_answer == Span(0, 3, 5.0)
