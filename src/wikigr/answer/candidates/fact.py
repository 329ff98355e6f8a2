"""Facts of a graph or an infobox: all values of one relation of a subject."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of, span_in
from wikigr.question.masked_question import nesting, restrictions
from wikigr.retrieval.sentences import SentenceScore
from wikigr.sources.facts import FACTS
from wikigr.text import words

# "Edda Klausen — died: 1911-12-20." The last period of "U.S." belongs to the value.
_LINE = re.compile(r"(?P<subject>[^\n]+?) — (?P<relation>[^:\n]+): (?P<value>[^\n]+?)(?:(?<!\.[A-Z])\.)?$")


def find_facts(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the relations of the sections of facts, each with all its lines.

    ``fit`` is the share of the question that the subject and the relation cover. Facts without a rank, negation, number
    or reason that the question has do not answer it.
    """
    asked = words(material.question.text)
    required = set(restrictions(asked))
    if nesting(asked) > 1:
        # No fact states the parent of a parent.
        return
    found = []
    for item in material.evidence:
        if item.section.heading != FACTS:
            continue
        by_relation: dict[tuple[str, str], list[tuple[SentenceScore, re.Match[str]]]] = {}
        for sentence in material.by_section.get(item.section.section_id, ()):
            line = _LINE.match(sentence.text)
            if line is not None:
                by_relation.setdefault((line["subject"], line["relation"]), []).append((sentence, line))
        for (subject, relation), lines in by_relation.items():
            if required.issubset(word for sentence, _ in lines for word in words(sentence.text)):
                named = f"{subject} {relation.replace('_', ' ')}"
                fit = material.question.coverage(set(material.question.stems(named)))
                found.append(_candidate(lines[:30], fit))
    yield from sorted(found, key=lambda candidate: -candidate.fit)[:8]


def _candidate(lines: list[tuple[SentenceScore, re.Match[str]]], fit: float) -> AnswerCandidate:
    quotations = tuple(quotation_of(sentence) for sentence, _ in lines)
    if len(lines) > 1:
        values = [line["value"] for _, line in lines]
        return AnswerCandidate("facts", quotations, lead=f"{len(values)} answers: {'; '.join(values)}.", fit=fit)
    ((sentence, line),) = lines
    return AnswerCandidate("fact", quotations, span=span_in(sentence, *line.span("value")), fit=fit)
