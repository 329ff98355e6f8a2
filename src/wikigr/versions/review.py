"""Review the build of an update: compare it with the current pack, choose its version, recalibrate its threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wikigr.errors import BuildError, UsageError
from wikigr.ingest import loading
from wikigr.ingest.build import ReviewStopped
from wikigr.ingest.entities import derive_entities
from wikigr.ingest.staging import Staging
from wikigr.pack import layout as parts
from wikigr.pack.manifest import Manifest, is_lower_version
from wikigr.pack.open import Pack
from wikigr.pack.pack_reader import PackReader
from wikigr.progress import Progress
from wikigr.versions.content_diff import ContentDiff, compare
from wikigr.versions.diff import PackDiff, describe, gold_questions
from wikigr.versions.staging_reader import StagingReader

if TYPE_CHECKING:
    from wikigr.evaluation.calibration import FittedOn

# If a larger share of the articles is gone, the source is probably the wrong one.
_MAX_REMOVED_SHARE = 0.5
# Failed stages of a calibration that a note quotes.
_MAX_WARNINGS = 3
# The defaults of `wikigr eval calibrate`, for packs calibrated before the manifest recorded them.
_DEFAULT_SPLIT, _DEFAULT_PROFILE = "dev", "enhanced"


class LostArticlesError(BuildError, ReviewStopped):
    """More than half of the pack's articles are missing from the source of an update."""


@dataclass(frozen=True, slots=True)
class UpdateOptions:
    """Options of an update. Without a ``version``, the pack gets the one that its diff suggests."""

    version: str | None = None
    force: bool = False
    jobs: int = 0
    keep_going: bool = False
    follow_links: bool = False


