"""Build a pack from a source and replace the existing pack in one step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from wikigr import __version__
from wikigr.embeddings.embedder import Embedder
from wikigr.errors import BuildError, PackError, SourceError, WikigrError
from wikigr.graph.engine import Graph, QueryError
from wikigr.graph.graph_index import index_graph
from wikigr.graph.link_graph import rank_articles
from wikigr.graph.pagerank_cache import PageRankCache, Parameters, write_cache
from wikigr.ingest import embedding, loading
from wikigr.ingest.calibration import calibrate_min_relevance
from wikigr.ingest.chunking import chunk_all
from wikigr.ingest.engines.engine import Engine
from wikigr.ingest.engines.local import LocalEngine
from wikigr.ingest.language_detection import find_language
from wikigr.ingest.linking import link_all, lost_links
from wikigr.ingest.parsing import read_source
from wikigr.ingest.staging import Staging
from wikigr.languages import Language
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import MIN_RELEVANCE, Manifest, describe_files, read_manifest
from wikigr.pack.section_urls import record_source_folder
from wikigr.progress import Progress, Silent
from wikigr.reader.prepared import copy_prepared
from wikigr.sandbox.isolation import run_isolated
from wikigr.sources.article import Source
from wikigr.sources.formats import FORMATS, LinkTarget, format_named
from wikigr.sources.source_files import FileState, UnreadFiles, file_states, links_outside, unread_files
from wikigr.sources.streams import STDIN

if TYPE_CHECKING:
    from wikigr.ingest.extraction import ExtractionReport, Extractor

# In these formats, a link is a title and never a record's id: a link to "1905" means the year, not page 1905.
_TITLE_LINKS_ONLY = {row.name for row in FORMATS if row.links is LinkTarget.TITLE}


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """The options of a build.

    ``jobs`` is the number of parser processes, and ``follow_links`` that of the source. ``language`` is the code of the
    language of the text; it is found out without one. ``provenance`` says where the source comes from and is recorded
    with its name and format.
    """

    name: str
    version: str = "1.0.0"
    description: str = ""
    license: str = ""
    attribution: str = ""
    limit: int | None = None
    jobs: int = 0
    keep_going: bool = False
    follow_links: bool = False
    language: str | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that could not be read and was skipped."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class BuildReport:
    """The result of a build. ``lost_links`` counts hyperlinks without a target in the pack; ``lost_examples`` are some.

    ``not_read`` are the files of the source's folder that have another format, and ``not_followed`` the links that lead
    out of it. ``dropped_templates`` counts the calls of wikitext templates whose text is missing, by name.
    """

    manifest: Manifest
    skipped: Mapping[str, int]
    lost_links: int
    embedded: int
    reused: int
    bad_records: tuple[BadRecord, ...]
    extraction: ExtractionReport | None = None
    not_read: tuple[UnreadFiles, ...] = ()
    not_followed: tuple[str, ...] = ()
    lost_examples: tuple[tuple[str, str], ...] = ()
    dropped_templates: Mapping[str, int] = field(default_factory=dict)


class Review(Protocol):
    """Inspects a build before the new pack replaces the existing one. Any exception it raises ends the build."""

    def staged(self, staging: Staging) -> None:
        """Inspect the chunked and linked articles before anything is encoded; may raise ``ReviewStopped``."""
        ...

    def built(self, manifest: Manifest) -> Manifest:
        """Return the final manifest of the new pack."""
        ...


class ReviewStopped(Exception):  # noqa: N818
    """Raised by a review to end the build, remove its working files and keep the existing pack."""


def build_pack(
    source: Source,
    location: str,
    destination: Path,
    encoder: Embedder,
    options: BuildOptions,
    *,
    bundle: Path | None = None,
    progress: Progress | None = None,
    review: Review | None = None,
    extractor: Extractor | None = None,
    engine: Engine | None = None,
) -> BuildReport:
    """Build a pack from ``source`` (read from ``location``) in the folder ``destination``.

    ``bundle`` is the folder of a prepared encoder to copy into the pack, with its reader if there is one. ``extractor``
    extracts entities and relations from the text. ``engine`` runs the costly stages, by default on this machine. An
    existing pack remains untouched until the last step. Raises ``SourceError``, ``BuildError`` or ``ModelError``, with
    an ``extractor`` also ``LlmError``, and whatever ``review`` raises.
    """
    layout = Layout(destination)
    with layout.building(), ExitStack() as stack:
        try:
            staging = Staging.begin(layout.staging)
            stack.callback(staging.close)
            engine = engine or LocalEngine(options.jobs)
            build = _Build(staging, layout, source, location, encoder, options, progress or Silent(), engine)
            return build.run(bundle, review, extractor)
        except ReviewStopped:
            layout.drop_staging()
            raise
        except OSError as error:
            raise BuildError(
                f"The build failed: {error.strerror or error}" + (f" ({error.filename})." if error.filename else "."),
                hint="Fix the cause, then run the same command again. Finished vectors are kept.",
            ) from error


@dataclass(frozen=True, slots=True)
class _Build:
    """One build, with the state that its stages share."""

    staging: Staging
    layout: Layout
    source: Source
    location: str
    encoder: Embedder
    options: BuildOptions
    progress: Progress
    engine: Engine

    def run(self, bundle: Path | None, review: Review | None, extractor: Extractor | None) -> BuildReport:
        self._read()
        language = find_language(self.options.language, self.source, self.staging, self.progress)
        return self._finish(language, bundle, review, extractor)

    def _finish(
        self, language: Language, bundle: Path | None, review: Review | None, extractor: Extractor | None
    ) -> BuildReport:
        """Run the stages after the first one."""
        staging, layout, encoder, progress = self.staging, self.layout, self.encoder, self.progress
        chunk_all(staging, progress, language)
        by_id = self.source.format not in _TITLE_LINKS_ONLY
        lost = link_all(staging, progress, self.engine, by_id=by_id)
        extraction = extractor.extract(staging, progress) if extractor is not None else None
        if review is not None:
            review.staged(staging)
        reused = self._reuse()
        embedded = embedding.embed_all(staging, encoder, progress, self.engine)

        layout.clear_new()
        loaded: loading.Loaded = run_isolated(
            loading.load,
            (layout.staging, layout.new, encoder.identity, language.code),
            progress,
            layout.engine_log,
        )
        progress.start("finishing", 1, "pack")
        digest = loaded.digest
        self._write_pagerank(digest)
        with Graph(layout.new / parts.DATABASE) as graph:
            index_graph(graph, digest).save(layout.new / parts.GRAPH_INDEX)
        if bundle is not None:
            copy_prepared(bundle, layout.new / parts.ENCODER)
        manifest = Manifest(
            name=self.options.name,
            version=self.options.version,
            description=self.options.description,
            license=self.options.license,
            attribution=self.options.attribution,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            source={**self.options.provenance, "format": self.source.format, "name": self._source_name()},
            counts=loaded.counts,
            encoder=encoder.identity,
            engine=loaded.engine,
            engine_version=loaded.engine_version,
            storage_version=loaded.storage_version,
            digest=digest,
            files=describe_files(layout.new),
            vector_index=loaded.vector_index,
            bundled_encoder=bundle is not None,
            wikigr_version=__version__,
            thresholds={MIN_RELEVANCE: calibrate_min_relevance(staging, encoder)},
            extraction=extraction.to_record() if extraction is not None else {},
            language=language.code,
            anchors=True,
        )
        if review is not None:
            manifest = review.built(manifest)
        (layout.new / parts.MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
        progress.advance(1)
        skipped, dropped = staging.skipped(), staging.dropped_templates()
        # A report names five of the hyperlinks without a target, each as the title of its article and the target.
        lost_examples = tuple(lost_links(staging, by_id=by_id, limit=5)) if lost else ()
        bad = tuple(BadRecord(*row) for row in staging.rows("SELECT place, reason FROM bad ORDER BY n"))
        layout.replace_parts()
        record_source_folder(layout, self._source_folder())
        layout.drop_staging()
        not_read = () if self.location == STDIN else unread_files(self.location, self.source.format)
        not_followed = () if self.options.follow_links or self.location == STDIN else links_outside(self.location)
        return BuildReport(
            manifest,
            skipped,
            lost,
            embedded,
            reused,
            bad,
            extraction,
            not_read,
            not_followed,
            lost_examples,
            dropped,
        )

    def _read(self) -> None:
        """Stage the source; raises ``SourceError`` if it changes meanwhile, because parts may be missing then."""
        self._keep_vectors_of_same_encoder()
        before = self._file_states()
        try:
            read_source(
                self.source,
                self.staging,
                limit=self.options.limit,
                keep_going=self.options.keep_going,
                progress=self.progress,
                engine=self.engine,
            )
        except WikigrError as error:
            self._require_unchanged(before, error)
            raise
        self._require_unchanged(before)

    def _file_states(self) -> dict[str, FileState]:
        return file_states(self.location, self.source.format, follow_links=self.options.follow_links)

    def _require_unchanged(self, before: Mapping[str, FileState], cause: WikigrError | None = None) -> None:
        after = self._file_states()
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        if changed:
            others = f" and {len(changed) - 1:,} more files" if len(changed) > 1 else ""
            raise SourceError(
                f"The source changed while it was read: {changed[0]}{others}. A part of it may be missing.",
                hint="Wait until nothing writes to the source, then run the same command again.",
            ) from cause

    def _keep_vectors_of_same_encoder(self) -> None:
        identity = json.dumps(asdict(self.encoder.identity), sort_keys=True)
        if self.staging.meta("encoder") not in (None, identity):
            self.staging.forget_vectors()
        elif kept := self.staging.count("vector"):
            self.progress.note(f"Using {kept:,} vectors of the interrupted build.")
        self.staging.set_meta("encoder", identity)

    def _reuse(self) -> int:
        """Reuse vectors of the existing pack if its encoder is the same; return how many."""
        if not self.layout.exists():
            return 0
        try:
            old = read_manifest(self.layout.part(parts.MANIFEST))
            if old.encoder != self.encoder.identity:
                return 0
            return embedding.reuse_vectors(self.staging, self.layout.part(parts.DATABASE))
        except (PackError, QueryError) as error:
            self.progress.note(f"Cannot reuse the vectors of the existing pack, so all are computed again: {error}")
            return 0

    def _write_pagerank(self, digest: str) -> None:
        parameters = Parameters()
        scores = rank_articles(loading.article_links(self.staging), parameters)
        write_cache(self.layout.new / parts.PAGERANK, PageRankCache(scores, digest, parameters))

    def _source_folder(self) -> Path | None:
        """Return the folder to which the ids of records are relative, if they are paths."""
        if self.location == STDIN or not format_named(self.source.format).reads_folders:
            return None
        path = Path(self.location)
        return path.parent if path.is_file() else path

    def _source_name(self) -> str:
        return "standard input" if self.location == STDIN else Path(self.location).resolve().name
