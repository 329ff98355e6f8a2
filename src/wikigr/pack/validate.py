"""Check that the parts of a pack agree with each other and with the manifest."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

import numpy as np

from wikigr.checks import Check
from wikigr.errors import ModelError, PackError, WikigrError
from wikigr.graph.engine import QueryError
from wikigr.graph.schema import section_columns
from wikigr.index.quantized import QuantizedVectors
from wikigr.index.stored_blocks import decode_blocks
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import (
    NO_BLOCKS,
    REBUILD,
    Manifest,
    check_file,
    file_path,
    is_pack_file,
    parse_version,
    read_manifest,
)
from wikigr.pack.models import BUNDLED_HINT
from wikigr.pack.open import Pack
from wikigr.reader.prepared import reader_in

# Rows per query: vectors, and articles with the text of all their sections. Every query passes over all offsets.
_VECTORS = 8_000
_ARTICLES = 1_000


def validate_pack(location: str | Path) -> list[Check]:
    """Run all checks on the pack at ``location``; raises ``PackError`` when it cannot be opened.

    The files are compared with the manifest first, so that the engine never opens a damaged database.
    """
    layout = find_pack(location)
    manifest = read_manifest(layout.part(parts.MANIFEST))
    checks = check_files(layout, manifest)
    if all(check.passed for check in checks):
        with Pack(location) as pack:
            checks += check_parts(pack)
            found = "anchor" in section_columns(pack.graph)
            detail = "stored with the sections" if found else "none, so citations open at the top of the page"
            checks.append(Check("anchors", found, detail, REBUILD, required=False))
    known = parse_version(manifest.version) is not None
    detail = manifest.version if known else f"{manifest.version!r} is not a semantic version"
    return [*checks, Check("version", known, detail, "Build the pack again with --pack-version, for example 1.2.0.")]


def check_files(layout: Layout, manifest: Manifest) -> list[Check]:
    """Compare the files of a pack with its manifest; returns one check if all match, else one per mismatch."""
    problems = {
        name: check_file(file_path(layout, name), record) if is_pack_file(name) else "is not a file of a pack"
        for name, record in manifest.files.items()
    }
    for name in (parts.DATABASE, parts.PAGERANK):
        problems.setdefault(name, "is not listed in the manifest")
    return [
        Check(name, False, problem, BUNDLED_HINT if name.startswith(f"{parts.ENCODER}/") else REBUILD)
        for name, problem in problems.items()
        if problem is not None
    ] or [Check("files", True, f"{len(problems)}, unchanged since the build")]


def check_parts(pack: Pack) -> Iterator[Check]:
    """Compare the parts of an open pack with each other and with its manifest; raises ``QueryError``."""
    manifest, graph = pack.manifest, pack.graph
    counted = {
        "articles": "MATCH (a:Article) RETURN count(a)",
        "sections": "MATCH (s:Section) RETURN count(s)",
        "links": "MATCH ()-[r:LINKS_TO]->() RETURN count(r)",
        "mentions": "MATCH ()-[r:MENTIONS]->() RETURN count(r)",
        "entities": "MATCH (e:Entity) RETURN count(e)",
        "triples": "MATCH ()-[r:RELATED_TO]->() RETURN count(r)",
    }
    for name, query in counted.items():
        try:
            found = int(graph.rows(query)[0][0])
        except QueryError as error:
            yield Check(name, False, error.message, REBUILD)
            continue
        wanted = manifest.counts[name]
        yield Check(name, found == wanted, f"{found:,} in the database, {wanted:,} in the manifest", REBUILD)
    sections = int(graph.rows("MATCH (s:Section) RETURN count(s)")[0][0])
    yield Check("lexical index", len(pack.lexical) == sections, f"{len(pack.lexical):,} sections indexed", REBUILD)
    attached = graph.rows(
        "MATCH (a:Article)-[:HAS_SECTION]->(s:Section) WHERE a.title = s.article_title RETURN count(s)"
    )[0][0]
    yield Check("sections of articles", attached == sections, f"{attached:,} of {sections:,} attached", REBUILD)
    yield from _offsets(pack)
    yield from _vectors(pack, sections)
    try:
        identity = pack.encoder.identity
    except WikigrError as error:
        yield Check("encoder", False, error.message, error.hint or "Run `wikigr model prepare`.")
        return
    yield Check("encoder", True, f"{identity.model_id}, {identity.dimension} dimensions")
    if manifest.bundled_encoder:
        yield _bundled_reader(pack)


def _bundled_reader(pack: Pack) -> Check:
    try:
        reader = reader_in(pack.layout.part(parts.ENCODER))
        if reader is None:
            return Check("reader", True, "none, so answers have no short answer")
        reader.verify()
    except ModelError as error:
        return Check("reader", False, error.message, BUNDLED_HINT)
    return Check("reader", True, f"adapter {reader.adapter_sha256[:16]}")


def _offsets(pack: Pack) -> Iterator[Check]:
    """Check where sections are in their articles, and the blocks of their text."""
    wrong = checked = damaged = 0
    blocks = "s.blocks" if pack.manifest.has_blocks else "''"
    articles = int(pack.graph.rows("MATCH (a:Article) RETURN count(a)")[0][0])
    for first in range(0, articles, _ARTICLES):
        page = {"first": first, "last": first + _ARTICLES}
        within = "WHERE offset(id(a)) >= $first AND offset(id(a)) < $last RETURN offset(id(a))"
        # In a query of its own: joined with each of its sections, a long article would exhaust the engine's memory.
        whole = {row[0]: row[1] for row in pack.graph.rows(f"MATCH (a:Article) {within}, a.content", page)}
        columns = f"s.content, s.start_offset, s.end_offset, {blocks}"
        rows = pack.graph.rows(f"MATCH (a:Article)-[:HAS_SECTION]->(s:Section) {within}, {columns}", page)
        checked += len(rows)
        wrong += sum(whole[article][start:end] != part for article, part, start, end, _ in rows)
        damaged += sum(not _are_blocks(part, stored) for _, part, _, _, stored in rows)
    yield Check("offsets", wrong == 0, f"{checked:,} sections checked, {wrong:,} differ from their article", REBUILD)
    if pack.manifest.has_blocks:
        yield Check("blocks", damaged == 0, f"{checked:,} sections checked, {damaged:,} damaged", REBUILD)
    else:
        yield Check("blocks", False, NO_BLOCKS, REBUILD, required=False)


def _are_blocks(text: str, stored: str) -> bool:
    try:
        decode_blocks(text, stored)
    except PackError:
        return False
    return True


def _vectors(pack: Pack, sections: int) -> Iterator[Check]:
    """Check the vectors in the database, and that the quantized ones are made from them."""
    dimension = pack.manifest.encoder.dimension
    quantized = None
    if pack.manifest.has_quantized_vectors:
        try:
            quantized = QuantizedVectors(pack.layout.part(parts.VECTORS), sections, dimension, pack.manifest.digest)
        except PackError as error:
            yield Check("quantized vectors", False, error.message, REBUILD)
    bad = differing = 0
    for first in range(0, sections, _VECTORS):
        # Paged by offset, because sorting would load all vectors into the engine's memory at once. A build stores
        # sections in order, but the engine may reorder those that were copied together, which never span two pages.
        rows = sorted(
            pack.graph.rows(
                "MATCH (s:Section) WHERE offset(id(s)) >= $first AND offset(id(s)) < $last "
                "RETURN s.article_title, s.position, s.section_id, s.embedding",
                {"first": first, "last": first + _VECTORS},
            ),
            key=itemgetter(0, 1),
        )
        vectors = np.asarray([row[3] for row in rows], dtype=np.float32).reshape(-1, dimension)
        # Vectors are stored as float32 with norm 1; encoders that run in bf16 stay well within this tolerance.
        bad += int((~(np.abs(np.linalg.norm(vectors, axis=1) - 1.0) <= 1e-2)).sum())
        if quantized is not None:
            differing += not quantized.holds(first, [row[2] for row in rows], vectors)
    yield Check("vectors", bad == 0, f"{sections:,} of {dimension} dimensions, {bad:,} bad", REBUILD)
    if quantized is not None:
        detail = "differ from the vectors in the database" if differing else "made from the vectors in the database"
        yield Check("quantized vectors", not differing, detail, REBUILD)
