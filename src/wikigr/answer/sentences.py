"""Sentences of retrieved sections, scored for how well each answers the question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wikigr.answer.definition_patterns import BORN, DIED, is_definition, life_stems
from wikigr.answer.entries import explains, is_entry, subject
from wikigr.embeddings.embedder import Embedder, Vectors
from wikigr.graph.neighborhood import Edge
from wikigr.index.candidate import Evidence, Section
from wikigr.index.lexical import stems
from wikigr.question.terms import QuestionTerms
from wikigr.segmentation import ends_as_prose, sentence_spans
from wikigr.text import fold, words

# Sentences that are encoded, chosen by their score without vectors: they are half the cost of a question. On SQuAD 2.0
# eight of them find 0.3 % more answers among the first three, thirty-two no more than that.
ENCODED = 6
# Characters of a sentence that are encoded: a table in one line must not cost more than the rest of the question.
ENCODED_CHARS = 200

# Shares of a sentence's score; they sum to 1. A listwise logistic model fitted on each half of the topics of
# SQuAD 2.0's development set gave nearly the same shares for both; these are their means, rounded.
WEIGHTS = {
    "section": 0.15,
    "words": 0.12,
    "context": 0.20,
    "phrases": 0.10,
    "kind": 0.08,
    "vector": 0.20,
    "neighbors": 0.15,
}


# A table row, a list entry without a full stop, a line of code or a question may be the answer, but reads badly as one.
FRAGMENT_FACTOR = 0.85
# The mark of a list item, which is none of its words.
_LIST_MARK = re.compile(r"(?:[-*•–]|(?P<number>\d{1,2})[.)])\s+(?=\S)")
# A long lead is cut into several sections, after whatever stands before its text.
_LEAD_SECTIONS = 3
_MIN_WORDS = 8
# Entries of the same last name that may all explain themselves: "What is a Context?"
_MAX_NAMESAKES = 3


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """A sentence with its place, ``section.content[start:end]``, and the parts of its score, each in [0, 1].

    ``of_section``: the section's relevance. ``of_words``: share of the question's words in the sentence.
    ``of_context``: the same with the title and the sentence before it, which a pronoun may point to.
    ``of_phrases``: share of the question's word pairs. ``of_kind``: whether it holds a thing of the kind that
    is asked for. ``of_vector``: cosine with the question. ``of_neighbors``: the best cosine in its section.
    """

    section: Section
    start: int
    end: int
    of_section: float
    of_words: float
    of_context: float
    of_phrases: float
    of_kind: float
    of_vector: float = 0.0
    of_neighbors: float = 0.0

    @property
    def text(self) -> str:
        return self.section.content[self.start : self.end]

    def parts(self) -> dict[str, float]:
        """Return the parts of the score by the names that ``WEIGHTS`` has."""
        return {
            "section": self.of_section,
            "words": self.of_words,
            "context": self.of_context,
            "phrases": self.of_phrases,
            "kind": self.of_kind,
            "vector": self.of_vector,
            "neighbors": self.of_neighbors,
        }

    @property
    def is_prose(self) -> bool:
        """Whether it ends as a sentence does, or in a displayed formula."""
        return ends_as_prose(self.text) or ":\n" in self.text

    @property
    def score(self) -> float:
        parts = self.parts()
        total = sum(weight * parts[part] for part, weight in WEIGHTS.items())
        return total if self.is_prose else FRAGMENT_FACTOR * total


def rank_sentences(
    evidence: Sequence[Evidence],
    question: str,
    terms: QuestionTerms,
    encoder: Embedder,
    vector: Vectors | None = None,
) -> list[SentenceScore]:
    """Return the sentences of ``evidence``, the best first; ties go by title, section and place.

    The ``ENCODED`` best without vectors are compared with the question as vectors too; the others follow them.
    ``vector`` is the question's (float32, shape ``(d,)``), if ``encoder`` has made it before.
    """
    sentences = sorted(_split(evidence, terms), key=_order)
    head, tail = sentences[:ENCODED], sentences[ENCODED:]
    if not head:
        return []
    # With its subject, a sentence that says "it" or "he" still has one.
    if vector is None:
        vector = encoder.encode([question])[0]
    vectors = encoder.encode([f"{subject(s.section)}: {s.text[:ENCODED_CHARS]}" for s in head])
    cosines = [max(0.0, float(value)) for value in vectors @ vector]
    best: dict[str, float] = {}
    for sentence, cosine in zip(head, cosines, strict=True):
        key = sentence.section.section_id
        best[key] = max(best.get(key, 0.0), cosine)
    head = [
        replace(s, of_vector=cosine, of_neighbors=best[s.section.section_id])
        for s, cosine in zip(head, cosines, strict=True)
    ]
    return [*sorted(head, key=_order), *tail]


def _split(evidence: Sequence[Evidence], terms: QuestionTerms) -> list[SentenceScore]:
    sentences: list[SentenceScore] = []
    for item in evidence:
        section = item.section
        title = set(stems(section.title))
        before: set[str] = set()
        for start, end in sentence_spans(section.content):
            start = _after_list_mark(section.content, start, end)
            text = section.content[start:end]
            tokens = stems(text)
            own = set(tokens)
            sentences.append(
                SentenceScore(
                    section=section,
                    start=start,
                    end=end,
                    of_section=min(1.0, max(0.0, item.candidate.relevance)),
                    of_words=terms.coverage(own),
                    of_context=terms.coverage(own | before | title),
                    of_phrases=terms.phrase_coverage(tokens),
                    of_kind=float(terms.expected_in(text)),
                )
            )
            before = own
    names = {item.section.title for item in evidence}
    asked = {name for name in names if terms.asks_what_is(name)}
    for name in names:
        found = None
        if name in asked:
            found = _defining(name, sentences)
        elif terms.asks_when_lived(name):
            found = _dating(name, sentences, terms)
        if found is not None:
            sentences[found] = _telling(sentences[found])
    if not asked:
        for section in _entries_asked_for(evidence, terms):
            found = _explaining(section, sentences)
            if found is not None:
                sentences[found] = _telling(sentences[found])
    return sentences


def _telling(sentence: SentenceScore) -> SentenceScore:
    """Return ``sentence`` as one that answers by its place and its form, and not by the question's words."""
    return replace(sentence, of_section=1.0, of_words=1.0, of_context=1.0, of_phrases=1.0, of_kind=1.0)


