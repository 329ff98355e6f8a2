"""Update a pack from its source: rebuild what changed, compare it with the current pack, and raise the version."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors
from wikigr.errors import BuildError, EncoderMismatchError, ModelError, PackError, UsageError
from wikigr.graph.link_graph import LinkGraph
from wikigr.ingest import loading
from wikigr.ingest.build import BuildOptions, BuildReport, ReviewStopped, build_pack
from wikigr.ingest.entities import derive_entities
from wikigr.ingest.linking import aliases_of
from wikigr.ingest.staging import Staging
from wikigr.pack import layout as parts
from wikigr.pack.content_diff import ContentDiff, compare
from wikigr.pack.diff import PackDiff, describe, gold_questions
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import Manifest, is_lower_version, read_manifest
from wikigr.pack.open import BUNDLED_HINT, Pack, encoder_source
from wikigr.pack.pack_reader import ArticleText, EdgeKind, PackReader, SectionText, Statement
from wikigr.progress import Progress, Silent
from wikigr.reader.prepared import reader_in
from wikigr.sources.article import Source

if TYPE_CHECKING:
    from wikigr.evaluation.calibration import FittedOn

_SECTIONS = (
    "SELECT a.title, s.position, s.heading_path, s.content, s.source_id, s.anchor FROM section s "
    "JOIN article a ON a.id = s.article"
)


class StagingReader:
    """A ``ContentReader`` over a staging database."""

    def __init__(self, staging: Staging) -> None:
        self._staging = staging

    def articles(self) -> Iterator[ArticleText]:
        rows = self._staging.rows("SELECT id, title, content, categories, url, revision FROM article ORDER BY title")
        for number, title, content, categories, url, revision in rows:
            details = {"categories": "\n".join(map(str, json.loads(categories))), "url": url, "revision": revision}
            yield ArticleText(title, content, tuple(aliases_of(self._staging, number)), details)

    def sections(self) -> Iterator[SectionText]:
        for row in self._staging.rows(f"{_SECTIONS} ORDER BY a.title, s.position"):
            yield _section(*row)

    def sections_of(self, title: str) -> list[SectionText]:
        rows = self._staging.rows(f"{_SECTIONS} WHERE a.title = ? ORDER BY s.position", (title,))
        return [_section(*row) for row in rows]

    def edges(self, kind: EdgeKind) -> LinkGraph:
        return loading.article_links(self._staging, "link" if kind == "LINKS_TO" else "mention")

    def statements(self) -> Iterator[Statement]:
        rows = self._staging.rows(
            "SELECT f.subject, f.relation, f.object, f.section_id, s.name, o.name FROM fact f "
            "JOIN entity s ON s.id = f.subject JOIN entity o ON o.id = f.object"
        )
        for row in rows:
            yield Statement(*row)


def _section(article: str, position: int, path: str, content: str, source_id: str, anchor: str) -> SectionText:
    return SectionText(article, position, tuple(json.loads(path)), content, source_id, anchor)


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
        from wikigr.pipeline.profile_files import load_profile

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


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """The result of an update. ``build`` is ``None`` when nothing was written: no change, or a dry run."""

    diff: PackDiff
    build: BuildReport | None


def update_pack(
    destination: Path,
    source: Source,
    location: str,
    *,
    options: UpdateOptions,
    progress: Progress | None = None,
) -> UpdateReport:
    """Update the pack in the folder ``destination`` from ``source``, which was read from ``location``, all or nothing.

    Name, description, license, attribution and encoder stay. The content equals that of a build from scratch; sections
    whose text is unchanged keep their vectors. A calibrated abstention threshold is recalibrated on the pack's gold
    questions, or dropped with a note. Raises ``PackError``, ``SourceError``, ``BuildError`` (also when more than half
    of the articles are gone, unless ``force`` is set), ``ModelError``, and ``UsageError`` for a version that is not
    higher.
    """
    progress = progress or Silent()
    layout = Layout(destination)
    manifest = _manifest_to_update(layout, source, location, options, progress)
    encoder = _open_encoder(layout, manifest)
    bundle = _check_bundle(layout, manifest) if manifest.bundled_encoder else None
    review = UpdateReview(destination, options, progress)
    try:
        report = build_pack(
            source, location, destination, encoder, _build_options(manifest, options),
            bundle=bundle, progress=progress, review=review,
        )  # fmt: skip
    except LostArticlesError:
        raise
    except ReviewStopped:
        report = None
    finally:
        review.close()
    return UpdateReport(review.result, report)


def plan_update(
    destination: Path,
    source: Source,
    location: str,
    *,
    options: UpdateOptions,
    progress: Progress | None = None,
) -> UpdateReport:
    """Return what ``update_pack`` would change, without encoding anything or writing into ``destination``.

    Unanswerable questions are not asked and thresholds are not recalibrated. Raises like ``update_pack``.
    """
    progress = progress or Silent()
    manifest = _manifest_to_update(Layout(destination), source, location, options, progress)
    review = UpdateReview(destination, options, progress, dry_run=True)
    with tempfile.TemporaryDirectory(prefix="wikigr-") as folder:
        try:
            # The review stops the build before the first section is encoded.
            build_pack(
                source, location, Path(folder), _NoEncoder(manifest.encoder), _build_options(manifest, options),
                progress=progress, review=review,
            )  # fmt: skip
        except ReviewStopped:
            pass
        finally:
            review.close()
    return UpdateReport(review.result, None)


def _manifest_to_update(
    layout: Layout, source: Source, location: str, options: UpdateOptions, progress: Progress
) -> Manifest:
    """Return the manifest of the pack after checking that it can be updated from ``source``."""
    with layout.reading():
        manifest = read_manifest(layout.part(parts.MANIFEST))
    _note_other_format(manifest, source, progress)
    _check_version(manifest, options.version)
    layout.refuse_user_files()
    _refuse_extracted(manifest, location, layout.root)
    return manifest


def _build_options(manifest: Manifest, options: UpdateOptions) -> BuildOptions:
    return BuildOptions(
        name=manifest.name,
        version=options.version or manifest.version,
        description=manifest.description,
        license=manifest.license,
        attribution=manifest.attribution,
        jobs=options.jobs,
        keep_going=options.keep_going,
        follow_links=options.follow_links,
        language=manifest.language,
        provenance={key: manifest.source[key] for key in ("recipe", "homepage") if key in manifest.source},
    )


def _note_other_format(manifest: Manifest, source: Source, progress: Progress) -> None:
    built_from = manifest.source.get("format")
    if built_from not in (None, source.format):
        progress.note(f"The pack was built from a source of format {built_from}, but this one is {source.format}.")


def _check_version(manifest: Manifest, version: str | None) -> None:
    if version is not None and (version == manifest.version or is_lower_version(version, manifest.version)):
        raise UsageError(
            f"The version {version} is not higher than the pack's current version {manifest.version}.",
            hint="Omit --pack-version to derive the version from the changes.",
        )


def _refuse_extracted(manifest: Manifest, location: str, destination: Path) -> None:
    if manifest.extraction:
        # Every option is spelled out, so that the command builds the same pack in any folder.
        options = {
            "--extract-model": manifest.extraction.get("model"),
            "--name": manifest.name,
            "--description": manifest.description,
            "--license": manifest.license,
            "--embedding-model": manifest.encoder.model_id,
        }
        command = ["wikigr", "pack", "build", location, "-o", str(destination), "--extract"]
        command += [part for name, value in options.items() if value for part in (name, str(value))]
        command += ["--bundle-encoder"] if manifest.bundled_encoder else []
        raise UsageError(
            f"A model extracted the entities of the pack {manifest.name!r} from its text. An update calls no model and "
            "would lose them.",
            hint=f"Rebuild the pack; only changed text is sent to the model: {shlex.join(command)} "
            "--pack-version VERSION",
        )


def _open_encoder(layout: Layout, manifest: Manifest) -> Embedder:
    from wikigr.embeddings.loader import open_encoder

    encoder = open_encoder(encoder_source(layout, manifest), purpose="bulk")
    if encoder.identity != manifest.encoder:
        raise EncoderMismatchError(
            f"The pack {manifest.name!r} was built with {manifest.encoder.model_id} (weights "
            f"{manifest.encoder.weights_sha256[:12]}), but {encoder.identity.model_id} on this machine has the weights "
            f"{encoder.identity.weights_sha256[:12]}, so an update would encode every section again.",
            hint="Rebuild the pack with `wikigr pack build`, or install the model that it was built with.",
        )
    return encoder


def _check_bundle(layout: Layout, manifest: Manifest) -> Path:
    """Return the folder of the bundled encoder; raises ``PackError`` if its reader is damaged."""
    folder = layout.part(parts.ENCODER)
    try:
        reader_in(folder)
    except ModelError as error:
        raise PackError(
            f"The reader that is bundled with the pack {manifest.name!r} is damaged: {error.message}",
            hint=BUNDLED_HINT,
        ) from error
    return folder


class _NoEncoder:
    """Stands in for the encoder in a build that stops before it encodes."""

    def __init__(self, identity: EncoderIdentity) -> None:
        self.identity = identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        raise BuildError(f"A dry run tried to encode {len(texts)} texts.")
