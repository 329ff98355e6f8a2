"""Answers in several steps: the facts along a path in the graph, or hops that ask about one another's answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, Quotation, quotation_of
from wikigr.graph.neighborhood import Edge
from wikigr.index.candidate import Section
from wikigr.question.intent import asks_short_answer
from wikigr.reader.passage import Span
from wikigr.retrieval.chain import PathAnswers, StatedFact
from wikigr.sources.facts import readable_relation
from wikigr.text import fold


def find_paths(material: Material) -> Iterator[AnswerCandidate]:
    """Yield all answers of each relation path that was found; an answer whose facts no section states is left out."""
    sections = {item.section.section_id: item.section for item in material.evidence}
    for number, answers in enumerate(material.state.paths):
        candidate = _candidate("other_path" if number else "path", answers, sections)
        if candidate is not None:
            yield candidate


def _candidate(kind: str, answers: PathAnswers, sections: Mapping[str, Section]) -> AnswerCandidate | None:
    quotations: dict[StatedFact, Quotation] = {}
    names = []
    for name, chain in zip(answers.names, answers.chains, strict=True):
        stated = {fact: _find(fact, sections) for fact in chain if fact not in quotations}
        if all(quotation is not None for quotation in stated.values()):
            quotations.update((fact, quotation) for fact, quotation in stated.items() if quotation is not None)
            names.append(name)
    if not names:
        return None
    lines = tuple(dict.fromkeys(quotations.values()))
    fit = answers.confidence
    if answers.total > 1:
        total = f"{'more than ' if answers.is_cut else ''}{answers.total:,}"
        of = f"{len(names)} of " if answers.is_cut or len(names) < answers.total else ""
        return AnswerCandidate(kind, lines, lead=f"{of}{total} answers: {'; '.join(names)}.", fit=fit)
    # The facts of one answer are quoted in the order of the path, so the last one names it.
    return AnswerCandidate(kind, (lines[-1], *lines[:-1]), span=_span(names[0], lines[-1]), fit=fit)


def find_explored(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the facts that a search of the graph found to lead to the answer."""
    exploration = material.state.exploration
    stating = sentences_stating(exploration.chain, material) if exploration is not None else []
    if stating:
        yield AnswerCandidate("explored", tuple(stating), fit=1.0)


def _span(name: str, line: Quotation) -> Span | None:
    """Return the place of ``name`` in the line: at its beginning, or else where it occurs last."""
    begin = 0 if line.text.startswith(f"{name} — ") else line.text.rfind(name)
    return Span(line.start + begin, line.start + begin + len(name), 0.0) if begin >= 0 else None


def _find(fact: StatedFact, sections: Mapping[str, Section]) -> Quotation | None:
    """Return the line of its section that states ``fact``, or ``None``."""
    section = sections.get(fact.section_id)
    if section is None:
        return None
    opening = fold(f"{fact.subject} — {readable_relation(fact.relation)}:")
    # A long value is cut in the graph, but not in the section.
    is_cut = fact.value.endswith("…")
    value = fold(fact.value.rstrip("…"))
    start = 0
    for line in section.content.split("\n"):
        folded = fold(line)
        stated = folded.removeprefix(opening).strip()
        if folded.startswith(opening) and (stated in (value, f"{value}.") or (is_cut and stated.startswith(value))):
            return Quotation(section, start, start + len(line))
        start += len(line) + 1
    return None


def sentences_stating(facts: Sequence[Edge], material: Material) -> list[Quotation]:
    """Return for each of ``facts`` the first sentence in its section that names both ends, in order.

    Empty if a fact is not stated, unless another fact with the same relation and node is (one of many films).
    Names match as whole words: "de" is not in "developed".
    """
    stated = {edge: sentence for edge in facts if (sentence := _sentence_stating(edge, material)) is not None}
    for edge in facts:
        ends = {edge.source, edge.target}
        if edge not in stated and not any(
            other.relation == edge.relation and ends & {other.source, other.target} for other in stated
        ):
            return []
    return list(dict.fromkeys(stated.values()))


def _sentence_stating(edge: Edge, material: Material) -> Quotation | None:
    names = {fold(edge.source.label), fold(edge.target.label)}
    patterns = [(name, re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")) for name in sorted(names)]
    for sentence in material.by_section.get(edge.section_id or "", ()):
        text, title = fold(sentence.text), fold(sentence.section.title)
        mentioned = {name for name, pattern in patterns if pattern.search(text)}
        # The text of an article need not mention the article's own name.
        if names <= mentioned | {title} and mentioned - {title}:
            return quotation_of(sentence)
    return None


def find_chains(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the likeliest chains whose sections were read; ``fit`` is their strength. The last hop is quoted first."""
    by_place = {sentence.place: sentence for sentence in material.sentences}
    short = asks_short_answer(material.question)
    for chain in material.chains[:3]:
        if not all(hop.place in by_place for hop in chain.hops):
            continue
        places = dict.fromkeys(hop.place for hop in (chain.last, *chain.hops[:-1]))
        quotations = tuple(quotation_of(by_place[place]) for place in places)
        kind = "chain" if chain.is_clause else "noun_chain"
        span = chain.short_answer if short else None
        yield AnswerCandidate(kind, quotations, span=span, hops=chain.hops, fit=chain.strength)
