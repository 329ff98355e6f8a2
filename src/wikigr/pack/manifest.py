"""The manifest: what a pack is, what it holds, and what it needs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.errors import PackError
from wikigr.graph.schema import FORMAT_VERSION

# Names of thresholds: the least cosine of a section that counts as relevant.
MIN_RELEVANCE = "min_relevance"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file of a pack: its ``size`` in bytes and its SHA-256."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of ``manifest.json``.

    ``digest`` is the SHA-256 of the content in canonical order (see ``build.loading.content_digest``).
    ``files`` holds every other file of the pack by its path in it. ``created`` is an ISO 8601 time in UTC.
    ``thresholds`` holds calibrated figures by name.
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
    files: Mapping[str, FileRecord]
    vector_index: bool
    bundled_encoder: bool
    wikigr_version: str
    thresholds: Mapping[str, float] = field(default_factory=dict)
    format_version: int = FORMAT_VERSION

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"


def describe_files(folder: Path) -> dict[str, FileRecord]:
    """Return the record of every file below ``folder``, by relative path, in order."""
    return {
        path.relative_to(folder).as_posix(): describe_file(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def describe_file(path: Path) -> FileRecord:
    """Return the record of one file."""
    return FileRecord(path.stat().st_size, _sha256(path))


def check_file(path: Path, record: FileRecord) -> str | None:
    """Return what is wrong with a file of a pack, or ``None``."""
    if not path.is_file():
        return "is missing"
    if path.stat().st_size != record.size:
        return f"has {path.stat().st_size:,} bytes instead of {record.size:,}"
    return None if _sha256(path) == record.sha256 else "has changed since it was built"


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_manifest(path: Path) -> Manifest:
    """Read and check a manifest; raises ``PackError`` for a damaged one or one of another format."""
    rebuild = "Build the pack again with `wikigr pack build`."
    try:
        fields: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
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
    # pydantic would check this in a line, and cost every question 40 ms.
    try:
        return Manifest(
            **{name: _typed(fields, name, str) for name in _STRINGS},
            **{name: _typed(fields, name, bool) for name in ("vector_index", "bundled_encoder")},
            storage_version=_typed(fields, "storage_version", int),
            source=_typed_map(fields, "source", str),
            counts={**dict.fromkeys(_COUNTS, 0), **_typed_map(fields, "counts", int)},
            thresholds=_typed_map(fields, "thresholds", float),
            encoder=EncoderIdentity(
                model_id=_typed(fields["encoder"], "model_id", str),
                dimension=_typed(fields["encoder"], "dimension", int),
                weights_sha256=_typed(fields["encoder"], "weights_sha256", str),
            ),
            files={
                name: FileRecord(_typed(record, "size", int), _typed(record, "sha256", str))
                for name, record in _typed_map(fields, "files", dict).items()
            },
        )
    except (KeyError, TypeError) as error:
        raise PackError(f"The manifest {path} lacks or garbles a field: {error}.", hint=rebuild) from error


_STRINGS = (
    "name", "version", "description", "license", "created", "engine", "engine_version", "digest", "wikigr_version",
)  # fmt: skip
_COUNTS = ("articles", "sections", "links", "mentions", "aliases", "entities", "triples")


def _typed(fields: Any, name: str, kind: type) -> Any:
    value = fields[name]
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{name} is {value!r}, which is no {kind.__name__}")
    return value


def _typed_map(fields: Any, name: str, kind: type) -> dict[str, Any]:
    values = _typed(fields, name, dict)
    return {key: _typed(values, key, kind) for key in values}
