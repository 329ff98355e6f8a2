"""Update a pack from its source: rebuild it, encode what changed, and replace the pack unless nothing did."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors
from wikigr.errors import BuildError, ModelError, PackError, UsageError
from wikigr.ingest.build import BuildOptions, BuildReport, ReviewStopped, build_pack
from wikigr.ingest.entities import derive_entities
from wikigr.ingest.loading import content_digest, staged_rows
from wikigr.ingest.staging import Staging
from wikigr.pack import layout as parts
from wikigr.pack.diff import ContentDiff, PackDiff, Side, compare
from wikigr.pack.digest import database_rows
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import Manifest, is_lower_version, read_manifest
from wikigr.pack.models import BUNDLED_HINT, encoder_source
from wikigr.pack.open import Pack
from wikigr.progress import Progress, Silent
from wikigr.reader.prepared import reader_in
from wikigr.sources.article import Source


class LostArticlesError(BuildError, ReviewStopped):
    """More than half of the pack's articles are missing from the source of an update."""


@dataclass(frozen=True, slots=True)
class UpdateOptions:
    """Options of an update. Without a ``version``, the pack keeps its own."""

    version: str | None = None
    force: bool = False
    dry_run: bool = False
    jobs: int = 0
    keep_going: bool = False
    follow_links: bool = False


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """The result of an update. ``build`` is ``None`` when nothing was written: no change, or a dry run."""

    diff: PackDiff
    build: BuildReport | None


class _Review:
    """Compares a build with the current pack, decides whether it continues, and completes its manifest."""

    def __init__(self, folder: Path, options: UpdateOptions, progress: Progress) -> None:
        self._folder = folder
        self._options = options
        self._progress = progress
        self._before: Manifest | None = None
        self._content = ContentDiff()
        self.diff: PackDiff | None = None

    def staged(self, staging: Staging) -> None:
        """Compare the staged content with the pack; raises ``ReviewStopped`` when the build need not continue."""
        derive_entities(staging)
        # Opened only now that the build holds the folder: another update may have finished first.
        with Pack(self._folder) as pack:
            self._before = before = pack.manifest
            digest = content_digest(staging, before.encoder)
            if digest != before.digest:
                self._progress.start("comparing", 1, "packs")
                self._content = compare(database_rows(pack.graph), staged_rows(staging))
                self._progress.advance(1)
                self._check_losses(before)
        if digest == before.digest or self._options.dry_run:
            tables = {"articles": "article", "sections": "section", "links": "link", "mentions": "mention"}
            counts = {name: staging.count(table) for name, table in tables.items()}
            counts["triples"] = staging.count("fact")
            version = self._options.version if digest != before.digest else None
            staged = replace(before, version=version or before.version, digest=digest, counts=counts)
            self.diff = PackDiff(Side.of(before), Side.of(staged), self._content)
            raise ReviewStopped

    def _check_losses(self, manifest: Manifest) -> None:
        removed, articles = len(self._content.removed), manifest.counts["articles"]
        # If a larger share of the articles is gone, the source is probably the wrong one.
        if removed <= 0.5 * articles or self._options.force:
            return
        lost = (
            f"{removed:,} of the pack's {articles:,} articles are missing from this source, so it may be the wrong one."
        )
        if not self._options.dry_run:
            raise LostArticlesError(
                f"{lost} The pack is unchanged.", hint="Check --from, or update anyway with --force."
            )
        self._progress.note(f"{lost} An update requires --force.")

    def built(self, manifest: Manifest) -> Manifest:
        """Return the manifest of the finished build with the thresholds that an earlier release fitted on questions."""
        before = self._before
        assert before is not None
        thresholds = {**before.thresholds, **manifest.thresholds}
        manifest = replace(manifest, thresholds=thresholds, calibration=before.calibration)
        self.diff = PackDiff(Side.of(before), Side.of(manifest), self._content)
        return manifest


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
    whose text is unchanged keep their vectors. A dry run encodes nothing and writes nothing into ``destination``.
    Raises ``PackError``, ``SourceError``, ``BuildError`` (also when more than half of the articles are gone, unless
    ``force`` is set), ``ModelError``, and ``UsageError`` for a version that is not higher.
    """
    progress = progress or Silent()
    layout = Layout(destination)
    manifest = _manifest_to_update(layout, source, location, options, progress)
    review = _Review(destination, options, progress)
    report, bundle, folder = None, None, destination
    with ExitStack() as stack:
        encoder: Embedder
        if options.dry_run:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wikigr-")))
            encoder = _NoEncoder(manifest.encoder)
        else:
            encoder = _open_encoder(layout, manifest)
            bundle = _check_bundle(layout, manifest) if manifest.bundled_encoder else None
        try:
            report = build_pack(
                source, location, folder, encoder, _build_options(manifest, options),
                bundle=bundle, progress=progress, review=review,
            )  # fmt: skip
        except LostArticlesError:
            raise
        except ReviewStopped:
            pass
    assert review.diff is not None
    return UpdateReport(review.diff, report)


def _manifest_to_update(
    layout: Layout, source: Source, location: str, options: UpdateOptions, progress: Progress
) -> Manifest:
    """Return the manifest of the pack after checking that it can be updated from ``source``."""
    with layout.reading():
        manifest = read_manifest(layout.part(parts.MANIFEST))
    built_from, version = manifest.source.get("format"), options.version
    if built_from not in (None, source.format):
        progress.note(f"The pack was built from a source of format {built_from}, but this one is {source.format}.")
    if version is not None and (version == manifest.version or is_lower_version(version, manifest.version)):
        raise UsageError(
            f"The version {version} is not higher than the pack's current version {manifest.version}.",
            hint="Omit --pack-version to keep it.",
        )
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
        raise PackError(
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