class UpdateReview:
    """Compares a build with the current pack, decides whether it continues, and completes its manifest."""

    def __init__(self, destination: Path, options: UpdateOptions, progress: Progress, *, dry_run: bool = False) -> None:
        self._destination = destination
        self._options = options
        self._progress = progress
        self._dry_run = dry_run
        self._before: Pack | None = None
        self._content = ContentDiff()
        self._diff: PackDiff | None = None

    @property
    def result(self) -> PackDiff:
        """The diff; raises ``BuildError`` when the build ended before the comparison."""
        if self._diff is None:
            raise BuildError("The update ended before the packs were compared.")
        return self._diff

    def close(self) -> None:
        if self._before is not None:
            self._before.close()

    def _current_pack(self) -> Pack:
        # Opened only once the build holds the folder: another update may have finished first.
        if self._before is None:
            self._before = Pack(self._destination)
        return self._before

    def staged(self, staging: Staging) -> None:
        """Compare the staged content with the pack; raises ``ReviewStopped`` when the build need not continue."""
        before = self._current_pack()
        derive_entities(staging)
        staged = replace(
            before.manifest,
            digest=loading.content_digest(staging, before.manifest.encoder),
            counts={"articles": staging.count("article"), "sections": staging.count("section")},
        )
        contents = StagingReader(staging)
        same = staged.digest == before.manifest.digest
        if not same:
            self._progress.start("comparing", 1, "packs")
            self._content = compare(PackReader(before.graph), contents)
            self._progress.advance(1)
            self._check_losses(before.manifest)
        if same or self._dry_run:
            diff = describe(before, staged, contents, self._content, folder=self._destination, asked=None)
            self._diff = diff if same else self._with_version(diff)
            raise ReviewStopped

    def _check_losses(self, manifest: Manifest) -> None:
        removed, articles = len(self._content.removed), manifest.counts["articles"]
        if removed <= _MAX_REMOVED_SHARE * articles or self._options.force:
            return
        lost = (
            f"{removed:,} of the pack's {articles:,} articles are missing from this source, so it may be the wrong one."
        )
        if self._dry_run:
            self._progress.note(f"{lost} An update requires --force.")
            return
        raise LostArticlesError(f"{lost} The pack is unchanged.", hint="Check --from, or update anyway with --force.")

    def built(self, folder: Path, manifest: Manifest) -> Manifest:
        """Return the manifest of the finished build in ``folder`` with its threshold and version."""
        before = self._current_pack()
        calibrated = self._recalibrate(before.manifest, folder, manifest)
        (folder / parts.MANIFEST).write_text(calibrated.to_json(), encoding="utf-8")
        with Pack(folder) as after:
            contents = PackReader(after.graph)
            diff = describe(before, after.manifest, contents, self._content, folder=self._destination, asked=after)
        self._diff = self._with_version(diff)
        return replace(calibrated, version=self._diff.b.version)

    def _with_version(self, diff: PackDiff) -> PackDiff:
        """Return ``diff`` with the version of the new pack: the one from the options, else the suggested one."""
        suggested = diff.suggestion.version
        version = self._options.version or suggested
        if version is None:
            version = diff.a.version
            self._progress.note(
                f"The pack keeps its version {version!r}, because it is not a semantic version. "
                "--pack-version sets another one."
            )
        lower = suggested is not None and is_lower_version(version, suggested)
        return replace(
            diff, b=replace(diff.b, version=version), suggestion=replace(diff.suggestion, stated_is_lower=lower)
        )

    def _recalibrate(self, before: Manifest, folder: Path, manifest: Manifest) -> Manifest:
        """Return ``manifest`` with the thresholds of the old pack that were fitted on questions, fitted again."""
        from wikigr.evaluation.calibration import fitted_names

        names = fitted_names(before)
        file = gold_questions(self._destination)
        reasons = dict.fromkeys(names, "The profile that it was fitted with uses another threshold now.")
        for name in names:
            if file is None:
                reasons[name] = "The pack has no gold questions (eval/questions.jsonl)."
                continue
            try:
                manifest = self._refit(name, before, file, folder, manifest)
            except UsageError as error:
                reasons[name] = error.message
        for name in names:
            if name not in manifest.thresholds:
                self._progress.note(
                    f"Dropped the calibrated {name} threshold, because it cannot be recalibrated: {reasons[name]} "
                    "The default applies until you run `wikigr eval calibrate`."
                )
        return manifest

    def _refit(self, name: str, before: Manifest, file: Path, folder: Path, manifest: Manifest) -> Manifest:
        """Return ``manifest`` with the threshold ``name`` of the old pack, or the one that its profile uses now.

        Raises ``UsageError`` if the questions or the profile are unusable.
        """
        from wikigr.evaluation.calibration import FittedOn, calibrate, fitted_on, with_threshold
        from wikigr.evaluation.questions import load_questions, question_set_hash
        from wikigr.profiles.files import load_profile

        known = fitted_on(before, name)
        split, profile = known.get("split", _DEFAULT_SPLIT), known.get("profile", _DEFAULT_PROFILE)
        questions = load_questions(file, split=split or None)
        with Pack(folder) as pack:
            self._progress.start("calibrating", len(questions), "questions")
            found = calibrate(pack, questions, load_profile(profile), advance=self._progress.advance)
        data = FittedOn(question_set_hash(questions), split, profile)
        self._note_other_questions(known.get("questions"), data)
        if found.warnings:
            self._progress.note(
                "Warnings while the abstention threshold was recalibrated: "
                f"{'; '.join(found.warnings[:_MAX_WARNINGS])}."
            )
        return with_threshold(manifest, found.name, found.threshold, data)

    def _note_other_questions(self, known: str | None, fitted_on: FittedOn) -> None:
        if known != fitted_on.questions:
            before = "the previous questions are unknown" if known is None else "they differ from the previous ones"
            self._progress.note(
                f"Recalibrated the abstention threshold on the pack's own questions (split "
                f"{fitted_on.split or 'all'}, profile {fitted_on.profile}); {before}."
            )
