"""State all answers at the end of a relation path, each with the facts that lead to it as citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wikigr.answer.answer import EXTRACTIVE, Answer, AnswerSpan
from wikigr.answer.citations import Citation, verify_against
from wikigr.answer.draft import Draft
from wikigr.answer.extractive import as_text, quote
from wikigr.answer.sentences import SentenceScore
from wikigr.index.candidate import Section
from wikigr.pack.open import Pack
from wikigr.retrieval.relation_paths.answers import PathAnswers, StatedFact
from wikigr.sources.statements import readable_relation
from wikigr.text import fold


def write_path_answers(pack: Pack, draft: Draft, answer: Answer) -> Answer:
    """Return ``answer`` with the answers of the path and verified quotations of their facts.

    An answer whose facts no section states is left out; ``answer`` stays an abstention if none is left. Raises
    ``CitationError`` when a quotation does not match the pack.
    """
    answers = draft.state.answers
    assert answers is not None
    sections = {item.section.section_id: item.section for item in draft.state.evidence}
    quotations: dict[StatedFact, SentenceScore] = {}
    names = []
    for name, chain in zip(answers.names, answers.chains, strict=True):
        stated = {fact: _find(fact, sections, answers.confidence) for fact in chain if fact not in quotations}
        if all(sentence is not None for sentence in stated.values()):
            quotations.update((fact, sentence) for fact, sentence in stated.items() if sentence is not None)
            names.append(name)
    if not names:
        return answer
    sentences = list(dict.fromkeys(quotations.values()))
    citations = quote(sentences)
    verify_against(pack, citations, answer.trace)
    # The facts of one answer are quoted in the order of the path, so the last one names it.
    is_single = answers.total == 1
    span = _span(names[0], citations[-1]) if is_single else None
    text = as_text(citations) if is_single else f"{_listing(names, answers)} {as_text(citations)}"
    return replace(
        answer,
        text=text,
        query_type=EXTRACTIVE,
        confidence=answers.confidence,
        citations=citations,
        sentences=tuple(sentences),
        span=span,
    )


def _listing(names: Sequence[str], answers: PathAnswers) -> str:
    total = f"{'more than ' if answers.is_cut else ''}{answers.total:,}"
    count = f"{len(names)} of {total} answers" if answers.is_cut or len(names) < answers.total else f"{total} answers"
    return f"{count}: {'; '.join(names)}."


def _span(name: str, citation: Citation) -> AnswerSpan | None:
    """Return the place of ``name`` in the quotation: at its beginning, or else where it occurs last."""
    begin = 0 if citation.quote.startswith(f"{name} — ") else citation.quote.rfind(name)
    if begin < 0:
        return None
    start = citation.start + begin
    return AnswerSpan(name, citation.section_id, start, start + len(name))


def _find(fact: StatedFact, sections: Mapping[str, Section], score: float) -> SentenceScore | None:
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
            return SentenceScore(section, start, start + len(line), score, score, score, score, score)
        start += len(line) + 1
    return None
