"""State facts in the text of an article, one line each, so that they are found, read and cited like sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from wikigr.sources.article import SourceSection, Triple
from wikigr.sources.block import Block, Cell
from wikigr.sources.plain_text import collapse_spaces

FACTS = "Facts"
"""The heading of a section of facts."""
PROPERTIES = "Properties"
"""The heading of a section of named values that the author of a note states."""

# The beginning of a line that identifies it, in characters. Some values are long texts.
MAX_LINE_START = 300

_CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])(?=[a-z])")
# The number of a field: "predecessor2", but not "CO2" or "area_km2".
_NUMBER = re.compile(r"(?<=[^\W\d_]{3})(?=\d+$)")
# Between two values, unless the first one introduces the second ("Songs:") or the second one is a remark ("(1834–54)").
_BETWEEN = re.compile(r"(?<!:)\n(?!\()")


@dataclass(frozen=True, slots=True)
class Infobox:
    """The facts of one infobox, in its order; ``heading_path`` and ``anchor`` are those of the section it stands in."""

    heading_path: tuple[str, ...]
    triples: tuple[Triple, ...]
    anchor: str = ""


def readable_relation(relation: str) -> str:
    """Return a relation in words: ``birth place`` for ``birthPlace`` and ``birth_place``, ``term 2`` for ``term2``."""
    spaced = _NUMBER.sub(" ", relation.replace("_", " "))
    return collapse_spaces(_CAMEL.sub(lambda match: f" {match[1].lower()}", spaced))


def fact_line(subject: str, relation: str, values: Iterable[str]) -> str:
    """Return the line that states a fact, or several values of one field: ``Ada — born: 1815; London.``"""
    value = _BETWEEN.sub("; ", "\n".join(dict.fromkeys(map(collapse_spaces, values)))).replace("\n", " ")
    return f"{subject} — {readable_relation(relation)}: {value}" + ("" if value.endswith((".", "!", "?")) else ".")


def facts_section(path: tuple[str, ...], lines: Iterable[tuple[str, str]], anchor: str = "") -> SourceSection:
    """Return the section of facts under the headings ``path``.

    ``lines`` are those of ``fact_line``, each with its relation; equal ones are stated once.
    """
    text: list[str] = []
    blocks: list[Block] = []
    position = 0
    for line, relation in dict(lines).items():
        name = readable_relation(relation)
        end = position + len(line)
        value = Cell(0, position + line.index(f" — {name}: ") + len(name) + 5, end - line.endswith("."))
        blocks.append(Block("property", position, end, label=name, rows=((value,),)))
        text.append(line)
        position = end + 1
    return SourceSection((*path, FACTS), "\n".join(text), anchor=anchor, blocks=tuple(blocks))


def add_facts(
    sections: Sequence[SourceSection], infoboxes: Iterable[Infobox]
) -> tuple[tuple[SourceSection, ...], tuple[Triple, ...]]:
    """Return ``sections`` with the facts of ``infoboxes``, and all facts in the order of the text, with their lines.

    The facts of infoboxes in the lead are the last section, so that the lead remains the first one and the others keep
    their places. An infobox under a heading describes the subject of that heading, such as one of several versions of a
    song: its facts follow the text of that heading, and their lines name it: ``Cry, Ray's version — label: Okeh.``
    Consecutive values of a field share a line.
    """
    by_path: dict[tuple[str, ...], list[tuple[str, Triple]]] = {}
    # A heading without text of its own has no section, but an infobox below it knows its anchor.
    anchors = {section.heading_path: section.anchor for section in reversed(sections) if section.heading_path}
    # The headings that are still in the text.
    paths = {section.heading_path for section in sections}
    kept = {(), *(path[:length] for path in paths for length in range(1, len(path) + 1))}
    for box in infoboxes:
        if box.triples:
            path = box.heading_path
            while path not in kept:
                path = path[:-1]
            by_path.setdefault(path, []).extend(_with_lines(box.triples, path))
            if path == box.heading_path:
                anchors.setdefault(path, box.anchor)
    stated: list[SourceSection] = []
    triples: list[Triple] = []

    def state(path: tuple[str, ...]) -> None:
        facts = by_path.pop(path, [])
        if facts:
            lines = ((line, triple.relation) for line, triple in facts)
            stated.append(facts_section(path, lines, anchors.get(path, "")))
            triples.extend(triple for _, triple in facts)

    for section in sections:
        path = section.heading_path
        # A heading without text of its own precedes the headings below it.
        for length in range(1, len(path)):
            state(path[:length])
        stated.append(section)
        if path:
            state(path)
    state(())
    return tuple(stated), tuple(triples)


def _with_lines(triples: Iterable[Triple], path: tuple[str, ...]) -> list[tuple[str, Triple]]:
    stated: list[tuple[str, Triple]] = []
    for relation, group in groupby(triples, key=lambda triple: triple.relation):
        values = list(group)
        line = fact_line(", ".join((values[0].subject, *path[-1:])), relation, (triple.object for triple in values))
        stated.extend((line, replace(triple, line=line[:MAX_LINE_START])) for triple in values)
    return stated
