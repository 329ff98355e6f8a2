"""The manifest: what a pack is, what it holds, and what it needs."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.errors import PackError
from wikigr.graph.schema import FORMAT_VERSION
from wikigr.pack import layout

# What travels with a pack beside its parts, where a pack has it: worked examples and gold questions.
EXTRAS = ("few_shot_examples.json", "eval/questions.jsonl")
# Plain names only: they mean one file on every system, whatever its case and Unicode form.
_PLAIN_NAME = re.compile(r"(?!\.)[A-Za-z0-9._-]+(?:/(?!\.)[A-Za-z0-9._-]+)*")
# The longest name that a tar header holds.
_MAX_NAME_LENGTH = 100

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

    ``digest`` is the SHA-256 of the content in canonical order (see ``pack.digest``).
    ``files`` holds every other file of the pack by its path in it. ``created`` is an ISO 8601 time in UTC.
    ``thresholds`` holds calibrated figures by name; ``calibration`` says what the fitted one was fitted on.
    ``extraction`` says which ``model`` read entities and relations from the text, with which ``prompt``, and how many
    ``sections`` it read and ``failed`` to; it is empty for a pack of which no model read anything.
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
    calibration: Mapping[str, str] = field(default_factory=dict)
    extraction: Mapping[str, str | int] = field(default_factory=dict)

    def to_json(self) -> str:
        fields = asdict(self)
        for name in ("calibration", "extraction"):
            if not fields[name]:
                del fields[name]
        return json.dumps(fields, ensure_ascii=False, indent=2) + "\n"


def is_pack_file(name: str) -> bool:
    """Tell whether ``name``, a path with slashes, may be a file of a pack beside its manifest."""
    if not _PLAIN_NAME.fullmatch(name) or len(name) > _MAX_NAME_LENGTH:
        return False
    first, _, rest = name.partition("/")
    if first in (layout.LEXICAL, layout.ENCODER):
        return bool(rest)
    return name in EXTRAS or (name in layout.PARTS and name != layout.MANIFEST)


def file_path(pack: layout.Layout, name: str) -> Path:
    """Return where the file ``name`` of a manifest is now; the path need not exist."""
    first, *rest = name.split("/")
    return (pack.part(first) if first in layout.PARTS else pack.root / first).joinpath(*rest)


def describe_files(folder: Path) -> dict[str, FileRecord]:
    """Return the record of every file below ``folder``, by relative path, in order."""
    return {
        path.relative_to(folder).as_posix(): describe_file(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def describe_file(path: Path) -> FileRecord:
    """Return the record of one file."""
    return FileRecord(path.stat().st_size, file_sha256(path))


def check_file(path: Path, record: FileRecord) -> str | None:
    """Return what is wrong with a file of a pack, or ``None``."""
    if not path.is_file():
        return "is missing"
    if path.stat().st_size != record.size:
        return f"has {path.stat().st_size:,} bytes instead of {record.size:,}"
    return None if file_sha256(path) == record.sha256 else "has changed since it was built"


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_manifest(path: Path) -> Manifest:
    """Read and check a manifest; raises ``PackError`` for a damaged one or one of another format."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PackError(f"The manifest {path} cannot be read: {error}.", hint=_REBUILD) from error
    return parse_manifest(content, f"The manifest {path}")


