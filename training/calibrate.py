"""Fit the weights by which margins and features become probabilities, on held-out articles.

Two logistic models are fitted: one over sentences, which orders them, and one over answers, whose probability is the
confidence. The figures are those of models that were fitted on one half of the held-out articles and measured on the
other; the weights that ship are fitted on all of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.retrieve import ANSWERABLE, OFF_TOPIC, UNANSWERABLE, RetrievedQuestion
from wikigr.answer.stages import Draft
from wikigr.embeddings.prepared import PreparedModel
from wikigr.evaluation.metrics.accuracy import accuracy
from wikigr.evaluation.reliability import auroc
from wikigr.graph_search.hops.chain_search import HopsOptions
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.reader.passage import UNCALIBRATED, Calibration, ReaderOptions
from wikigr.reader.prepared import prepare_reader
from wikigr.reader.reader import Reader
from wikigr.retrieval.reading import read_sentences, reading_confidence, reading_features, score_sentence
from wikigr.retrieval.sentences import SentenceScore, order_sentences, rank_sentences
from wikigr.retrieval.trace import Trace

_INVERSE_PENALTY = 10.0
_BINS = 10
# More than half of the held-out questions have no answer, far more than people ask: they count as one in five.
_UNANSWERABLE_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A question, the sentences that were read for it, and whether each contains an accepted answer."""

    item: RetrievedQuestion
    draft: Draft
    sentences: tuple[SentenceScore, ...]
    right: tuple[bool, ...]


def open_reader(adapter: Path, encoder: PreparedModel, folder: Path) -> Reader:
    """Return the reader of ``adapter``, prepared in a copy of ``encoder`` in the new folder ``folder``."""
    shutil.copytree(encoder.folder, folder)
    prepared = prepare_reader(PreparedModel.from_folder(folder), adapter=adapter, force=True)
    if prepared is None:
        raise ValueError(f"The adapter {adapter} is not for the encoder {encoder.identity.model_id}.")
    return Reader(prepared, packed=True)


def read_questions(pack: Pack, reader: Reader, questions: Sequence[RetrievedQuestion]) -> list[ReadQuestion]:
    """Answer ``questions`` from ``pack`` up to the reader, in one hop."""
    pipeline = Pipeline(Profile().override(HopsOptions, enabled=False), pack, offline=True)
    found = []
    for item in questions:
        state = pipeline.retrieve(item.question, Trace())
        ranked = rank_sentences(state.evidence, state.question, None)
        read = read_sentences(reader, state.question, state.evidence, ranked, ReaderOptions())
        sentences = tuple(sentence for sentence in read if sentence.span is not None)
        right = tuple(item.group == ANSWERABLE and bool(accuracy(s.text, item.accepted)) for s in sentences)
        found.append(ReadQuestion(item, Draft(state, sentences), sentences, right))
    return found


def calibrate(
    pack: Pack, reader: Reader, questions: Sequence[RetrievedQuestion]
) -> tuple[Calibration, dict[str, float]]:
    """Return the weights for ``reader``, and the figures of a two-fold cross-validation over articles."""
    read = [question for question in read_questions(pack, reader, questions) if question.sentences]
    titles = sorted({question.item.gold.title for question in read})
    halves = [[question for question in read if titles.index(question.item.gold.title) % 2 == half] for half in (0, 1)]
    answers = [
        _Answer(question.item.group, probability, right)
        for train, test in (halves, halves[::-1])
        for question, (probability, right) in zip(test, _probabilities(test, fit(train)), strict=True)
    ]
    return fit(read), _figures(answers)


@dataclass(frozen=True, slots=True)
class _Answer:
    group: str
    probability: float
    right: bool


def _probabilities(read: Sequence[ReadQuestion], calibration: Calibration) -> list[tuple[float, bool]]:
    found = []
    for question in read:
        sentences, right = _ordered(question, calibration)
        found.append((reading_confidence(question.draft.state.evidence, sentences, calibration), right))
    return found


