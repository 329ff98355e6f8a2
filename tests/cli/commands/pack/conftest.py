"""What the tests of ``wikigr pack`` share."""

from __future__ import annotations

import json
import shutil
from pathlib import Path


def change_manifest(pack: Path, copy: Path, field: str, value: object) -> Path:
    """Copy a pack and set one field of its manifest."""
    shutil.copytree(pack, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest[field] = value
    (copy / "manifest.json").write_text(json.dumps(manifest))
    return copy
