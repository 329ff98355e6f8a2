"""Facts of a graph or an infobox: all values of one relation of a subject."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of
from wikigr.answer.sentences import SentenceScore
from wikigr.index.lexical import stems
from wikigr.reader.passage import Span
from wikigr.sources.facts import FACTS

# Relations that compete, those that the question names best first.
_MAX_RELATIONS = 8
_MAX_VALUES = 30
# "Edda Klausen — died: 1911-12-20." The last period of "U.S." belongs to the value.
_LINE = re.compile(r"(?P<subject>[^\n]+?) — (?P<relation>[^:\n]+): (?P<value>[^\n]+?)(?:(?<!\.[A-Z])\.)?$")


def find_facts(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the relations of the sections of facts, each with all its lines; ``fit`` is the share of the question that
    the subject and the relation cover.
    """
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
            fit = material.question.coverage(set(stems(f"{subject} {relation.replace('_', ' ')}")))
            found.append(_candidate(lines[:_MAX_VALUES], fit))
    yield from sorted(found, key=lambda candidate: -candidate.fit)[:_MAX_RELATIONS]


def _candidate(lines: list[tuple[SentenceScore, re.Match[str]]], fit: float) -> AnswerCandidate:
    quotations = tuple(quotation_of(sentence) for sentence, _ in lines)
    if len(lines) > 1:
        values = [line["value"] for _, line in lines]
        return AnswerCandidate("facts", quotations, lead=f"{len(values)} answers: {'; '.join(values)}.", fit=fit)
    (sentence, line) = lines[0]
    margin = sentence.span.margin if sentence.span is not None else 0.0
    start, end = line.span("value")
    return AnswerCandidate("fact", quotations, span=Span(sentence.start + start, sentence.start + end, margin), fit=fit)
