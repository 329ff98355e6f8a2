"""Update a pack from its source: rebuild what changed, compare it with the current pack, and raise the version."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors
from wikigr.errors import BuildError, EncoderMismatchError, ModelError, PackError, UsageError
from wikigr.ingest.build import BuildOptions, BuildReport, ReviewStopped, build_pack
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import Manifest, is_lower_version, read_manifest
from wikigr.pack.open import BUNDLED_HINT, encoder_source
from wikigr.progress import Progress, Silent
from wikigr.reader.prepared import reader_in
from wikigr.sources.article import Source
from wikigr.versions.diff import PackDiff
from wikigr.versions.review import LostArticlesError, UpdateOptions, UpdateReview


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
