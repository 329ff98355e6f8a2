"""Fit the weights of the candidates, the probability of the first one, and the levels.

The weights maximize the likelihood of the right candidates among all of a question (a conditional logit, McFadden 1974)
together with that of each candidate being right or wrong. A logistic regression then makes probabilities of the scores
and the leads. Everything that is measured comes from weights that were fitted without the source asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import expit, log_expit

from training.answers.asked import GROUP, READ_GROUP
from training.answers.collect import JudgedAnswers
from wikigr.answer.probability import AnswerModel, leads_over_rivals, terms

Floats = NDArray[np.float64]
# The terms of where a candidate stands, whose weights are not penalized.
STANDING = ("score", "lead")

# The weights of the two likelihoods and of the penalty on squared weights.
_LISTWISE = 1.0
_POINTWISE = 0.3
_PENALTY = 0.5
# A term that fewer candidates have is left out.
_MIN_CANDIDATES = 20
# The weight of a source grows with the square root of its questions.
_USUAL_QUESTIONS = 40.0
# The sources are divided into so many parts, each of which is measured with weights of the others.
_FOLDS = 6
# Questions as people ask them, of what they read and of what they own; the levels hold for these.
_AS_ASKED = frozenset((GROUP, "people"))
# The weight in the order of a question of a source that trained the reader; in the probability, it has none.
_READ_WEIGHT = 0.3
# The share of the answers at the level *sure* that are right.
SURE_SHARE = 0.93
# The share of the questions without an answer that are at most *not sure*.
DECLINED_SHARE = 0.79
# The share of the questions with an answer that are said not to be covered.
FALSELY_DECLINED_SHARE = 0.16
# The best candidates of each question that the probability is fitted on, the weight of those after the first, and the
# penalty on squared weights.
_FITTED_RANKS = 3
_FURTHER_WEIGHT = 0.25
_RIGHT_PENALTY = 1.0
# The weight of a question whose answer was taken out, among those that are not covered.
_REMOVED_WEIGHT = 0.35
# Some sources have far more questions that they do not cover than people ask: they count as one in five.
_NOT_COVERED_SHARE = 0.2


@dataclass(frozen=True)
class Rows:
    """The candidates of several questions as a matrix: ``starts`` are the first rows of the questions."""

    values: csr_matrix
    right: NDArray[np.bool_]
    starts: NDArray[np.int64]
    weights: Floats
    judged: Sequence[JudgedAnswers]


def term_names(judged: Sequence[JudgedAnswers]) -> list[str]:
    """Return the names of the terms that enough candidates have."""
    counts: dict[str, int] = {}
    for item in judged:
        for features in item.features:
            for name, value in terms(features).items():
                counts[name] = counts.get(name, 0) + (value != 0.0)
    return sorted(name for name, count in counts.items() if count >= _MIN_CANDIDATES)


def make_rows(judged: Sequence[JudgedAnswers], names: Sequence[str]) -> Rows:
    """Return the candidates of ``judged`` as rows with a column for each of ``names``."""
    asked = [item for item in judged if item.features]
    column = {name: number for number, name in enumerate(names)}
    cells: list[float] = []
    columns: list[int] = []
    ends, starts, row = [0], [], 0
    per_source: dict[str, int] = {}
    for item in asked:
        per_source[item.source] = per_source.get(item.source, 0) + 1
        starts.append(row)
        for features in item.features:
            for name, value in terms(features).items():
                if name in column and value:
                    cells.append(value)
                    columns.append(column[name])
            ends.append(len(cells))
            row += 1
    weights = np.array(
        [
            np.sqrt(_USUAL_QUESTIONS / max(_USUAL_QUESTIONS, per_source[item.source]))
            * (_READ_WEIGHT if item.group == READ_GROUP else 1.0)
            for item in asked
        ]
    )
    right = np.array([flag for item in asked for flag in item.right], dtype=np.bool_)
    values = csr_matrix((cells, columns, ends), shape=(row, len(names)))
    return Rows(values, right, np.array(starts), weights, asked)


def fit_weights(rows: Rows) -> Floats:
    """Return the weight of each column."""
    counts = np.diff(np.append(rows.starts, len(rows.right)))
    question = np.repeat(np.arange(len(counts)), counts)
    has_right = np.bincount(question, rows.right) > 0
    target = rows.right.astype(np.float64)
    sizes = counts[question].astype(np.float64)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        bias, weights = parameters[0], parameters[1:]
        scores = rows.values @ weights
        highest = np.maximum.reduceat(scores, rows.starts)
        powers = np.exp(scores - highest[question])
        total = np.add.reduceat(powers, rows.starts)
        of_right = np.add.reduceat(powers * target, rows.starts)
        chosen = np.where(has_right, -np.log(np.maximum(of_right, 1e-300) / total), 0.0)
        share = powers / total[question]
        share_of_right = np.where(has_right[question], powers * target / np.maximum(of_right, 1e-300)[question], 0.0)
        slope = np.where(has_right[question], share - share_of_right, 0.0) * rows.weights[question] * _LISTWISE
        probability = expit(scores + bias)
        each = rows.weights[question] * _POINTWISE / np.sqrt(sizes)
        point = _negative_log_likelihood(scores + bias, target)
        value = float((rows.weights * chosen).sum() * _LISTWISE + (each * point).sum())
        value += _PENALTY * float(weights @ weights)
        slope = slope + each * (probability - target)
        gradient = np.concatenate([[float((each * (probability - target)).sum())], rows.values.T @ slope])
        gradient[1:] += 2 * _PENALTY * weights
        return value, gradient

    found = minimize(loss, np.zeros(rows.values.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 2_000})
    return np.asarray(found.x[1:])


@dataclass(frozen=True, slots=True)
class Scored:
    """One question with the score and the lead of each candidate, as weights gave them that do not know its source."""

    judged: JudgedAnswers
    scores: Floats
    leads: Floats

    @property
    def order(self) -> NDArray[np.int64]:
        """The candidates, best first."""
        return np.argsort(-self.scores, kind="stable")


def score(judged: Sequence[JudgedAnswers], names: Sequence[str], weights: Floats) -> list[Scored]:
    """Return ``judged`` with the scores and leads that ``weights`` give."""
    rows = make_rows(judged, names)
    scores = rows.values @ weights
    ends = np.append(rows.starts[1:], len(scores))
    return [
        Scored(item, own := scores[start:end], np.array(leads_over_rivals(own.tolist(), item.rivals)))
        for item, start, end in zip(rows.judged, rows.starts, ends, strict=True)
    ]


def cross_fit(judged: Sequence[JudgedAnswers]) -> list[Scored]:
    """Return all questions, each scored with weights that were fitted without its source."""
    scored: list[Scored] = []
    fold = _folds(judged)
    for number in range(_FOLDS):
        others = [item for item in judged if fold[item.source] != number]
        names = term_names(others)
        weights = fit_weights(make_rows(others, names))
        scored += score([item for item in judged if fold[item.source] == number], names, weights)
    return scored


def _folds(judged: Sequence[JudgedAnswers]) -> dict[str, int]:
    """Return the number of the part of each source; sources of the same text are in one part."""
    texts = {name: _text_of(name) for name in {item.source for item in judged}}
    numbers = {text: number % _FOLDS for number, text in enumerate(sorted(set(texts.values())))}
    return {name: numbers[text] for name, text in texts.items()}


def _text_of(source: str) -> str:
    """Return a name of the text of ``source``, the same for ``git`` and ``people-git``."""
    bare = source.removeprefix("people-")
    return {"demo": "physics", "python-faq": "python"}.get(bare, bare)


def first_rows(scored: Sequence[Scored], names: Sequence[str], ranks: int) -> tuple[Floats, Floats, Floats]:
    """Return the terms, the labels and the weights of the best ``ranks`` candidates of each question."""
    values, labels, weights = [], [], []
    share = source_weights(scored)
    for item, weight in zip(scored, share, strict=True):
        for rank, number in enumerate(item.order[:ranks]):
            found = {**terms(item.judged.features[number]), "score": item.scores[number], "lead": item.leads[number]}
            values.append([found.get(name, 0.0) for name in names])
            labels.append(item.judged.right[number])
            weights.append(weight if rank == 0 else weight * _FURTHER_WEIGHT)
    return np.array(values), np.array(labels, dtype=np.float64), np.array(weights)


def source_weights(scored: Sequence[Scored]) -> Floats:
    """Return a weight for each question.

    A source with many questions does not decide alone, and at most ``_NOT_COVERED_SHARE`` of its weight is that of
    questions that it does not cover.
    """
    own = [_weight(item.judged) for item in scored]
    totals: dict[tuple[str, bool], float] = defaultdict(float)
    for item, weight in zip(scored, own, strict=True):
        totals[item.judged.source, item.judged.covered] += weight
    most = _NOT_COVERED_SHARE / (1 - _NOT_COVERED_SHARE)

    def share(item: Scored) -> float:
        covered, others = (totals[item.judged.source, flag] for flag in (True, False))
        usual = min(1.0, _USUAL_QUESTIONS / max(1.0, covered))
        return usual if item.judged.covered else usual * min(1.0, most * max(1.0, covered) / max(1.0, others))

    return np.array([weight * share(item) for item, weight in zip(scored, own, strict=True)])


def _weight(judged: JudgedAnswers) -> float:
    """Return the weight of a question in the probability before that of its source."""
    return 0.0 if judged.group == READ_GROUP else _REMOVED_WEIGHT if judged.removed else 1.0


def fit_right(scored: Sequence[Scored], names: Sequence[str]) -> Floats:
    """Return the intercept and the weights of ``names`` in the logit of the probability of being right."""
    x, y, w = first_rows(scored, names, _FITTED_RANKS)
    penalty = np.array([0.0, *(0.0 if name in STANDING else _RIGHT_PENALTY for name in names)])
    x = np.hstack([np.ones((len(x), 1)), x])

    def loss(parameters: Floats) -> tuple[float, Floats]:
        logits = x @ parameters
        value = float(w @ _negative_log_likelihood(logits, y) + penalty @ parameters**2)
        return value, x.T @ (w * (expit(logits) - y)) + 2 * penalty * parameters

    return np.asarray(minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 2_000}).x)


def probabilities(scored: Sequence[Scored], names: Sequence[str], fitted: Floats) -> Floats:
    """Return the probability of the best candidate of each question."""
    x, _, _ = first_rows(scored, names, 1)
    return np.asarray(expit(fitted[0] + x @ fitted[1:]))


def _negative_log_likelihood(logits: Floats, labels: Floats) -> Floats:
    """Return the negative log-likelihood of each label, 0 or 1, of a logistic model."""
    return -np.asarray(labels * log_expit(logits) + (1 - labels) * log_expit(-logits))


def cross_fit_right(scored: Sequence[Scored]) -> Floats:
    """Return the probability of the best candidate of each question, fitted without its source."""
    found = np.zeros(len(scored))
    fold = _folds([item.judged for item in scored])
    for number in range(_FOLDS):
        others = [item for item in scored if fold[item.judged.source] != number]
        names = [*STANDING, *term_names([item.judged for item in others])]
        fitted = fit_right(others, names)
        own = [n for n, item in enumerate(scored) if fold[item.judged.source] == number]
        found[own] = probabilities([scored[n] for n in own], names, fitted)
    return found


def lowest_with_share(probability: Floats, right: Floats, weights: Floats, share: float) -> float:
    """Return the lowest threshold from which on at least ``share`` of the answers are right; 1 if there is none."""
    order = np.argsort(-probability, kind="stable")
    shares = np.cumsum((right * weights)[order]) / np.maximum(np.cumsum(weights[order]), 1e-9)
    enough = np.flatnonzero(shares >= share)
    return float(probability[order][enough[-1]]) if enough.size else 1.0


def highest_with_share(probability: Floats, weights: Floats, share: float) -> float:
    """Return the highest threshold below which at most ``share`` of the weight lies; 0 if nothing has weight."""
    order = np.argsort(probability, kind="stable")
    below = np.cumsum(weights[order]) - weights[order]
    few = np.flatnonzero(below <= share * weights.sum())
    return float(probability[order][few[-1]]) if weights.sum() else 0.0


def lowest_above_share(probability: Floats, weights: Floats, share: float) -> float:
    """Return the lowest threshold of four digits below which at least ``share`` of the weight lies."""
    order = np.argsort(probability, kind="stable")
    most = np.flatnonzero(np.cumsum(weights[order]) >= share * weights.sum())
    return float(probability[order][most[0]]) + 1e-4


def fit_model(judged: Sequence[JudgedAnswers], scored: Sequence[Scored], probability: Floats) -> AnswerModel:
    """Return the model that ships: weights from all sources, and levels from the cross-fitted ``probability``."""
    names = term_names(judged)
    weights = fit_weights(make_rows(judged, names))
    right_names = [*STANDING, *names]
    fitted = fit_right(scored, right_names)
    right = np.array([float(item.judged.right[item.order[0]]) for item in scored])
    covered = np.array([item.judged.covered for item in scored])
    share = source_weights(scored)
    sure = lowest_with_share(probability, right, share, SURE_SHARE)
    # What is left of a section whose answer was removed is still about the question.
    as_asked = share * np.array([item.judged.group in _AS_ASKED and not item.judged.removed for item in scored])
    covered_from = highest_with_share(probability, as_asked * covered, FALSELY_DECLINED_SHARE)
    likely = lowest_above_share(probability, as_asked * ~covered, DECLINED_SHARE)
    return AnswerModel(
        order={name: round(float(value), 4) for name, value in zip(names, weights, strict=True)},
        right={name: round(float(value), 4) for name, value in zip(right_names, fitted[1:], strict=True)},
        intercept=round(float(fitted[0]), 4),
        sure=round(sure, 4),
        likely=round(min(sure, max(covered_from, likely)), 4),
        covered=round(covered_from, 4),
    )
