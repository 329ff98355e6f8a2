"""The build: a source goes in, a pack takes the place of the old one."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from wikigr import __version__
from wikigr.build import drafting, embedding, linking, loading, reading
from wikigr.build.isolation import run_isolated
from wikigr.build.progress import Progress, Silent
from wikigr.build.staging import Staging
from wikigr.embeddings.embedder import Embedder
from wikigr.errors import BuildError, PackError
from wikigr.graph.engine import QueryError
from wikigr.graph.pagerank import pagerank
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import Manifest, read_manifest
from wikigr.sources.article import Source


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What a user can say about a build. ``jobs`` counts parsing processes."""

    name: str
    version: str = "1.0.0"
    description: str = ""
    license: str = ""
    limit: int | None = None
    jobs: int = 1
    resume: bool = True
    keep_going: bool = False


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did. ``lost_links`` are hyperlinks to nowhere in the pack."""

    manifest: Manifest
    skipped: Mapping[str, int]
    lost_links: int
    embedded: int
    reused: int
    bad_records: tuple[reading.BadRecord, ...] = field(default=())


def build_pack(
    source: Source,
    location: str,
    destination: Path,
    encoder: Embedder,
    options: BuildOptions,
    *,
    bundle: Path | None = None,
    progress: Progress | None = None,
) -> BuildReport:
    """Build a pack from ``source`` (read from ``location``) in the folder ``destination``.

    ``bundle`` is a prepared encoder's folder to put into the pack. Whatever happens before the last step, the
    pack that was there stays as it was. Raises ``SourceError``, ``BuildError`` or ``ModelError``.
    """
    progress = progress or Silent()
    layout = Layout(destination)
    with layout.building():
        staging = _open_staging(layout, source, location, encoder, options, progress)
        try:
            return _build(staging, layout, source, location, encoder, options, bundle, progress)
        except OSError as error:
            raise BuildError(
                f"The pack cannot be written: {error.strerror or error}.",
                hint="Mend that, then run the same command again: it goes on where it stopped.",
            ) from error
        finally:
            staging.close()


def _open_staging(
    layout: Layout,
    source: Source,
    location: str,
    encoder: Embedder,
    options: BuildOptions,
    progress: Progress,
) -> Staging:
    if not options.resume:
        for leftover in layout.work.glob(f"{layout.staging.name}*"):
            leftover.unlink()
    resumed = layout.staging.exists()
    staging = Staging(layout.staging)
    identity = json.dumps(asdict(encoder.identity), sort_keys=True)
    fingerprint = _fingerprint(location, source.format, options)
    if staging.meta("encoder") != identity:
        staging.forget_vectors()
    if fingerprint is None or staging.meta("source") != fingerprint:
        staging.forget_source()
    elif resumed:
        progress.note("Going on with the build that was interrupted here.")
    with staging.transaction():
        staging.set_meta("encoder", identity)
        staging.set_meta("source", fingerprint or "")
    return staging


def _build(
    staging: Staging,
    layout: Layout,
    source: Source,
    location: str,
    encoder: Embedder,
    options: BuildOptions,
    bundle: Path | None,
    progress: Progress,
) -> BuildReport:
    bad = reading.read_source(
        source,
        staging,
        limit=options.limit,
        jobs=options.jobs,
        keep_going=options.keep_going,
        progress=progress,
    )
    drafting.draft_all(staging, progress)
    lost_links = linking.link_all(staging, progress)
    reused = _reuse(staging, layout, encoder, progress)
    embedded = embedding.embed_all(staging, encoder, progress)

    layout.clear_new()
    loaded: loading.Loaded = run_isolated(
        loading.load, (layout.staging, layout.new, encoder.identity), progress, layout.work / "engine.log"
    )
    sources, targets, titles = loading.article_edges(staging)
    digest = loading.content_digest(staging, encoder.identity)
    # Without a single hyperlink there is nothing to rank: the cache says so by being empty.
    ranks = pagerank(sources, targets, len(titles)).tolist() if len(sources) else []
    scores = dict(zip(titles, ranks, strict=False))
    _write(layout.new / parts.PAGERANK, json.dumps(scores, ensure_ascii=False, indent=0) + "\n")
    if bundle is not None:
        shutil.copytree(bundle, layout.new / parts.ENCODER)
    manifest = Manifest(
        name=options.name,
        version=options.version,
        description=options.description,
        license=options.license,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        source={
            "format": source.format,
            "name": Path(location).name if location != "-" else "standard input",
        },
        counts=asdict(loaded.counts),
        encoder=encoder.identity,
        engine=loaded.engine,
        engine_version=loaded.engine_version,
        storage_version=loaded.storage_version,
        digest=digest,
        vector_index=loaded.vector_index,
        bundled_encoder=bundle is not None,
        wikigr_version=__version__,
    )
    _write(layout.new / parts.MANIFEST, manifest.to_json())
    skipped = staging.skipped()
    layout.commit()
    return BuildReport(manifest, skipped, lost_links, embedded, reused, tuple(bad))


def _reuse(staging: Staging, layout: Layout, encoder: Embedder, progress: Progress) -> int:
    """Take over vectors from the pack that is there, if its encoder is the same."""
    if not layout.exists():
        return 0
    try:
        old = read_manifest(layout.part(parts.MANIFEST))
        if old.encoder != encoder.identity:
            return 0
        return embedding.reuse_vectors(staging, layout.part(parts.DATABASE))
    except (PackError, QueryError) as error:
        progress.note(f"The vectors of the old pack cannot be used again, so all are made anew: {error}")
        return 0


def _fingerprint(location: str, source_format: str, options: BuildOptions) -> str | None:
    """Return a key that changes when the source's files change; ``None`` where that cannot be known."""
    if location == "-":
        return None
    root = Path(location)
    files = [root]
    if root.is_dir():
        visible = (p for p in root.rglob("*") if not any(part.startswith(".") for part in p.relative_to(root).parts))
        files = sorted(p for p in visible if p.is_file())
    digest = hashlib.sha256(repr((source_format, options.limit, options.keep_going)).encode())
    for path in files:
        stat = path.stat()
        digest.update(f"{os.fspath(path)}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
