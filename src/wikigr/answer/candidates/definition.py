"""What something is: the sentence that defines an article, its facts, or an entry of a reference or glossary.

Such a sentence may share few words with the question: a definition opens an article, and the first sentence of a
reference entry says what it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from wikigr.answer.candidates.candidate import (
    MAX_CHARS,
    AnswerCandidate,
    Material,
    Quotation,
    quotation_of,
    share_named,
)
from wikigr.index.candidate import Section
from wikigr.languages import Language
from wikigr.question.intent import asks_definition, asks_entry
from wikigr.question.question import Question
from wikigr.retrieval.definition_patterns import explains, is_definition, is_entry
from wikigr.retrieval.sentences import SentenceScore
from wikigr.sources.block import extent
from wikigr.sources.facts import FACTS
from wikigr.text import words


def find_definitions(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the sentences that define what the question asks about by their position and form."""
    question, sentences = material.question, material.sentences
    titles = {sentence.section.title for sentence in sentences}
    defined = [title for title in titles if asks_definition(question, title)]
    found = [_definition(title, sentences, question.language) for title in defined]
    if not defined:
        found = [
            [s for s in sentences if s.section == entry and s.is_prose and explains(s.text)][:1]
            for entry in _entries(question, sentences)
        ]
    for defining in filter(None, found):
        fit = 1.0 if is_definition(defining[0].text, defining[0].section.title, question.language) else 0.5
        yield AnswerCandidate("definition", tuple(map(quotation_of, defining)), fit=fit)


def _definition(title: str, sentences: Sequence[SentenceScore], language: Language) -> list[SentenceScore]:
    """Return the sentence in the lead of ``title`` that defines it, or the lead's first one, or first facts."""
    whole = sorted((s for s in sentences if s.section.title == title), key=lambda s: (s.section.position, s.start))
    # A long lead is cut into several sections, after captions and tables that precede its text.
    lead = [s for s in whole if s.is_prose and s.section.heading != FACTS and s.section.position < 3]
    defining = (s for s in lead if is_definition(s.text, title, language))
    # Fewer words than these at the beginning of an article are a caption or a note ("New in version 3.4.").
    openings = (s for s in lead if s.section.position == 0 and len(words(s.text)) >= 8)
    found = list(islice(chain(defining, openings), 1))
    return found or [s for s in whole if s.section.heading == FACTS][:5]


def _entries(question: Question, sentences: Sequence[SentenceScore]) -> list[Section]:
    """Return the entries that the question asks about: those of exactly that name, else all whose name ends in it."""
    sections = {sentence.section.section_id: sentence.section for sentence in sentences}
    asked = [section for section in sections.values() if asks_entry(question, section.heading) and is_entry(section)]
    exact = [section for section in asked if asks_definition(question, section.heading)]
    # Entries of the same last name that may all be explained: "What is a Context?"
    return exact or (asked if len(asked) <= 3 else [])


def find_entries(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the entries whose term the question names: a term with the whole definition below it."""
    found = []
    for item in material.evidence:
        section, blocks = item.section, item.section.blocks
        number = 0
        while number < len(blocks):
            first = number
            number = extent(blocks, first)
            if blocks[first].kind != "term":
                # A definition list may stand inside an item or a quotation.
                number = first + 1
                continue
            terms = [blocks[first]]
            # Several terms have one definition.
            while number == first + len(terms) < len(blocks) and blocks[number].kind == "term":
                terms.append(blocks[number])
                number = extent(blocks, number)
            start, end = terms[0].start, blocks[number - 1].end
            fit = share_named(material.question, section.content[start : terms[-1].end])
            if fit and end - start <= MAX_CHARS:
                found.append(AnswerCandidate("entry", (Quotation(section, start, end),), fit=fit))
    yield from sorted(found, key=lambda candidate: -candidate.fit)[:6]
