"""Read the best sections with the reader: an answer in each sentence, and a better order of the sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from wikigr.answer.sentences import SentenceScore, order_sentences
from wikigr.index.candidate import Evidence, Section
from wikigr.question.intent import asks_lead
from wikigr.question.question import Question
from wikigr.reader.options import ReaderOptions
from wikigr.reader.passage import Calibration, Passage
from wikigr.retrieval.rerankers.cross_encoder import as_probability

if TYPE_CHECKING:
    from wikigr.reader.reader import Reader


def read_sentences(
    reader: Reader,
    question: Question,
    evidence: Sequence[Evidence],
    sentences: Sequence[SentenceScore],
    options: ReaderOptions,
) -> list[SentenceScore]:
    """Return ``sentences`` of ``evidence`` in the order of how well they answer, with the reader's spans.

    The first sections of the evidence are read, and before them the leads that the question asks for. The sentences of
    the others follow in their order.
    """
    leads = [item.section for item in evidence if not item.section.position and asks_lead(question, item.section.title)]
    ranked = {section.section_id: section for section in (*leads, *(item.section for item in evidence))}
    chosen = list(ranked.values())[: options.sections]
    numbers = {section.section_id: _in_section(sentences, section) for section in chosen}
    passages = [
        Passage(
            section.title,
            section.heading,
            section.content,
            tuple((sentences[n].start, sentences[n].end) for n in numbers[section.section_id]),
        )
        for section in chosen
    ]
    found = reader.read(question.text, passages, options.windows(), options.max_answer_tokens)
    read = [
        score_sentence(replace(sentences[n], span=span), reader.calibration)
        for section, spans in zip(chosen, found, strict=True)
        for n, span in zip(numbers[section.section_id], spans, strict=True)
        if span is not None
    ]
    places = {s.place for s in read}
    return [*order_sentences(read), *(s for s in sentences if s.place not in places)]


def _in_section(sentences: Sequence[SentenceScore], section: Section) -> list[int]:
    own = [n for n, s in enumerate(sentences) if s.section.section_id == section.section_id]
    return sorted(own, key=lambda n: sentences[n].start)


def score_sentence(sentence: SentenceScore, calibration: Calibration) -> SentenceScore:
    """Return ``sentence``, which the reader has read, with the probability that it answers the question."""
    assert sentence.span is not None
    logit = calibration.sentence_logit(sentence.span.margin, sentence.feature_score)
    return replace(sentence, answer_score=as_probability(logit))
