"""Training examples made from the structure of documentation, tables, facts and FAQs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path

from training.examples import Example
from training.structure import definitions, facts, faq, howto, life, lists, options, tables
from training.structure.building import Rivals, balanced
from training.structure.passages import Passage, read_articles, read_packages

# About how many examples of each source are kept, if there are so many.
SIZES = {
    options.NAME: 9_000,
    howto.NAME: 5_000,
    definitions.NAME: 3_500,
    life.NAME: 4_500,
    facts.NAME: 3_500,
    tables.NAME: 4_000,
    faq.NAME: 3_000,
    lists.LISTS: 1_500,
    lists.COUNTS: 1_800,
}
# Invented things are no more than a third of a kind.
_INVENTED = {facts.NAME: 1_200, tables.NAME: 300, faq.NAME: 800}


# Of a source; more would give more of the same.
MAX_PASSAGES_OF_SOURCE = 2_000


def capped(passages: list[Passage], limit: int, draw: random.Random) -> list[Passage]:
    """Return at most ``limit`` random passages of each source, in their order."""
    sources: dict[str, list[Passage]] = {}
    for passage in passages:
        sources.setdefault(passage.source, []).append(passage)
    kept = []
    for found in sources.values():
        chosen = set(draw.sample(range(len(found)), min(limit, len(found))))
        kept += [passage for number, passage in enumerate(found) if number in chosen]
    return kept


def make_examples(data: Path, seed: int) -> list[Example]:
    """Return the examples of all kinds, in a random order."""
    return from_passages([*read_packages()], [*read_articles(data)], seed)


def from_passages(manuals: list[Passage], articles: list[Passage], seed: int) -> list[Example]:
    """Return the examples that the passages of ``manuals`` and ``articles`` give, with those about invented things."""
    draw = random.Random(seed)
    manuals = capped(manuals, MAX_PASSAGES_OF_SOURCE, draw)
    rivals = Rivals([*manuals, *articles])
    both = [*manuals, *articles]
    makers: dict[str, Callable[[random.Random], Iterable[Example]]] = {
        options.NAME: lambda draw: options.generate(manuals, rivals, draw),
        howto.NAME: lambda draw: howto.generate(manuals, rivals, draw),
        definitions.NAME: lambda draw: definitions.generate(both, rivals, draw),
        life.NAME: lambda draw: life.generate(articles, rivals, draw),
        facts.NAME: lambda draw: facts.generate(_INVENTED[facts.NAME], draw),
        tables.NAME: lambda draw: [
            *tables.generate(both, draw),
            *facts.generate_tables(_INVENTED[tables.NAME], draw),
        ],
        faq.NAME: lambda draw: [
            *faq.generate(manuals, rivals, draw),
            *faq.generate_invented(_INVENTED[faq.NAME], draw),
        ],
        lists.LISTS: lambda draw: lists.generate_lists(both, rivals, draw),
        lists.COUNTS: lambda draw: lists.generate_counts(both, rivals, draw),
    }
    examples: list[Example] = []
    for name, make in makers.items():
        draw = random.Random(f"{seed} {name}")
        examples += balanced(make(draw), SIZES[name], draw)
    random.Random(seed).shuffle(examples)
    return examples
