"""Packs as they were built before sections had the columns ``anchor`` and ``blocks``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.graph.engine import Graph
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.digest import database_digest
from wikigr.pack.layout import DATABASE, MANIFEST
from wikigr.pack.manifest import describe_file, read_manifest
from wikigr.sources.detect import open_source


def build_without_anchors(source: Path, pack: Path, encoder: Embedder) -> Path:
    """Build a pack of the Markdown in ``source``; its digest is that of sections without anchors and blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wikigr.sources.markdown.source.slug_anchors", lambda: lambda heading: "")
        return build_without_blocks(source, pack, encoder, "anchor")


def build_without_blocks(source: Path, pack: Path, encoder: Embedder, *lacking: str) -> Path:
    """Build a pack of format 1, whose sections are also ``lacking`` other columns, which are empty."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wikigr.ingest.chunking.encode_blocks", lambda text, blocks: "")
        build_pack(open_source(source), str(source), pack, encoder, BuildOptions(name="p"))
    with Graph(pack / DATABASE, read_only=False) as graph:
        for column in ("blocks", *lacking):
            graph.execute(f"ALTER TABLE Section DROP {column}")
    manifest = read_manifest(pack / MANIFEST)
    with Graph(pack / DATABASE) as graph:
        digest = database_digest(graph, manifest.encoder)
    files = {**manifest.files, DATABASE: describe_file(pack / DATABASE)}
    older = replace(manifest, files=files, format_version=1, digest=digest, anchors="anchor" not in lacking)
    (pack / MANIFEST).write_text(older.to_json(), encoding="utf-8")
    return pack