def _figures(answers: Sequence[_Answer]) -> dict[str, float]:
    """Return the accuracy, the areas and the expected calibration error (ten bins of equal mass)."""
    answerable = [answer for answer in answers if answer.group == ANSWERABLE]

    def area(group: str) -> float:
        rows = [*answerable, *(answer for answer in answers if answer.group == group)]
        return auroc([row.probability for row in rows], [row.group == ANSWERABLE for row in rows])

    masses = np.array(_masses([answer.group for answer in answers]))
    values, right = (np.array([getattr(a, name) for a in answers], float) for name in ("probability", "right"))
    order = np.argsort(values, kind="stable")
    bins = np.minimum((np.cumsum(masses[order]) / masses.sum() * _BINS).astype(int), _BINS - 1)
    gaps = np.bincount(bins, weights=(masses * (values - right))[order], minlength=_BINS)
    error = float(np.abs(gaps).sum() / masses.sum())
    return {
        "questions": len(answers),
        "sentence": sum(answer.right for answer in answerable) / len(answerable),
        "auroc_unanswerable": area(UNANSWERABLE),
        "auroc_off_topic": area(OFF_TOPIC),
        "calibration_error": error,
    }


def fit(read: Sequence[ReadQuestion]) -> Calibration:
    """Return the weights of both models, fitted on ``read``."""
    pairs = [(s, right) for q in read for s, right in zip(q.sentences, q.right, strict=True)]
    sentence = _logistic([_sentence_features(s) for s, _ in pairs], [right for _, right in pairs])
    ordering = replace(
        UNCALIBRATED, sentence_intercept=sentence[0], sentence_margin=sentence[1], sentence_features=sentence[2]
    )
    best = [(question, *_ordered(question, ordering)) for question in read]
    rows = [reading_features(question.draft.state.evidence, sentences) for question, sentences, _ in best]
    right = [right for _, _, right in best]
    answer = _logistic(rows, right)
    masses = _masses([question.item.group for question in read])
    answer[0] = round(answer[0] + _shift(np.asarray(rows) @ np.array(answer[1:]) + answer[0], right, masses), 4)
    return Calibration(*sentence, *answer)


def _ordered(question: ReadQuestion, calibration: Calibration) -> tuple[list[SentenceScore], bool]:
    """Return the sentences of ``question``, best first, and whether the first of them contains an accepted answer."""
    right = {(s.section.section_id, s.start): r for s, r in zip(question.sentences, question.right, strict=True)}
    ordered = order_sentences(score_sentence(sentence, calibration) for sentence in question.sentences)
    return ordered, right[ordered[0].section.section_id, ordered[0].start]


def _sentence_features(sentence: SentenceScore) -> tuple[float, float]:
    assert sentence.span is not None
    return sentence.span.margin, sentence.feature_score


def _masses(groups: Sequence[str]) -> list[float]:
    """Return a weight for each question by its group, so that ``_UNANSWERABLE_SHARE`` of all weight is unanswerable."""
    answerable = sum(group == ANSWERABLE for group in groups)
    mass = _UNANSWERABLE_SHARE / (1 - _UNANSWERABLE_SHARE) * answerable / max(1, len(groups) - answerable)
    return [1.0 if group == ANSWERABLE else mass for group in groups]


def _logistic(rows: Sequence[tuple[float, ...]], labels: Sequence[bool]) -> list[float]:
    """Return the intercept and the weights of a logistic regression, rounded to four decimals."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=_INVERSE_PENALTY, max_iter=1000).fit(np.asarray(rows), np.asarray(labels))
    return [round(float(weight), 4) for weight in (*model.intercept_, *model.coef_[0])]


def _shift(logits: NDArray[np.float64], right: Sequence[bool], masses: Sequence[float]) -> float:
    """Return what to add to ``logits`` so that the mean probability is the share of right answers, both weighted.

    The weights of the features are fitted on all questions alike; only the base rate differs (King & Zeng 2001).
    """
    from scipy.optimize import brentq
    from scipy.special import expit

    share = np.average(np.asarray(right, float), weights=masses)
    return float(brentq(lambda shift: np.average(expit(logits + shift), weights=masses) - share, -20.0, 20.0))
