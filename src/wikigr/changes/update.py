"""A finished pack follows its source: what changed is built anew, compared with what was there, and given a version."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wikigr.answer.abstention import THRESHOLD_NAME
from wikigr.changes.content_diff import ContentDiff, compare
from wikigr.changes.diff import PackDiff, describe, gold_questions
from wikigr.changes.next_version import is_lower
from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors
from wikigr.errors import BuildError, EncoderMismatchError, UsageError
from wikigr.graph.link_graph import LinkGraph
from wikigr.ingest import loading
from wikigr.ingest.build import BuildOptions, BuildReport, ReviewStopped, build_pack
from wikigr.ingest.linking import aliases_of
from wikigr.ingest.staging import Staging
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import Manifest, read_manifest
from wikigr.pack.open import Pack, encoder_source
from wikigr.pack.pack_reader import ArticleText, EdgeKind, PackContents, SectionText, Statement
from wikigr.progress import Progress, Silent
from wikigr.sources.article import Source

if TYPE_CHECKING:
    from wikigr.evaluation.calibration import FittedOn

# Above this share of articles that are gone, the source is more likely the wrong one.
_MAX_REMOVED = 0.5
# Of stages that failed while a threshold was fitted.
_FAILURES_TOLD = 3
# What `wikigr eval calibrate` takes when it is told nothing: packs calibrated before this was recorded.
_DEFAULT_SPLIT, _DEFAULT_PROFILE = "dev", "enhanced"


class LostArticlesError(BuildError, ReviewStopped):
    """More than half of a pack's articles are not in the source that it is to follow."""


