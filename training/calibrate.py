"""Fit the weights by which margins and features become probabilities, on held-out articles.

Two logistic models are fitted: one over sentences, which orders them, and one over answers, whose probability is the
confidence. The figures are those of models that were fitted on one half of the held-out articles and measured on the
other; the weights that ship are fitted on all of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.retrieve import ANSWERABLE, OFF_TOPIC, UNANSWERABLE, RetrievedQuestion
from wikigr.answer.abstention import reading_features
from wikigr.answer.draft import Draft
from wikigr.answer.reading import ReaderOptions, read_sentences
from wikigr.answer.sentences import SentenceScore, rank_sentences
from wikigr.embeddings.prepared import PreparedModel
from wikigr.evaluation.metrics.abstention import auroc
from wikigr.evaluation.metrics.accuracy import accuracy
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.reader.prepared import prepare_reader
from wikigr.reader.reader import Reader
from wikigr.retrieval.rerankers.cross_encoder import as_probability
from wikigr.retrieval.trace import Trace

_INVERSE_PENALTY = 10.0
_BINS = 10
_SENTENCE = ("margin", "features")
_ANSWER = ("margin", "gap", "features", "nearest")
# Before anything is fitted: the order of the margins.
UNFITTED = {
    "sentence.intercept": 0.0,
    "sentence.margin": 0.5,
    "sentence.features": 0.0,
    "answer.intercept": 0.0,
    "answer.margin": 0.5,
    "answer.gap": 0.0,
    "answer.features": 0.0,
    "answer.nearest": 0.0,
}


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
    """Answer ``questions`` from ``pack`` up to the reader."""
    pipeline = Pipeline(Profile(), pack, offline=True)
    found = []
    for item in questions:
        state = pipeline.retrieve(item.question, Trace())
        ranked = rank_sentences(state.evidence, state.question, pack.encoder)
        read = read_sentences(reader, state.question, ranked, ReaderOptions())
        sentences = tuple(sentence for sentence in read if sentence.span is not None)
        right = tuple(item.group == ANSWERABLE and bool(accuracy(s.text, item.accepted)) for s in sentences)
        found.append(ReadQuestion(item, Draft(state, sentences), sentences, right))
    return found


def calibrate(
    pack: Pack, reader: Reader, questions: Sequence[RetrievedQuestion]
) -> tuple[dict[str, float], dict[str, float]]:
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


def _probabilities(read: Sequence[ReadQuestion], weights: Mapping[str, float]) -> list[tuple[float, bool]]:
    found = []
    for question in read:
        features, right = answer_features(question, weights)
        logit = weights["answer.intercept"] + sum(
            weights[f"answer.{name}"] * value for name, value in zip(_ANSWER, features, strict=True)
        )
        found.append((as_probability(logit), right))
    return found


def _figures(answers: Sequence[_Answer]) -> dict[str, float]:
    """Return the accuracy, the areas and the expected calibration error (ten bins of equal mass)."""
    answerable = [answer for answer in answers if answer.group == ANSWERABLE]

    def area(group: str) -> float:
        rows = [*answerable, *(answer for answer in answers if answer.group == group)]
        return auroc([row.probability for row in rows], [row.group == ANSWERABLE for row in rows])

    ordered = sorted(answers, key=lambda answer: answer.probability)
    bins = [ordered[int(n * len(ordered) / _BINS) : int((n + 1) * len(ordered) / _BINS)] for n in range(_BINS)]
    error = sum(abs(sum(a.probability for a in rows) - sum(a.right for a in rows)) for rows in bins) / len(ordered)
    return {
        "questions": len(answers),
        "sentence": sum(answer.right for answer in answerable) / len(answerable),
        "auroc_unanswerable": area(UNANSWERABLE),
        "auroc_off_topic": area(OFF_TOPIC),
        "calibration_error": error,
    }


def fit(read: Sequence[ReadQuestion]) -> dict[str, float]:
    """Return the weights of both models, fitted on ``read``."""
    rows = [(_of_sentence(s), r) for q in read for s, r in zip(q.sentences, q.right, strict=True)]
    weights = _named("sentence", _SENTENCE, _logistic([row for row, _ in rows], [right for _, right in rows]))
    answers = [answer_features(question, weights) for question in read if question.sentences]
    fitted = _logistic([features for features, _ in answers], [right for _, right in answers])
    return {**weights, **_named("answer", _ANSWER, fitted)}


def answer_features(question: ReadQuestion, weights: Mapping[str, float]) -> tuple[list[float], bool]:
    """Return the features of the best sentence by ``weights``, and whether it contains an accepted answer."""
    places = sorted(
        range(len(question.sentences)),
        key=lambda n: (
            -sum(
                weights[f"sentence.{name}"] * value
                for name, value in zip(_SENTENCE, _of_sentence(question.sentences[n]), strict=True)
            )
        ),
    )
    ordered = [question.sentences[n] for n in places]
    features = reading_features(question.draft.state.evidence, ordered)
    return [features[name] for name in _ANSWER], question.right[places[0]]


def _of_sentence(sentence: SentenceScore) -> list[float]:
    assert sentence.span is not None
    return [sentence.span.margin, sentence.feature_score]


def _named(model: str, names: Sequence[str], weights: NDArray[np.float64]) -> dict[str, float]:
    keys = [f"{model}.intercept", *(f"{model}.{name}" for name in names)]
    return {key: round(float(weight), 4) for key, weight in zip(keys, weights, strict=True)}


def _logistic(rows: Sequence[Sequence[float]], labels: Sequence[bool]) -> NDArray[np.float64]:
    """Return the intercept and the weights of a logistic regression."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=_INVERSE_PENALTY, max_iter=1000).fit(np.asarray(rows), np.asarray(labels))
    weights: NDArray[np.float64] = np.concatenate([model.intercept_, model.coef_[0]])
    return weights
