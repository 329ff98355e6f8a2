"""Fit the thresholds of a pack again after its content has changed, on the pack's own questions."""

from __future__ import annotations

from pathlib import Path

from wikigr.errors import UsageError
from wikigr.evaluation.calibration import FittedOn, calibrate, fitted_names, fitted_on, with_threshold
from wikigr.evaluation.questions import load_questions, question_set_hash
from wikigr.pack.manifest import QUESTIONS, Manifest
from wikigr.pack.open import Pack
from wikigr.pipeline.profile_files import load_profile
from wikigr.progress import Progress

# Failed stages of a calibration that a note quotes.
_MAX_WARNINGS = 3


def recalibrate(before: Manifest, root: Path, folder: Path, manifest: Manifest, progress: Progress) -> Manifest:
    """Return ``manifest`` with the thresholds of the manifest ``before`` that were fitted on questions, fitted again.

    ``folder`` holds the new pack with ``manifest``, and ``root`` is the folder of the pack, with its gold questions. A
    threshold that cannot be fitted is left out with a note.
    """
    names, file = fitted_names(before), root / QUESTIONS
    if not names:
        return manifest
    reasons = dict.fromkeys(names, "The profile that it was fitted with uses another threshold now.")
    for name in names:
        if not file.is_file():
            reasons[name] = f"The pack has no gold questions ({QUESTIONS})."
            continue
        try:
            manifest = _refit(name, before, file, folder, manifest, progress)
        except UsageError as error:
            reasons[name] = error.message
    for name in names:
        if name not in manifest.thresholds:
            progress.note(
                f"Dropped the calibrated {name} threshold, because it cannot be recalibrated: {reasons[name]} "
                "The default applies until you run `wikigr eval calibrate`."
            )
    return manifest


def _refit(name: str, before: Manifest, file: Path, folder: Path, manifest: Manifest, progress: Progress) -> Manifest:
    """Return ``manifest`` with the threshold ``name`` of the old pack, or the one that its profile uses now.

    Raises ``UsageError`` if the questions or the profile are unusable.
    """
    known = fitted_on(before, name)
    # The defaults are those of `wikigr eval calibrate`, for packs calibrated before the manifest recorded them.
    split, profile = known.get("split", "dev"), known.get("profile", "enhanced")
    questions = load_questions(file, split=split or None)
    with Pack(folder) as pack:
        progress.start("calibrating", len(questions), "questions")
        found = calibrate(pack, questions, load_profile(profile), advance=progress.advance)
    data = FittedOn(question_set_hash(questions), split, profile)
    if known.get("questions") != data.questions:
        other = "they differ from the previous ones" if "questions" in known else "the previous questions are unknown"
        progress.note(
            f"Recalibrated the abstention threshold on the pack's own questions (split {split or 'all'}, profile "
            f"{profile}); {other}."
        )
    if found.warnings:
        listed = "; ".join(found.warnings[:_MAX_WARNINGS])
        progress.note(f"Warnings while the abstention threshold was recalibrated: {listed}.")
    return with_threshold(manifest, found.name, found.threshold, data)
