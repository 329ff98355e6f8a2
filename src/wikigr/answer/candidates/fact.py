"""Facts of a graph or an infobox: all values of one relation of a subject."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of, span_in
from wikigr.question.masked_question import mask, nesting, restrictions
from wikigr.question.question import Question
from wikigr.retrieval.sentences import SentenceScore
from wikigr.sources.facts import FACTS, readable_relation
from wikigr.text import words

# "Edda Klausen — died: 1911-12-20." The last period of "U.S." belongs to the value.
_LINE = re.compile(r"(?P<subject>[^\n]+?) — (?P<relation>[^:\n]+): (?P<value>[^\n]+?)(?:(?<!\.[A-Z])\.)?$")


def find_facts(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the relations of the sections of facts, each with all its lines.

    ``fit`` is the share of the question that the subject and the relation cover. Facts without a rank, negation, number
    or reason that the question has do not answer it, and neither do those that leave out another relation of the
    subject that it names.
    """
    asked = words(material.question.text)
    required = set(restrictions(asked))
    if nesting(asked) > 1:
        # No fact states the parent of a parent.
        return
    by_relation: dict[tuple[str, str], list[tuple[SentenceScore, re.Match[str]]]] = {}
    for item in material.evidence:
        if item.section.heading != FACTS:
            continue
        for sentence in material.by_section.get(item.section.section_id, ()):
            line = _LINE.match(sentence.text)
            if line is not None:
                by_relation.setdefault((line["subject"], line["relation"]), []).append((sentence, line))
    stems = {key: frozenset(material.question.stems(readable_relation(key[1]))) for key in by_relation}
    # The words of each subject's relations that the question names.
    named: dict[str, set[str]] = {}
    for (subject, _), own in stems.items():
        named.setdefault(subject, set()).update(own)
    for subject, own_words in named.items():
        own_words &= _relation_words(material.question, subject)
    found = []
    for (subject, relation), lines in by_relation.items():
        said = {word for sentence, _ in lines for word in words(sentence.text)}
        stated = set(material.question.stems(" ".join(sentence.text for sentence, _ in lines)))
        if required <= said and named[subject] <= stated:
            covered = stems[subject, relation] | set(material.question.stems(subject))
            found.append(_candidate(lines[:30], material.question.coverage(covered)))
    yield from sorted(found, key=lambda candidate: -candidate.fit)[:8]


def _relation_words(question: Question, subject: str) -> frozenset[str]:
    """Return the stems of the words with which ``question`` names relations of ``subject``, if it names it."""
    start = question.lowered.find(subject.lower())
    if start < 0:
        return frozenset()
    tokens = mask(question.text, start, start + len(subject)).tokens
    return frozenset(question.stems(" ".join(token.text for token in tokens if token.use == "relation")))


def _candidate(lines: list[tuple[SentenceScore, re.Match[str]]], fit: float) -> AnswerCandidate:
    quotations = tuple(quotation_of(sentence) for sentence, _ in lines)
    if len(lines) > 1:
        values = [line["value"] for _, line in lines]
        return AnswerCandidate("facts", quotations, lead=f"{len(values)} answers: {'; '.join(values)}.", fit=fit)
    ((sentence, line),) = lines
    return AnswerCandidate("fact", quotations, span=span_in(sentence, *line.span("value")), fit=fit)
