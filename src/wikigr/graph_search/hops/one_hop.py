"""Ask a question of the pack and read its answers: one hop."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wikigr.index.candidate import Candidate, Section
from wikigr.names import bare_name
from wikigr.reader.passage import Calibration, ReaderOptions
from wikigr.retrieval.chain import Hop
from wikigr.retrieval.reading import FindNames, answer_words, read_sentences, reading_confidence, score_sentence
from wikigr.retrieval.sentences import SentenceScore, order_sentences, rank_sentences
from wikigr.retrieval.state import Resources
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import words

if TYPE_CHECKING:
    from wikigr.reader.reader import Reader

# A capitalized name goes on to both sides of a span that is part of it.
_CAPITALIZED = r"[A-ZÀ-Þ](?:\.|[\w'’-]+)"
_NAME_BEFORE = re.compile(rf"(?:\b{_CAPITALIZED}\s+)+$")
_NAME_AFTER = re.compile(rf"(?:\s+{_CAPITALIZED})+")


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found for a question: its candidates, and its answers, the likeliest first."""

    candidates: tuple[Candidate, ...]
    answers: tuple[Hop, ...]


def read_question(
    question: str, resources: Resources, reader: Reader, options: ReaderOptions, find_names: FindNames, limit: int
) -> Reading:
    """Retrieve and read for ``question``.

    Returns at most ``limit`` different answers, none of which the question itself contains: the best span of each
    sentence, and the names in it.
    """
    assert resources.search is not None
    state = resources.search(question)
    sentences = rank_sentences(state.evidence, state.question, None)
    sentences = read_sentences(reader, state.question, state.evidence, sentences, options, find_names)
    confidence = reading_confidence(state.evidence, sentences, reader.calibration)
    read = _with_names([sentence for sentence in sentences if sentence.span is not None], reader.calibration)
    answers: list[Hop] = []
    said: set[tuple[str, ...]] = set()
    asked = words(question)
    for sentence in read:
        answer = tuple(answer_words(sentence))
        if not answer or answer in said or contains(asked, answer):
            continue
        said.add(answer)
        # The confidence is that of the best answer; the others have their share of it.
        answers.append(_hop(question, sentence, confidence * sentence.score / read[0].score, resources))
        if len(answers) == limit:
            break
    return Reading(state.candidates, tuple(answers))


def known_names(resources: Resources, text: str) -> list[tuple[int, int]]:
    """Return the places of names of the pack in ``text``: what a question describes is often one of them."""
    return [*resources.linker.names_in(text)]


def _with_names(read: Sequence[SentenceScore], calibration: Calibration) -> list[SentenceScore]:
    """Return the sentences in order, each also with the names in it as its span."""
    named = [
        score_sentence(replace(sentence, span=span), calibration)
        for sentence in read
        for span in sentence.name_spans
        if span != sentence.span
    ]
    # A known name in a sentence competes with the best span of the sentences, at this share of its own probability.
    # Without the discount, MuSiQue loses 0.3 points of recall@5.
    weighted = (replace(sentence, answer_score=0.7 * sentence.score) for sentence in named)
    return order_sentences([*read, *weighted])


def _hop(question: str, sentence: SentenceScore, probability: float, resources: Resources) -> Hop:
    assert sentence.span is not None
    section = sentence.section
    start, end = sentence.span.start - sentence.start, sentence.span.end - sentence.start
    name = " ".join(_whole_name(sentence.text, start, end).split())
    if all(word in FUNCTION_WORDS for word in words(name)):
        # "he"
        name = section.title
    linked = next((link for link in resources.linker.link_mention(name) if link.method == "exact"), None)
    if linked is not None:
        name = bare_name(linked.node.name or linked.node.key)
    known = linked is not None
    return Hop(question, name, section, sentence.start, sentence.end, sentence.span, known, probability)


def _whole_name(sentence: str, start: int, end: int) -> str:
    """Return the capitalized name of which ``sentence[start:end]`` is a part, or these characters."""
    if not sentence[start].isupper():
        return sentence[start:end]
    before = _NAME_BEFORE.search(sentence[:start])
    after = _NAME_AFTER.match(sentence, end)
    return sentence[before.start() if before else start : after.end() if after else end]


def contains(sequence: Sequence[str], part: Sequence[str]) -> bool:
    """Return whether ``part`` is a run of neighboring items of ``sequence``."""
    size = len(part)
    return any(tuple(sequence[n : n + size]) == tuple(part) for n in range(len(sequence) - size + 1))


def is_about(section: Section, name: str) -> bool:
    """Return whether ``section`` mentions ``name``, or at least its last word."""
    named = [word for word in words(name) if word not in FUNCTION_WORDS]
    return not named or named[-1] in {*words(section.title), *words(section.content)}