@dataclass(frozen=True, slots=True)
class UpdateOptions:
    """What a user can say about an update. ``version`` ``None`` takes the one that the difference suggests."""

    version: str | None = None
    force: bool = False
    jobs: int = 1
    keep_going: bool = False


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What an update did: ``build`` is ``None`` where nothing was written (nothing changed, or a dry run)."""

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
    """Make the pack in the folder ``destination`` follow ``source`` (read from ``location``), all or nothing.

    Name, description, license and encoder stay. The content is that of a build from scratch; sections of the same text
    keep their vectors. A fitted abstention threshold is fitted anew on the pack's own gold questions, or dropped with a
    note. Raises ``PackError``, ``SourceError``, ``BuildError`` (also when more than half of the articles are gone,
    unless ``force``), ``ModelError``, and ``UsageError`` for a version that is not higher.
    """
    progress = progress or Silent()
    layout = Layout(destination)
    manifest = _manifest_to_update(layout, source, location, options, progress)
    encoder = _open_encoder(layout, manifest)
    bundle = layout.part(parts.ENCODER) if manifest.bundled_encoder else None
    review = _Review(destination, options, progress)
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
    """Return what ``update_pack`` would change; nothing is encoded and nothing is written into ``destination``.

    Unanswerable questions are not asked, and thresholds not fitted. Raises as ``update_pack`` does.
    """
    progress = progress or Silent()
    manifest = _manifest_to_update(Layout(destination), source, location, options, progress)
    review = _Review(destination, options, progress, dry_run=True)
    with tempfile.TemporaryDirectory(prefix="wikigr-") as folder:
        try:
            # The review ends it before anything would be encoded.
            build_pack(
                source, location, Path(folder), _Never(manifest.encoder), _build_options(manifest, options),
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
    """Return the manifest of the pack, once nothing forbids its update from ``source``."""
    with layout.reading():
        manifest = read_manifest(layout.part(parts.MANIFEST))
    _tell_other_kind(manifest, source, progress)
    _check_version(manifest, options.version)
    _refuse_extracted(manifest, location, layout.root)
    return manifest


def _build_options(manifest: Manifest, options: UpdateOptions) -> BuildOptions:
    return BuildOptions(
        name=manifest.name,
        version=options.version or manifest.version,
        description=manifest.description,
        license=manifest.license,
        jobs=options.jobs,
        keep_going=options.keep_going,
    )


def _tell_other_kind(manifest: Manifest, source: Source, progress: Progress) -> None:
    made_from = manifest.source.get("format")
    if made_from not in (None, source.format):
        progress.note(
            f"The pack was made from another kind of source ({made_from}); this one is read as {source.format}."
        )


def _check_version(manifest: Manifest, version: str | None) -> None:
    if version is not None and (version == manifest.version or is_lower(version, manifest.version)):
        raise UsageError(
            f"The version {version} is not higher than the pack's own, {manifest.version}.",
            hint="Leave --pack-version out: the version then follows from what changed.",
        )


def _refuse_extracted(manifest: Manifest, location: str, destination: Path) -> None:
    if manifest.extraction:
        # All of it is said, so that the command makes the same pack in any folder.
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
            f"The entities of the pack {manifest.name!r} were read from its text by a model, and an update asks none: "
            "they would be lost.",
            hint=f"Build it; only changed text is asked for: {shlex.join(command)} --pack-version VERSION",
        )


def _open_encoder(layout: Layout, manifest: Manifest) -> Embedder:
    from wikigr.embeddings.loader import open_encoder

    encoder = open_encoder(encoder_source(layout, manifest), purpose="bulk")
    if encoder.identity != manifest.encoder:
        raise EncoderMismatchError(
            f"The pack {manifest.name!r} was made with {manifest.encoder.model_id} (weights "
            f"{manifest.encoder.weights_sha256[:12]}), but {encoder.identity.model_id} here has the weights "
            f"{encoder.identity.weights_sha256[:12]}: an update would have to encode every section.",
            hint="Build the pack again with `wikigr pack build`, or get the model that it was made with.",
        )
    return encoder


class _Never:
    """The encoder of a build that ends before it encodes."""

    def __init__(self, identity: EncoderIdentity) -> None:
        self.identity = identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        raise BuildError(f"A dry run was asked to encode {len(texts)} texts.")


class _Review:
    """Compares the build with the pack that is there, decides whether it goes on, and completes its manifest."""

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
        if self._diff is None:
            raise BuildError("The update ended before anything was compared.")
        return self._diff

    def close(self) -> None:
        if self._before is not None:
            self._before.close()

    def _pack(self) -> Pack:
        # Opened only while the folder is held: another update may have come first.
        if self._before is None:
            self._before = Pack(self._destination)
        return self._before

    def staged(self, staging: Staging) -> None:
        before = self._pack()
        loading.derive_entities(staging)
        staged = replace(
            before.manifest,
            digest=loading.content_digest(staging, before.manifest.encoder),
            counts={"articles": staging.count("article"), "sections": staging.count("section")},
        )
        same = staged.digest == before.manifest.digest
        if not same:
            contents = StagedContents(staging)
            self._progress.start("comparing", 1, "packs")
            self._content = compare(PackContents(before.graph), contents)
            self._progress.advance(1)
            self._refuse_losses(before.manifest)
        if same or self._dry_run:
            diff = describe(
                before, staged, StagedContents(staging), self._content, folder=self._destination, asked=None
            )
            self._diff = diff if same else self._with_version(diff)
            raise ReviewStopped

    def _refuse_losses(self, manifest: Manifest) -> None:
        removed, articles = len(self._content.removed), manifest.counts["articles"]
        if removed <= _MAX_REMOVED * articles or self._options.force:
            return
        lost = f"{removed:,} of the pack's {articles:,} articles are not in this source, so it may be the wrong one."
        if self._dry_run:
            self._progress.note(f"{lost} An update needs --force.")
            return
        raise LostArticlesError(
            f"{lost} The pack stays as it was.", hint="Check --from; --force updates it nevertheless."
        )

    def built(self, folder: Path, manifest: Manifest) -> Manifest:
        before = self._pack()
        fitted = self._fit_again(before.manifest, folder, manifest)
        (folder / parts.MANIFEST).write_text(fitted.to_json(), encoding="utf-8")
        with Pack(folder) as after:
            contents = PackContents(after.graph)
            diff = describe(before, after.manifest, contents, self._content, folder=self._destination, asked=after)
        self._diff = self._with_version(diff)
        return replace(fitted, version=self._diff.b.version)

    def _with_version(self, diff: PackDiff) -> PackDiff:
        """Return ``diff`` with the version that the new pack gets: the one asked for, else the suggested one."""
        suggested = diff.suggestion.version
        version = self._options.version or suggested
        if version is None:
            version = diff.a.version
            self._progress.note(
                f"The version {version!r} is no semantic version, so it stays; --pack-version sets another."
            )
        lower = suggested is not None and is_lower(version, suggested)
        return replace(
            diff, b=replace(diff.b, version=version), suggestion=replace(diff.suggestion, stated_is_lower=lower)
        )

    def _fit_again(self, before: Manifest, folder: Path, manifest: Manifest) -> Manifest:
        """Return ``manifest`` with a threshold fitted on the new content, if the old one had a fitted one."""
        from wikigr.evaluation.calibration import FittedOn, calibrate, with_threshold
        from wikigr.evaluation.questions import load_questions, question_set_hash
        from wikigr.profiles.files import load_profile

        if THRESHOLD_NAME not in before.thresholds:
            return manifest
        known = before.calibration
        split, profile = known.get("split", _DEFAULT_SPLIT), known.get("profile", _DEFAULT_PROFILE)
        file = gold_questions(self._destination)
        if file is None:
            self._dropped("the pack carries no gold questions (eval/questions.jsonl)")
            return manifest
        try:
            questions = load_questions(file, split=split or None)
            with Pack(folder) as pack:
                self._progress.start("calibrating", len(questions), "questions")
                found = calibrate(pack, questions, load_profile(profile), advance=self._progress.advance)
        except UsageError as error:
            self._dropped(error.message)
            return manifest
        fitted_on = FittedOn(question_set_hash(questions), split, profile)
        self._tell_other_questions(known.get("questions"), fitted_on)
        if found.warnings:
            self._progress.note(
                "The abstention threshold was fitted anew without a part of its profile: "
                f"{'; '.join(found.warnings[:_FAILURES_TOLD])}."
            )
        return with_threshold(manifest, found.threshold, fitted_on)

    def _dropped(self, reason: str) -> None:
        self._progress.note(
            f"The pack's fitted abstention threshold was dropped, because it cannot be fitted anew: {reason} "
            "The default is in force until `wikigr eval calibrate` fits another."
        )

    def _tell_other_questions(self, known: str | None, fitted_on: FittedOn) -> None:
        if known != fitted_on.questions:
            asked = "which questions the old one was fitted on is not known" if known is None else "others than before"
            self._progress.note(
                f"The abstention threshold was fitted anew on the pack's own questions (split "
                f"{fitted_on.split or 'all'}, profile {fitted_on.profile}); {asked}."
            )


class StagedContents:
    """The content of a pack that is being built, as ``pack.contents`` describes it."""

    def __init__(self, staging: Staging) -> None:
        self._staging = staging

    def articles(self) -> Iterator[ArticleText]:
        rows = self._staging.rows("SELECT id, title, content, categories, url, revision FROM article ORDER BY title")
        for number, title, content, categories, url, revision in rows:
            details = {"categories": "\n".join(map(str, json.loads(categories))), "url": url, "revision": revision}
            yield ArticleText(title, content, tuple(aliases_of(self._staging, number)), details)

    _SECTIONS = (
        "SELECT a.title, s.position, s.heading_path, s.content, s.source_id FROM section s "
        "JOIN article a ON a.id = s.article"
    )

    def sections(self) -> Iterator[SectionText]:
        for row in self._staging.rows(f"{self._SECTIONS} ORDER BY a.title, s.position"):
            yield _section(*row)

    def sections_of(self, title: str) -> list[SectionText]:
        rows = self._staging.rows(f"{self._SECTIONS} WHERE a.title = ? ORDER BY s.position", (title,))
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


def _section(article: str, position: int, path: str, content: str, source_id: str) -> SectionText:
    return SectionText(article, position, tuple(json.loads(path)), content, source_id)
