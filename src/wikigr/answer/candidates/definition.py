"""What something is: the sentence that defines an article, or an entry of a reference or glossary."""

from __future__ import annotations

from collections.abc import Iterator

from wikigr.answer.candidates.blocks import entry_blocks
from wikigr.answer.candidates.candidate import AnswerCandidate, Material, Quotation, quotation_of, share_named
from wikigr.answer.definition_patterns import is_definition
from wikigr.answer.direct_answers import direct_answers

# Entries that compete, those that name most of what is asked first.
_MAX_ENTRIES = 6


def find_definitions(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the sentences that define what the question asks about by their position and form."""
    for number in direct_answers(material.question, material.sentences):
        sentence = material.sentences[number]
        fit = 1.0 if is_definition(sentence.text, sentence.section.title) else 0.5
        yield AnswerCandidate("definition", (quotation_of(sentence),), fit=fit)


def find_entries(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the entries whose term the question names: a term with the whole definition that is indented below it."""
    found = []
    for item in material.evidence:
        content = item.section.content
        for block in entry_blocks(content):
            term = content[block.start : content.find("\n    ", block.start)]
            fit = share_named(material.question, term)
            if fit:
                found.append(AnswerCandidate("entry", (Quotation(item.section, block.start, block.end),), fit=fit))
    yield from sorted(found, key=lambda candidate: -candidate.fit)[:_MAX_ENTRIES]
