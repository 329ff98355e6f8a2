"""Find sentences that answer by their position and form, although they share few words with the question.

A definition opens an article, and the first sentence of a reference entry says what it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from wikigr.answer.definition_patterns import explains, is_definition, is_entry
from wikigr.index.candidate import Section
from wikigr.question.intent import asks_definition, asks_entry
from wikigr.question.question import Question
from wikigr.text import words

# A long lead is cut into several sections, after captions and tables that precede its text.
_LEAD_SECTIONS = 3
# Fewer words than these at the beginning of an article are a caption or a note ("New in version 3.4.").
_MIN_WORDS = 8
# Entries of the same last name that may all be explained: "What is a Context?"
_MAX_NAMESAKES = 3


class Sentence(Protocol):
    """What this module needs to know of a sentence."""

    @property
    def section(self) -> Section: ...
    @property
    def start(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def is_prose(self) -> bool: ...


def direct_answers(question: Question, sentences: Sequence[Sentence]) -> Iterator[int]:
    """Yield the positions in ``sentences`` of those that directly answer what ``question`` asks."""
    titles = {sentence.section.title for sentence in sentences}
    defined = {title for title in titles if asks_definition(question, title)}
    for title in titles:
        found = _definition(title, sentences) if title in defined else None
        if found is not None:
            yield found
    if not defined:
        for section in _entries(question, sentences):
            found = _explanation(section, sentences)
            if found is not None:
                yield found


def _definition(title: str, sentences: Sequence[Sentence]) -> int | None:
    """Return the position of the sentence in the lead of ``title`` that defines it, or of the lead's first one."""
    lead = [n for n in _in_order(title, sentences) if sentences[n].section.position < _LEAD_SECTIONS]
    openings = (n for n in lead if sentences[n].section.position == 0 and len(words(sentences[n].text)) >= _MIN_WORDS)
    return next((n for n in lead if is_definition(sentences[n].text, title)), next(openings, None))


def _entries(question: Question, sentences: Sequence[Sentence]) -> list[Section]:
    """Return the entries that the question asks about: those of exactly that name, else all whose name ends in it."""
    sections = {sentence.section.section_id: sentence.section for sentence in sentences}
    named = [section for section in sections.values() if asks_entry(question, section.heading)]
    asked = [section for section in named if is_entry(section)]
    exact = [section for section in asked if asks_definition(question, section.heading)]
    return exact or (asked if len(asked) <= _MAX_NAMESAKES else [])


def _explanation(section: Section, sentences: Sequence[Sentence]) -> int | None:
    """Return the position of the first sentence of the entry ``section`` that says what it is."""
    own = ((n, s) for n, s in enumerate(sentences) if s.section.section_id == section.section_id)
    return next((n for n, s in own if s.is_prose and explains(s.text)), None)


def _in_order(title: str, sentences: Sequence[Sentence]) -> list[int]:
    own = [n for n, s in enumerate(sentences) if s.section.title == title and s.is_prose]
    return sorted(own, key=lambda n: (sentences[n].section.position, sentences[n].start))
