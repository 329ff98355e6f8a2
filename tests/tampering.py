"""Packs made by hand: what no build writes, but what a manifest can vouch for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from wikigr.pack.layout import MANIFEST, Layout
from wikigr.pack.manifest import describe_file, file_path, read_manifest


def accept_changes(pack: Path) -> None:
    """Let the manifest of ``pack`` describe its files as they are now, without those that are gone."""
    manifest = read_manifest(pack / MANIFEST)
    paths = {name: file_path(Layout(pack), name) for name in manifest.files}
    files = {name: describe_file(path) for name, path in paths.items() if path.is_file()}
    (pack / MANIFEST).write_text(replace(manifest, files=files).to_json(), encoding="utf-8")
