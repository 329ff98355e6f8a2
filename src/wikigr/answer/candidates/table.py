"""The table of the kinds of answers (adding one is adding a file and a row), and which of those found do not count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from wikigr.answer.candidates.candidate import AnswerCandidate, Material
from wikigr.answer.candidates.cell import find_cells
from wikigr.answer.candidates.collected import find_collected
from wikigr.answer.candidates.comparison import find_comparisons
from wikigr.answer.candidates.computed import find_compared, find_computed
from wikigr.answer.candidates.dated import of_dates_asked_for
from wikigr.answer.candidates.definition import find_definitions, find_entries
from wikigr.answer.candidates.elapsed import find_elapsed, without_their_dates
from wikigr.answer.candidates.fact import find_facts
from wikigr.answer.candidates.faq_pair import find_pairs
from wikigr.answer.candidates.grid import is_blank
from wikigr.answer.candidates.lists import find_commands, find_lists, find_steps, find_tables, find_tasks
from wikigr.answer.candidates.path import find_chains, find_explored, find_paths
from wikigr.answer.candidates.rows import find_rows
from wikigr.answer.candidates.span import find_spans, find_two_parts, find_yes_no
from wikigr.index.identifiers import form, identifiers_in, is_numbered, whole
from wikigr.question.grammar import MONTHS, WEEKDAYS, is_pronoun, one_of
from wikigr.question.measure import are_sums, asked_attribute, states


def numbered(text: str) -> list[str]:
    """Return the identifiers of a question of which one sign makes another thing."""
    # The names of as many parts are asked for as a person types; a pasted log has more.
    return [said for said in identifiers_in(text) if is_numbered(said)][:8]


def is_about_neighbor(candidate: AnswerCandidate, asked: Sequence[str]) -> bool:
    """Return whether ``candidate`` names none of the identifiers ``asked``, but one of the same form.

    What counts is what it quotes, with the title and the heading, and what its paragraph says before.
    """
    if not asked:
        return False
    said = "\n".join((candidate.text, *(f"{q.section.title}\n{q.section.heading}" for q in candidate.quotations)))
    if any(whole(name).search(said) for name in asked):
        return False
    forms = set(map(form, asked))
    for text in (said, *(q.before for q in candidate.quotations)):
        named = [other for other in identifiers_in(text) if is_numbered(other) and form(other) in forms]
        # "virt03" is no neighbor of "virt03-nightly".
        named = (
            [other for other in named if not any(whole(other).search(name) for name in asked)]
            if text is said
            else named
        )
        if named:
            # Before a quotation, the last one is what it is about.
            return text is said or not any(whole(name).fullmatch(named[-1]) for name in asked)
    return False


@dataclass(frozen=True, slots=True)
class AnswerKind:
    """One way to find answers: ``kinds`` are the names of what ``find`` yields."""

    kinds: tuple[str, ...]
    find: Callable[[Material], Iterator[AnswerCandidate]]


ANSWER_KINDS = (
    AnswerKind(("span",), find_spans),
    AnswerKind(("yes_no",), find_yes_no),
    AnswerKind(("fact", "facts"), find_facts),
    AnswerKind(("definition",), find_definitions),
    AnswerKind(("entry",), find_entries),
    AnswerKind(("list",), find_lists),
    AnswerKind(("table",), find_tables),
    AnswerKind(("rows", "count"), find_rows),
    AnswerKind(("steps",), find_steps),
    AnswerKind(("tasks",), find_tasks),
    AnswerKind(("commands",), find_commands),
    AnswerKind(("cell",), find_cells),
    AnswerKind(("elapsed",), find_elapsed),
    AnswerKind(("collected",), find_collected),
    AnswerKind(("pair",), find_pairs),
    AnswerKind(("computed",), find_computed),
    AnswerKind(("compared",), find_compared),
    AnswerKind(("comparison",), find_comparisons),
    AnswerKind(("two_part",), find_two_parts),
    AnswerKind(("chain", "noun_chain"), find_chains),
    AnswerKind(("path", "other_path"), find_paths),
    AnswerKind(("explored",), find_explored),
)

KINDS: tuple[str, ...] = tuple(dict.fromkeys(kind for row in ANSWER_KINDS for kind in row.kinds))


# Kinds that quote rows.
_OF_ROWS = frozenset(("cell", "comparison", "count", "rows", "table"))
_MAX_TITLE = 3
_TIME = re.compile(
    rf"\b(?:after|before|by|during|from|in|last|next|on|since|this|until)\s+({one_of((*MONTHS, *WEEKDAYS))})\b(?!['’])",
    re.IGNORECASE,
)


def find_candidates(material: Material) -> list[AnswerCandidate]:
    """Return the candidates of all kinds, in the order of the table, without those about another identifier.

    What cannot state the attribute that is asked for is none: a row without any weight does not say how heavy something
    is, and a phone number in a paragraph about somebody else is not that of the one who is named.
    """
    asked, attribute = numbered(material.question.text), asked_attribute(material.question.text)
    # "Dr" does not tell one from others, and "in April" is no name.
    times = set(material.question.stems(" ".join(_TIME.findall(material.question.text))))
    names = frozenset(name for name in material.question.names - times if attribute and len(name) > _MAX_TITLE)
    found = (
        candidate
        for row in ANSWER_KINDS
        for candidate in row.find(material)
        if is_blank(candidate.short)
        or states(attribute, candidate.text)
        or (candidate.kind in _OF_ROWS and are_sums(attribute, candidate.section.heading))
    )
    # A pronoun answers nothing by itself.
    named = (replace(c, span=None) if c.span is not None and is_pronoun(c.short) else c for c in found)
    own = [c for c in named if not is_about_neighbor(c, asked) and _is_about(c, names, material)]
    return of_dates_asked_for(without_their_dates(own), material.question.text)


def _is_about(candidate: AnswerCandidate, names: frozenset[str], material: Material) -> bool:
    """Return whether a quotation, its title and heading, or what its paragraph says before it, have ``names``."""
    for quotation in candidate.quotations if names else ():
        before = "" if candidate.kind in _OF_ROWS else quotation.before
        said = material.place_stems(quotation.section) | set(material.question.stems(f"{before} {quotation.text}"))
        if names <= said:
            return True
    return not names
