"""Packs as they were built before sections had the column ``anchor``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.graph.engine import Graph
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.layout import DATABASE, MANIFEST
from wikigr.pack.manifest import describe_file, read_manifest
from wikigr.sources.detect import open_source


def build_without_anchors(source: Path, pack: Path, encoder: Embedder) -> Path:
    """Build a pack of the Markdown in ``source``; its digest is that of sections without anchors."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wikigr.sources.markdown.source.slug_anchors", lambda: lambda heading: "")
        build_pack(open_source(source), str(source), pack, encoder, BuildOptions(name="p"))
    with Graph(pack / DATABASE, read_only=False) as graph:
        graph.execute("ALTER TABLE Section DROP anchor")
    manifest = read_manifest(pack / MANIFEST)
    files = {**manifest.files, DATABASE: describe_file(pack / DATABASE)}
    (pack / MANIFEST).write_text(replace(manifest, files=files, anchors=False).to_json(), encoding="utf-8")
    return pack
