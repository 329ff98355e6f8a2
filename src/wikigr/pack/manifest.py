"""The manifest: what a pack is, what it holds, and what it needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.errors import PackError
from wikigr.graph.schema import FORMAT_VERSION


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of ``manifest.json``.

    ``digest`` is the SHA-256 of the content in canonical order (see ``build.loading.content_digest``).
    ``created`` is an ISO 8601 time in UTC. ``thresholds`` holds calibrated figures by name.
    """

    name: str
    version: str
    description: str
    license: str
    created: str
    source: Mapping[str, str]
    counts: Mapping[str, int]
    encoder: EncoderIdentity
    engine: str
    engine_version: str
    storage_version: int
    digest: str
    vector_index: bool
    bundled_encoder: bool
    wikigr_version: str
    thresholds: Mapping[str, float] = field(default_factory=dict)
    format_version: int = FORMAT_VERSION

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"


def read_manifest(path: Path) -> Manifest:
    """Read and check a manifest; raises ``PackError`` for a damaged one or one of another format."""
    rebuild = "Build the pack again with `wikigr pack build`."
    try:
        fields: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise PackError(f"The manifest {path} cannot be read: {error}.", hint=rebuild) from error
    if not isinstance(fields, dict) or "format_version" not in fields:
        raise PackError(f"{path} is no manifest of a wikigr pack.", hint=rebuild)
    if fields["format_version"] != FORMAT_VERSION:
        raise PackError(
            f"The pack at {path.parent} has format {fields['format_version']}; this wikigr reads format "
            f"{FORMAT_VERSION}.",
            hint="Build the pack again with this version, or use the wikigr that made it "
            f"({fields.get('wikigr_version', 'unknown')}).",
        )
    known = set(Manifest.__dataclass_fields__)
    try:
        identity = EncoderIdentity(**fields["encoder"])
        return Manifest(**{k: v for k, v in fields.items() if k in known and k != "encoder"}, encoder=identity)
    except (KeyError, TypeError) as error:
        raise PackError(f"The manifest {path} lacks or misnames a field: {error}.", hint=rebuild) from error
