"""Calibration: the abstention threshold of a pack, fitted on the gold questions of a split."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from wikigr.answer.abstention import ABSTENTION, DEFAULT_THRESHOLD, THRESHOLD_NAME
from wikigr.errors import UsageError
from wikigr.evaluation.questions import GoldQuestion
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import Manifest, read_manifest
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted threshold and its effect on the questions it was fitted on; ``before`` is the previous threshold.

    ``answered`` is the share of the answerable questions above the threshold, and ``declined`` the share of the
    unanswerable ones below it, both in [0, 1]. ``warnings`` lists the stages of the profile that failed; the threshold
    then belongs to a pipeline without them.
    """

    threshold: float
    before: float
    answered: float
    declined: float
    answerable: int
    unanswerable: int
    warnings: tuple[str, ...] = ()


def calibrate(
    pack: Pack, questions: Sequence[GoldQuestion], profile: Profile, *, advance: Callable[[int], None] = lambda _: None
) -> Calibration:
    """Fit the threshold that best separates answerable from unanswerable questions, by Youden's J (1950).

    Of equally good thresholds, the middle of the widest gap wins. ``advance`` is called for each question. Raises
    ``UsageError`` unless there are questions of both kinds.
    """
    pipeline = Pipeline(profile, pack, offline=True)
    strengths, labels = [], []
    warnings: dict[str, None] = {}
    for question in questions:
        answer = pipeline.answer(question.question)
        (record,) = [stage for stage in answer.trace.stages if stage.stage == ABSTENTION]
        strengths.append(float(record.notes["strength"]))
        labels.append(question.answerable)
        warnings.update(dict.fromkeys(answer.trace.warnings))
        advance(1)
    positive, negative = sum(labels), len(labels) - sum(labels)
    if not positive or not negative:
        raise UsageError(
            "Calibration needs answerable and unanswerable questions, "
            f"but there are {positive} answerable and {negative} unanswerable ones."
        )
    threshold = _best_threshold(np.asarray(strengths), np.asarray(labels))
    above = np.asarray(strengths) >= threshold
    return Calibration(
        threshold=threshold,
        before=pack.manifest.thresholds.get(THRESHOLD_NAME, DEFAULT_THRESHOLD),
        answered=float(above[np.asarray(labels)].mean()),
        declined=float((~above)[~np.asarray(labels)].mean()),
        answerable=positive,
        unanswerable=negative,
        warnings=tuple(warnings),
    )


def _best_threshold(strengths: np.ndarray, labels: np.ndarray) -> float:
    edges = np.unique(strengths)
    cuts = np.concatenate([[edges[0] - 0.01], (edges[:-1] + edges[1:]) / 2, [edges[-1] + 0.01]])
    youden = np.array([(strengths[labels] >= cut).mean() + (strengths[~labels] < cut).mean() for cut in cuts])
    gaps = np.concatenate([[0.0], np.diff(edges), [0.0]])
    best = np.flatnonzero(youden >= youden.max() - 1e-12)
    return round(float(cuts[best[np.argmax(gaps[best])]]), 4)


@dataclass(frozen=True, slots=True)
class FittedOn:
    """The data behind a threshold: the hash of the questions, their split (empty for all) and the profile."""

    questions: str
    split: str
    profile: str


def with_threshold(manifest: Manifest, threshold: float, fitted_on: FittedOn) -> Manifest:
    """Return ``manifest`` with the threshold and the data it was fitted on."""
    thresholds = {**manifest.thresholds, THRESHOLD_NAME: threshold}
    return replace(manifest, thresholds=thresholds, calibration=asdict(fitted_on))


def store_threshold(layout: Layout, threshold: float, fitted_on: FittedOn) -> None:
    """Write the threshold to the manifest, atomically, and drop the signature of the old manifest.

    Raises ``BuildError`` while the pack is being built, and ``UsageError`` for an installed pack.
    """
    with layout.building([parts.MANIFEST]):
        manifest = read_manifest(layout.part(parts.MANIFEST))
        layout.clear_new()
        changed = with_threshold(manifest, threshold, fitted_on)
        (layout.new / parts.MANIFEST).write_text(changed.to_json(), encoding="utf-8")
        layout.replace_parts()
