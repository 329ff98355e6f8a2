"""Whether an answer is about another identifier than the question: ``2.0.1`` for ``2.1``, C++ for C#."""

from __future__ import annotations

from collections.abc import Sequence

from wikigr.answer.candidates.candidate import AnswerCandidate
from wikigr.index.identifiers import form, identifiers_in, is_numbered, whole


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
