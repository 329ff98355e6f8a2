"""Compute the PageRank of a pack and store it in the pack's own cache or in another file."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from wikigr.errors import PackError
from wikigr.graph.link_graph import rank_articles, read_links
from wikigr.graph.pagerank_cache import (
    PageRankCache,
    Parameters,
    read_cache,
    read_pack_cache,
    write_cache,
)
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import check_file, describe_file, read_manifest
from wikigr.pack.open import Pack


@dataclass(frozen=True, slots=True)
class RankedPack:
    """The result of ``build_cache``; ``written`` is false when the file was already up to date."""

    file: Path
    articles: int
    links: int
    written: bool


def build_cache(
    location: str | Path,
    parameters: Parameters,
    *,
    output: Path | None = None,
    force: bool = False,
) -> RankedPack:
    """Write the PageRank of a pack to its own cache, or to ``output``, unless the file is already up to date.

    The file is replaced atomically, together with its record in the manifest if it is the pack's own cache. Raises
    ``PackError``, ``BuildError`` when the pack cannot be written or is being built, ``UsageError`` for the own cache of
    an installed pack, and ``OSError`` when ``output`` cannot be written.
    """
    layout = find_pack(location)
    manifest = read_manifest(layout.part(parts.MANIFEST))
    own = layout.part(parts.PAGERANK)
    if output is not None and output.resolve() == own.resolve():
        output = None
    if not force:
        with suppress(PackError):
            cache = _stored(layout) if output is None else read_cache(output)
            if cache.fresh(manifest.digest, parameters):
                return RankedPack(output or own, manifest.counts["articles"], manifest.counts["links"], written=False)
    if output is not None:
        cache, links = _compute(location, parameters)
        write_cache(output, cache)
        return RankedPack(output, manifest.counts["articles"], links, written=True)
    with layout.building([parts.PAGERANK, parts.MANIFEST]):
        cache, links = _compute(location, parameters)
        _replace_own(layout, cache)
    return RankedPack(layout.part(parts.PAGERANK), manifest.counts["articles"], links, written=True)


def _compute(location: str | Path, parameters: Parameters) -> tuple[PageRankCache, int]:
    """Return the PageRank of the pack at ``location``, and the number of links."""
    with Pack(location) as pack:
        links = read_links(pack.graph)
    return PageRankCache(rank_articles(links, parameters), pack.manifest.digest, parameters), len(links.sources)


def _stored(layout: Layout) -> PageRankCache:
    """Return the pack's own cache; raises ``PackError`` when it is damaged or belongs to other content."""
    with layout.reading():
        manifest = read_manifest(layout.part(parts.MANIFEST))
        path, record = layout.part(parts.PAGERANK), manifest.files.get(parts.PAGERANK)
        problem = check_file(path, record) if record else None
        damage = f"{parts.PAGERANK} {problem}" if problem else ""
        return read_pack_cache(path, manifest.digest, manifest.counts, damage)


def _replace_own(layout: Layout, cache: PageRankCache) -> None:
    manifest = read_manifest(layout.part(parts.MANIFEST))
    if manifest.digest != cache.digest:
        raise PackError(f"The pack {layout.root} changed while its PageRank was computed.", hint="Run it again.")
    layout.clear_new()
    write_cache(layout.new / parts.PAGERANK, cache)
    files = {**manifest.files, parts.PAGERANK: describe_file(layout.new / parts.PAGERANK)}
    (layout.new / parts.MANIFEST).write_text(replace(manifest, files=files).to_json(), encoding="utf-8")
    layout.replace_parts()