def _entries_asked_for(evidence: Sequence[Evidence], terms: QuestionTerms) -> list[Section]:
    """Return the entries that the question asks about: those of just that name, or else all whose name ends so."""
    named = [item.section for item in evidence if terms.asks_what_entry_is(item.section.heading)]
    asked = [section for section in named if is_entry(section)]
    exact = [section for section in asked if terms.asks_what_is(section.heading)]
    return exact or (asked if len(asked) <= _MAX_NAMESAKES else [])


def _explaining(section: Section, sentences: Sequence[SentenceScore]) -> int | None:
    """Return which of ``sentences`` is the first of the entry ``section`` that says what it is."""
    own = ((n, s) for n, s in enumerate(sentences) if s.section.section_id == section.section_id)
    return next((n for n, s in own if s.is_prose and explains(s.text)), None)


def _after_list_mark(text: str, start: int, end: int) -> int:
    """Return where the words of a list item begin; a number is a mark beside the next or the last one only."""
    mark = _LIST_MARK.match(text, start, end)
    if mark is None:
        return start
    if mark["number"]:
        beside = "|".join(str(int(mark["number"]) + step) for step in (-1, 1))
        if not re.search(rf"^\s*(?:{beside})[.)]\s", text, re.MULTILINE):
            return start
    return mark.end()


def _defining(title: str, sentences: Sequence[SentenceScore]) -> int | None:
    """Return which of ``sentences`` says what ``title`` is: one of its lead that is worded so, else how it begins."""
    own = [n for n in _in_order(title, sentences) if sentences[n].section.position < _LEAD_SECTIONS]
    # "New in version 3.4." is none.
    begins = (n for n in own if sentences[n].section.position == 0 and len(words(sentences[n].text)) >= _MIN_WORDS)
    return next((n for n in own if is_definition(sentences[n].text, title)), next(begins, None))


def _dating(title: str, sentences: Sequence[SentenceScore], terms: QuestionTerms) -> int | None:
    """Return which of ``sentences`` gives the dates of who is called ``title`` beside the name."""
    asked = terms.weights.keys() & (BORN | DIED)
    return next((n for n in _in_order(title, sentences) if asked <= life_stems(sentences[n].text, title)), None)


def _in_order(title: str, sentences: Sequence[SentenceScore]) -> list[int]:
    own = [n for n, s in enumerate(sentences) if s.section.title == title and s.is_prose]
    return sorted(own, key=lambda n: (sentences[n].section.position, sentences[n].start))


def _order(sentence: SentenceScore) -> tuple[float, str, str, int]:
    return -sentence.score, sentence.section.title, sentence.section.section_id, sentence.start


def sentences_stating(facts: Sequence[Edge], sentences: Sequence[SentenceScore]) -> list[SentenceScore]:
    """Return for each of ``facts`` the first of ``sentences`` in its section that names what it says, in order.

    A fact that no sentence states may be missing where another one of its relation at the same thing is stated: one of
    many films. Otherwise the list is empty. A name is found as whole words: "de" is not in "developed".
    """
    stated = {edge: sentence for edge in facts if (sentence := _sentence_stating(edge, sentences)) is not None}
    for edge in facts:
        ends = {edge.source, edge.target}
        if edge not in stated and not any(
            other.relation == edge.relation and ends & {other.source, other.target} for other in stated
        ):
            return []
    return list(dict.fromkeys(stated.values()))


def _sentence_stating(edge: Edge, sentences: Sequence[SentenceScore]) -> SentenceScore | None:
    names = {fold(edge.source.label), fold(edge.target.label)}
    patterns = [(name, re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")) for name in sorted(names)]
    inside = [sentence for sentence in sentences if sentence.section.section_id == edge.section_id]
    for sentence in sorted(inside, key=lambda sentence: sentence.start):
        # The article's own name need not be said in its text.
        text, title = fold(sentence.text), fold(sentence.section.title)
        said = {name for name, pattern in patterns if pattern.search(text)}
        if names <= said | {title} and said - {title}:
            return sentence
    return None
