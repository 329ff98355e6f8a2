"""Calibration: the abstention threshold of a pack, fitted on the gold questions of a split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from wikigr.answer.abstention import ABSTENTION, THRESHOLD_NAME
from wikigr.errors import UsageError
from wikigr.evaluation.questions import GoldQuestion
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import MIN_RELEVANCE, Manifest, read_manifest
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile


@dataclass(frozen=True, slots=True)
class FittedThreshold:
    """A fitted threshold and its effect on the questions it was fitted on; ``before`` is the threshold in force.

    ``name`` is the name of the threshold in the manifest. ``answered`` is the share of the answerable questions above
    the threshold, and ``declined`` the share of the unanswerable ones below it, both in [0, 1]. ``warnings`` lists the
    stages of the profile that failed (the threshold then belongs to a pipeline without them) and says how many
    questions were left out, if any.
    """

    name: str
    threshold: float
    before: float
    answered: float
    declined: float
    answerable: int
    unanswerable: int
    warnings: tuple[str, ...] = ()


def calibrate(
    pack: Pack, questions: Sequence[GoldQuestion], profile: Profile, *, advance: Callable[[int], None] = lambda _: None
) -> FittedThreshold:
    """Fit the threshold that best separates answerable from unanswerable questions, by Youden's J (1950).

    Of equally good thresholds, the middle of the widest gap wins. The record of the stage ``abstention`` says for each
    question what is compared with which threshold: its notes are ``strength``, ``threshold`` and ``threshold_name``
    (``THRESHOLD_NAME`` unless stated). Strengths under different names are on different scales, so only the questions
    under the most frequent name count. ``advance`` is called for each question. Raises ``UsageError`` unless there are
    questions of both kinds.
    """
    pipeline = Pipeline(profile, pack, offline=True)
    found: list[tuple[str, float, float, bool]] = []
    warnings: dict[str, None] = {}
    for question in questions:
        trace = pipeline.answer(question.question).trace
        (notes,) = [stage.notes for stage in trace.stages if stage.stage == ABSTENTION]
        name = str(notes.get("threshold_name", THRESHOLD_NAME))
        found.append((name, float(notes["strength"]), float(notes["threshold"]), question.answerable))
        warnings.update(dict.fromkeys(trace.warnings))
        advance(1)
    counts = Counter(name for name, *_ in found)
    name = max(counts, key=counts.__getitem__, default=THRESHOLD_NAME)
    kept = [row for row in found if row[0] == name]
    if len(kept) < len(found):
        left_out = len(found) - len(kept)
        warnings[f"questions left out because they have another threshold than {name!r}: {left_out}"] = None
    strengths = np.array([strength for _, strength, _, _ in kept])
    labels = np.array([answerable for *_, answerable in kept], dtype=np.bool_)
    positive, negative = int(labels.sum()), int((~labels).sum())
    if not positive or not negative:
        raise UsageError(
            "Calibration needs answerable and unanswerable questions, "
            f"but there are {positive} answerable and {negative} unanswerable ones."
        )
    threshold = _best_threshold(strengths, labels)
    above = strengths >= threshold
    return FittedThreshold(
        name=name,
        threshold=threshold,
        before=kept[0][2],
        answered=float(above[labels].mean()),
        declined=float((~above)[~labels].mean()),
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


def fitted_names(manifest: Manifest) -> list[str]:
    """Return the names of the thresholds that were fitted on questions; ``min_relevance`` is fitted by the build."""
    return [name for name in manifest.thresholds if name != MIN_RELEVANCE]


def fitted_on(manifest: Manifest, name: str) -> dict[str, str]:
    """Return what the manifest says about the data of the threshold ``name``: the fields of ``FittedOn``, or less."""
    keys = {field: _prefix(name) + field for field in FittedOn.__dataclass_fields__}
    return {field: manifest.calibration[key] for field, key in keys.items() if key in manifest.calibration}


def with_threshold(manifest: Manifest, name: str, threshold: float, data: FittedOn) -> Manifest:
    """Return ``manifest`` with the threshold and the data it was fitted on; other thresholds stay."""
    recorded = {_prefix(name) + field: value for field, value in asdict(data).items()}
    return replace(
        manifest,
        thresholds={**manifest.thresholds, name: threshold},
        calibration={**manifest.calibration, **recorded},
    )


def _prefix(name: str) -> str:
    # Manifests of earlier releases describe the data of the only threshold that they had, which is no longer used.
    return "" if name == "abstention" else f"{name}."


def store_threshold(layout: Layout, name: str, threshold: float, data: FittedOn) -> None:
    """Write the threshold to the manifest, atomically, and drop the signature of the old manifest.

    Raises ``BuildError`` while the pack is being built, and ``UsageError`` for an installed pack.
    """
    with layout.building([parts.MANIFEST]):
        manifest = read_manifest(layout.part(parts.MANIFEST))
        layout.clear_new()
        changed = with_threshold(manifest, name, threshold, data)
        (layout.new / parts.MANIFEST).write_text(changed.to_json(), encoding="utf-8")
        layout.replace_parts()
