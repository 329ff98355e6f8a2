"""Questions for the facts of graphs and infoboxes, which a pack holds as one line per fact."""

from __future__ import annotations

import random
from collections.abc import Iterator

from training.examples import Example
from training.structure.building import ATTRIBUTE, ENTITY_SWAP, Span, answered, unanswered
from training.structure.invented import Relation, name_of, read_schemas, values_of
from training.structure.passages import Passage
from training.structure.tables import Table, ask_table
from training.structure.wording import choose, upper_first
from wikigr.sources.facts import FACTS

NAME = "facts"

_MIN_FACTS = 3
_GENERAL = (
    "What is the {relation} of {x}?",
    "What is {x}'s {relation}?",
    "What {relation} does {x} have?",
    "{relation} of {x}",
    "{x}: {relation}?",
    "Tell me the {relation} of {x}",
)


def generate(count: int, draw: random.Random) -> Iterator[Example]:
    """Yield questions about ``count`` invented things, half of them for facts that are not stated."""
    schemas = read_schemas()
    for _ in range(count):
        kind = draw.choice(sorted(schemas))
        yield from _ask(kind, schemas[kind], draw)


def generate_tables(count: int, draw: random.Random) -> Iterator[Example]:
    """Yield questions about ``count`` tables of invented things."""
    schemas = read_schemas()
    for _ in range(count):
        kind = draw.choice(sorted(schemas))
        chosen = draw.sample(schemas[kind], draw.randint(2, min(5, len(schemas[kind]))))
        columns = [upper_first(kind), *(upper_first(draw.choice(relation.nouns)) for relation in chosen)]
        names = list(dict.fromkeys(name_of(kind, draw) for _ in range(draw.randint(4, 10))))
        rows = tuple((name, *(", ".join(values_of(relation.value, draw)) for relation in chosen)) for name in names)
        many = {"person": "people", "company": "companies"}.get(kind, f"{kind}s")
        title = draw.choice((upper_first(many), f"List of {many}", f"Our {many}", f"Overview of {many}"))
        passage = Passage("invented", kind, title, "Introduction", "", "")
        questions = {column: relation.questions for column, relation in zip(columns[1:], chosen, strict=True)}
        yield from ask_table(Table(passage, tuple(columns), rows), draw, questions)


def _ask(kind: str, relations: list[Relation], draw: random.Random) -> Iterator[Example]:
    title = name_of(kind, draw)
    stated = draw.sample(relations, draw.randint(_MIN_FACTS, len(relations)))
    if len(stated) == len(relations):
        stated = stated[1:]
    names = {relation: draw.choice(relation.names) for relation in stated}
    text, places = _write(title, kind, {names[relation]: values_of(relation.value, draw) for relation in stated}, draw)
    passage = Passage("invented", title, title, FACTS, "", text)
    for relation in draw.sample(stated, min(2, len(stated))):
        is_noun = names[relation] in relation.nouns
        questions = _GENERAL if is_noun and draw.random() < 0.25 else relation.questions
        question = choose(draw, questions, x=title, relation=names[relation])
        yield answered(NAME, passage, question, places[names[relation]])
    missing = [relation for relation in relations if relation not in stated]
    # A question that begins like one of the facts is the harder one.
    asked = {template.split()[0] for relation in stated for template in relation.questions}
    missing.sort(key=lambda relation: relation.questions[0].split()[0] not in asked)
    relation = missing[0] if draw.random() < 0.6 else draw.choice(missing)
    questions = _GENERAL if draw.random() < 0.2 else relation.questions
    yield unanswered(NAME, ATTRIBUTE, passage, choose(draw, questions, x=title, relation=draw.choice(relation.nouns)))
    if draw.random() < 0.5:
        relation = draw.choice(stated)
        other = name_of(kind, draw)
        if other not in text:
            yield unanswered(NAME, ENTITY_SWAP, passage, choose(draw, relation.questions, x=other))


def _write(
    title: str, kind: str, facts: dict[str, list[str]], draw: random.Random
) -> tuple[str, dict[str, list[Span]]]:
    """Return the text of a section of facts and the places of the values by relation, several if listed one a line."""
    text = ""
    places: dict[str, list[Span]] = {}
    if draw.random() < 0.3:
        text = f"{title} is {'an' if kind[0] in 'aeio' else 'a'} {kind}.\n\n"
    is_plain = draw.random() < 0.3
    for relation in sorted(facts):
        values = facts[relation]
        if len(values) > 1 and draw.random() < 0.5:
            values = [f"{', '.join(values[:-1])} and {values[-1]}" if draw.random() < 0.6 else ", ".join(values)]
        for value in values:
            text += f"{upper_first(relation)}: " if is_plain else f"{title} — {relation}: "
            places.setdefault(relation, []).append((len(text), len(text) + len(value)))
            text += value + ("\n" if is_plain else ".\n")
    return text.rstrip("\n"), places