def parse_manifest(content: bytes, called: str = "The manifest") -> Manifest:
    """Return the manifest in ``content``; ``called`` begins the messages.

    Raises ``PackError`` for what is no manifest, is of another format, or holds what no build writes: names given
    twice, sizes below zero, hashes that are none, figures without end.
    """
    try:
        fields: Any = json.loads(
            content.decode("utf-8"), object_pairs_hook=_without_twins, parse_constant=_refuse_constant
        )
        if b"\\u" in content:
            json.dumps(fields, ensure_ascii=False).encode("utf-8")  # half a surrogate pair is no text
    except (ValueError, RecursionError) as error:
        raise PackError(f"{called} cannot be read: {error}.", hint=_REBUILD) from error
    if not isinstance(fields, dict) or "format_version" not in fields:
        raise PackError(f"{called} is no manifest of a wikigr pack.", hint=_REBUILD)
    if fields["format_version"] != FORMAT_VERSION:
        raise PackError(
            f"{called} has format {_short(fields['format_version'])}; this wikigr reads format {FORMAT_VERSION}.",
            hint="Build the pack again with this version, or use the wikigr that made it "
            f"({_short(fields.get('wikigr_version', 'unknown'))}).",
        )
    # pydantic would check this in a line, and cost every question 40 ms.
    try:
        return Manifest(
            **{name: _typed(fields, name, str) for name in _STRINGS},
            **{name: _typed(fields, name, bool) for name in ("vector_index", "bundled_encoder")},
            digest=_sha256_in(fields, "digest"),
            storage_version=_natural(fields, "storage_version"),
            source={"name": "", "format": "", **_typed_map(fields, "source", _text)},
            counts={**dict.fromkeys(_COUNTS, 0), **_typed_map(fields, "counts", _natural)},
            thresholds=_typed_map(fields, "thresholds", _finite),
            calibration=_typed_map(fields, "calibration", _text) if "calibration" in fields else {},
            extraction=_typed_map(fields, "extraction", _text_or_count) if "extraction" in fields else {},
            encoder=EncoderIdentity(
                model_id=_typed(fields["encoder"], "model_id", str),
                dimension=_natural(fields["encoder"], "dimension"),
                weights_sha256=_typed(fields["encoder"], "weights_sha256", str),
            ),
            files=_typed_map(fields, "files", _record),
        )
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise PackError(f"{called} lacks or garbles a field: {error}.", hint=_REBUILD) from error


_REBUILD = "Build the pack again with `wikigr pack build`."
_STRINGS = (
    "name", "version", "description", "license", "created", "engine", "engine_version", "wikigr_version",
)  # fmt: skip
_COUNTS = ("articles", "sections", "links", "mentions", "aliases", "entities", "triples")
_SHA256 = re.compile(r"[0-9a-f]{64}")
# Of a file of 2^63 bytes and more no file system has heard.
_LARGEST = (1 << 63) - 1


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Two readers of a name that is given twice may see two manifests."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("it gives a name twice")
    return fields


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no figure")


def _short(value: Any) -> str:
    """Return a value of a stranger's manifest as it may stand in a message."""
    shown = value if isinstance(value, str) and value.isprintable() else repr(value)
    return shown if len(shown) <= _MAX_SHOWN_LENGTH else f"{shown[:_MAX_SHOWN_LENGTH]}…"


_MAX_SHOWN_LENGTH = 80


def _typed(fields: Any, name: str, kind: type) -> Any:
    value = fields[name]
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{_short(name)} is {_short(value)}, which is no {kind.__name__}")
    return value


def _text(fields: Any, name: str) -> str:
    return str(_typed(fields, name, str))


def _natural(fields: Any, name: str) -> int:
    value: int = _typed(fields, name, int)
    if not 0 <= value <= _LARGEST:
        raise ValueError(f"{_short(name)} is {_short(value)}, which counts nothing")
    return value


def _text_or_count(fields: Any, name: str) -> str | int:
    return _text(fields, name) if isinstance(fields[name], str) else _natural(fields, name)


def _finite(fields: Any, name: str) -> float:
    value: float = _typed(fields, name, float)
    if not math.isfinite(value):
        raise ValueError(f"{_short(name)} is {value}, which is no figure")
    return value


def _sha256_in(fields: Any, name: str) -> str:
    value: str = _typed(fields, name, str)
    if not _SHA256.fullmatch(value):
        raise ValueError(f"{_short(name)} is {_short(value)}, which is no SHA-256")
    return value


def _record(fields: Any, name: str) -> FileRecord:
    record = _typed(fields, name, dict)
    return FileRecord(_natural(record, "size"), _sha256_in(record, "sha256"))


def _typed_map(fields: Any, name: str, read: Callable[[Any, str], Any]) -> dict[str, Any]:
    values = _typed(fields, name, dict)
    return {key: read(values, key) for key in values}
