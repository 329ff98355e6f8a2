"""Packs that no build writes: made by hand, with a manifest that vouches for them, or damaged."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from wikigr.pack.layout import MANIFEST, Layout
from wikigr.pack.manifest import describe_file, file_path, read_manifest

_BLOCK = 4096


def accept_changes(pack: Path) -> None:
    """Let the manifest of ``pack`` describe its files as they are now, without those that are gone."""
    manifest = read_manifest(pack / MANIFEST)
    paths = {name: file_path(Layout(pack), name) for name in manifest.files}
    files = {name: describe_file(path) for name, path in paths.items() if path.is_file()}
    (pack / MANIFEST).write_text(replace(manifest, files=files).to_json(), encoding="utf-8")


def damage(path: Path, rng: random.Random) -> None:
    """Change or zero bytes of a file, cut it, or swap two of its blocks; the file differs afterwards."""
    before = path.read_bytes()
    data = bytearray(before)
    while bytes(data) == before:
        kind = rng.choice(("bytes", "zeros", "cut", "swap"))
        one, other = rng.randrange(len(data)), rng.randrange(len(data))
        if kind == "bytes":
            for _ in range(rng.choice((1, 16, 400, len(data) // 4))):
                data[rng.randrange(len(data))] = rng.randrange(256)
        elif kind == "zeros":
            data[one : one + _BLOCK] = bytes(len(data[one : one + _BLOCK]))
        elif kind == "cut":
            del data[one:]
        else:
            size = min(_BLOCK, len(data) - one, len(data) - other)
            data[one : one + size], data[other : other + size] = data[other : other + size], data[one : one + size]
    path.write_bytes(data)
