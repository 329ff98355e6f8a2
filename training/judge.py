"""Measure a reader on questions that people asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from training.evaluate import window_logits
from training.judged import JudgedQuestion, JudgedSentence
from training.model import SpanReader
from wikigr.evaluation.reliability import auroc
from wikigr.reader.windows import Window, WindowMaker, best_spans


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence, the short answer that was read in it, and its margin."""

    sentence: JudgedSentence
    span: str
    margin: float


@dataclass(frozen=True, slots=True)
class JudgedFigures:
    """Shares in [0, 1] of the covered questions: the first short answer is right, its sentence is, one of three is.

    ``auroc`` compares the scores of the first sentences of questions answered right with those of questions that are
    not covered; ``None`` if there are none of either.
    """

    questions: int
    span: float
    sentence: float
    sentence_of_three: float
    auroc: float | None


def read_judged_questions(
    model: SpanReader,
    maker: WindowMaker,
    pad_id: int,
    questions: Sequence[JudgedQuestion],
    sections: int,
    max_tokens: int,
) -> list[list[ReadSentence]]:
    """Return the sentences of the first ``sections`` sections of each question, with the best span in each."""
    jobs: list[tuple[int, int, Window]] = []
    for number, item in enumerate(questions):
        for place, section in enumerate(item.sections[:sections]):
            windows = maker.windows(item.question, section.title, section.heading, section.text)
            jobs += [(number, place, window) for window in windows]
    found: list[dict[JudgedSentence, ReadSentence]] = [{} for _ in questions]
    for job, scores in window_logits(model, pad_id, [window for _, _, window in jobs]):
        number, place, window = jobs[job]
        own = [sentence for sentence in questions[number].sentences if sentence.section == place]
        text = questions[number].sections[place].text
        spans = best_spans(window, scores, max_tokens, [(s.start, s.end) for s in own])
        for sentence, span in zip(own, spans, strict=True):
            known = found[number].get(sentence)
            if span is not None and (known is None or span.margin > known.margin):
                found[number][sentence] = ReadSentence(sentence, text[span.start : span.end], span.margin)
    return [list(group.values()) for group in found]


def summarize_judged(
    questions: Sequence[JudgedQuestion], readings: Sequence[Sequence[ReadSentence]], features_weight: float
) -> JudgedFigures | None:
    """Return the figures if sentences are ordered by their margin plus ``features_weight`` times their score without.

    Returns ``None`` if no question is covered.
    """
    rows = []
    for item, read in zip(questions, readings, strict=True):
        scored = sorted(read, key=lambda r: -(r.margin + features_weight * r.sentence.features))
        right = [item.is_right(sentence_text(item, r.sentence)) for r in scored[:3]]
        best = scored[0].margin + features_weight * scored[0].sentence.features if scored else float("-inf")
        rows.append((item.covered, bool(scored) and item.is_right(scored[0].span), right, best))
    covered = [row for row in rows if row[0]]
    if not covered:
        return None
    marked = [(best, True) for _, _, right, best in covered if right[:1] == [True]]
    marked += [(best, False) for is_covered, _, _, best in rows if not is_covered]
    both = len({label for _, label in marked}) == 2
    return JudgedFigures(
        questions=len(covered),
        span=fmean(span for _, span, _, _ in covered),
        sentence=fmean(right[:1] == [True] for _, _, right, _ in covered),
        sentence_of_three=fmean(any(right) for _, _, right, _ in covered),
        auroc=auroc([score for score, _ in marked], [label for _, label in marked]) if both else None,
    )


def sentence_text(item: JudgedQuestion, sentence: JudgedSentence) -> str:
    """Return the text of a sentence of ``item``."""
    return item.sections[sentence.section].text[sentence.start : sentence.end]


def groups_of(questions: Iterable[JudgedQuestion]) -> dict[str, list[int]]:
    """Return the numbers of the questions by set, by source of ``people`` and by kind, in the order of a table."""
    groups: dict[str, list[int]] = {}
    for number, item in enumerate(questions):
        for name in dict.fromkeys((item.group, f"{item.group} {item.source}", f"{item.group}, {item.kind}")):
            groups.setdefault(name, []).append(number)
    return dict(sorted(groups.items()))
