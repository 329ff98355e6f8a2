"""The manifest of a pack: its identity, contents, requirements and files, which are compared with it before use."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.errors import PackError, UsageError
from wikigr.files import explain_json_error, open_regular, read_regular, write_atomic
from wikigr.graph.schema import FORMAT_VERSION, READABLE_FORMATS
from wikigr.languages import ENGLISH, language_of
from wikigr.pack import layout
from wikigr.pack.layout import Layout, read_object
from wikigr.settings import cache_folder
from wikigr.text import one_line

if TYPE_CHECKING:
    import semver

# Optional files that are exported with a pack in addition to its parts: worked examples and gold questions.
EXAMPLES = "few_shot_examples.json"
QUESTIONS = "eval/questions.jsonl"
EXTRAS = (EXAMPLES, QUESTIONS)
# `ask` encodes the questions of all examples, at about a thousand per second, before it sends the first request.
MAX_EXAMPLES = 2_000
MAX_EXTRA_BYTES = 16 << 20
# The limit for a manifest, which is read as a whole. One that lists 10,000 files has 1.5 MB.
MAX_MANIFEST_BYTES = 16 << 20
# How to fix a damaged pack.
REBUILD = "Build the pack again with `wikigr pack build`."
# What a pack of format 1 lacks.
NO_BLOCKS = "none, so tables, lists and code are read as running text"

# The questions to begin with that a manifest holds, and the characters of each.
MAX_STARTERS = 3
MAX_STARTER_CHARS = 160

# Name of a threshold: the minimum cosine similarity of a relevant section.
MIN_RELEVANCE = "min_relevance"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """The ``size`` (bytes) and SHA-256 (hexadecimal) of a file of a pack."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of ``manifest.json``.

    ``digest`` is the SHA-256 of the content in canonical order (see ``pack.digest``). ``files`` maps the relative path
    of every other file to its record. ``created`` is an ISO 8601 time in UTC. ``thresholds`` maps names to calibrated
    values; ``calibration`` describes the data of the calibration. ``extraction`` is empty unless a model extracted
    entities and relations; then it holds the ``model``, the ``prompt``, and how many ``sections`` were processed and
    ``failed``. ``language`` is the ISO 639 code of the language that the text is indexed and searched in.
    ``attribution`` names whom the license requires to name. ``source`` has the ``name`` and ``format`` of
    the source, and for a pack made from a recipe also where it comes from. ``anchors`` says whether sections have the
    column ``anchor``. ``starters`` are questions to begin with, which the pack answers and is sure of.
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
    language: str = ENGLISH.code
    attribution: str = ""
    anchors: bool = False
    starters: tuple[str, ...] = ()

    @property
    def has_blocks(self) -> bool:
        """Whether sections have the column ``blocks``, which format 1 does not have."""
        return self.format_version > 1

    @property
    def has_quantized_vectors(self) -> bool:
        """Whether the pack has the folder ``vectors/``."""
        return any(name.startswith(f"{layout.VECTORS}/") for name in self.files)

    def to_json(self) -> str:
        fields = asdict(self)
        for name in ("calibration", "extraction", "attribution", "anchors", "starters"):
            if not fields[name]:
                del fields[name]
        if self.language == ENGLISH.code:
            del fields["language"]
        return json.dumps(fields, ensure_ascii=False, indent=2) + "\n"


def is_pack_file(name: str) -> bool:
    """Return whether ``name``, a relative path with slashes, is a valid file of a pack other than its manifest."""
    # ASCII only, so that a name denotes the same file on every system; a tar header has room for 100 characters.
    if len(name) > 100 or not re.fullmatch(r"(?!\.)[A-Za-z0-9._-]+(?:/(?!\.)[A-Za-z0-9._-]+)*", name):
        return False
    first, _, rest = name.partition("/")
    if first in (layout.LEXICAL, layout.VECTORS, layout.ENCODER):
        return bool(rest)
    return name in EXTRAS or (name in layout.PARTS and name != layout.MANIFEST)


def file_path(pack: layout.Layout, name: str) -> Path:
    """Return the current path of the file ``name`` of a manifest; it may not exist."""
    first, *rest = name.split("/")
    return (pack.part(first) if first in layout.PARTS else pack.root / first).joinpath(*rest)


def parse_version(version: str) -> semver.Version | None:
    """Return the parsed ``version``, or ``None`` when it is not a semantic version (semver.org)."""
    import semver

    # semver 3.0 accepts a trailing newline and digits outside ASCII, and int() refuses thousands of digits.
    if len(version) > 256 or not (version.isascii() and version.isprintable()):
        return None
    try:
        return semver.Version.parse(version)
    except ValueError:
        return None


def is_lower_version(version: str, other: str) -> bool:
    """Return whether ``version`` precedes ``other``.

    A version that is not semantic precedes every other one, because it cannot be shown to be newer.
    """
    one, two = parse_version(version), parse_version(other)
    return one is None or (two is not None and one < two)


def describe_files(folder: Path) -> dict[str, FileRecord]:
    """Return the record of every file below ``folder``, keyed and sorted by relative path; hidden files are skipped."""
    return {
        path.relative_to(folder).as_posix(): describe_file(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def describe_file(path: Path) -> FileRecord:
    """Return the record of one file."""
    return FileRecord(path.stat().st_size, file_sha256(path))


def check_file(path: Path, record: FileRecord) -> str | None:
    """Return how a file of a pack differs from its record, or ``None`` if it matches."""
    if not path.is_file():
        return "is missing"
    if path.stat().st_size != record.size:
        return f"has {path.stat().st_size:,} bytes instead of {record.size:,}"
    return None if file_sha256(path) == record.sha256 else "has changed since it was built"


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with open_regular(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_manifest(path: Path) -> Manifest:
    """Read and check a manifest; raises ``PackError`` when it is damaged or has another format."""
    try:
        content = read_regular(path, MAX_MANIFEST_BYTES)
    except OSError as error:
        raise PackError(f"Cannot read the manifest {path}: {error.strerror or error}.", hint=REBUILD) from error
    except ValueError as error:
        raise PackError(f"Cannot read the manifest: {error}.", hint=REBUILD) from error
    return parse_manifest(content, f"The manifest {path}")


def parse_manifest(content: bytes, label: str = "The manifest") -> Manifest:
    """Parse and check a manifest; error messages begin with ``label``.

    Raises ``PackError`` when ``content`` is not a manifest, has another format, or contains values that no build
    writes: duplicate keys, negative sizes, malformed hashes, numbers that are not finite.
    """
    try:
        fields: Any = json.loads(
            content.decode("utf-8"), object_pairs_hook=_refuse_duplicates, parse_constant=_refuse_constant
        )
        if b"\\u" in content:
            json.dumps(fields, ensure_ascii=False).encode("utf-8")  # refuse unpaired surrogates
    except (ValueError, RecursionError) as error:
        raise PackError(f"{label} is not valid: {explain_json_error(error)}.", hint=REBUILD) from error
    if not isinstance(fields, dict) or "format_version" not in fields:
        raise PackError(f"{label} is not the manifest of a wikigr pack.", hint=REBUILD)
    if type(fields["format_version"]) is not int or fields["format_version"] not in READABLE_FORMATS:
        raise PackError(
            f"{label} has format {_short(fields['format_version'])}; this wikigr reads the formats "
            f"{' and '.join(map(str, READABLE_FORMATS))}.",
            hint="Build the pack again with this version, or use the wikigr version that built it "
            f"({_short(fields.get('wikigr_version', 'unknown'))}).",
        )
    found = {}
    for name, read in _FIELDS.items():
        if name in fields or name not in _OPTIONAL:
            try:
                found[name] = read(fields[name])
            except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
                detail = f" ({error})" if name in fields else ""
                raise PackError(f"{label} has a missing or malformed field: {name!r}{detail}.", hint=REBUILD) from error
    return Manifest(**found)


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; with a duplicate key, two JSON parsers could read two different manifests."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("it has a duplicate key")
    return fields


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _short(value: Any) -> str:
    """Return a value of an untrusted manifest in a form that is safe to print, at most 80 characters of it."""
    text = value if isinstance(value, str) and value.isprintable() else repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


# -- checks of single values, which raise KeyError, TypeError, ValueError or OverflowError


def _typed(value: Any, kind: type) -> Any:
    """Return ``value``, which JSON gives exactly the type ``kind``; a whole number may stand for a float."""
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise TypeError(f"{_short(value)} is not of type {kind.__name__}")
    return value


def _text(value: Any) -> str:
    return one_line(str(_typed(value, str)))


def _flag(value: Any) -> bool:
    return bool(_typed(value, bool))


def _natural(value: Any) -> int:
    # The largest file size that file systems support is below 2^63.
    if not 0 <= _typed(value, int) < 1 << 63:
        raise ValueError(f"{_short(value)} is out of range")
    return int(value)


def _finite(value: Any) -> float:
    number = float(_typed(value, float))
    if not math.isfinite(number):
        raise ValueError(f"{number} is not finite")
    return number


def _sha256(value: Any) -> str:
    if not re.fullmatch(r"[0-9a-f]{64}", _text(value)):
        raise ValueError(f"{_short(value)} is not a SHA-256")
    return str(value)


def _language(value: Any) -> str:
    try:
        return language_of(_text(value)).code
    except UsageError as error:
        raise ValueError(f"{_short(value)} is not the code of a language") from error


def _map_of(read: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    return lambda value: {key: read(each) for key, each in _typed(value, dict).items()}


def _encoder(value: Any) -> EncoderIdentity:
    model = _text(_typed(value, dict)["model_id"])
    # An id of a model hub, or ``local/`` with the name of a folder; never a path, because commands with it are advised.
    if not (model.isprintable() and re.fullmatch(r"[^/\\~.-][^/\\]{0,199}(?:/[^/\\.][^/\\]{0,199})?", model)):
        raise ValueError(f"{_short(model)!r}, which is no id of a model")
    return EncoderIdentity(model, _natural(value["dimension"]), _text(value["weights_sha256"]))


def _record(value: Any) -> FileRecord:
    return FileRecord(_natural(_typed(value, dict)["size"]), _sha256(value["sha256"]))


def _starters(value: Any) -> tuple[str, ...]:
    found = tuple(map(_text, _typed(value, list)))
    if len(found) > MAX_STARTERS or any(len(text) > MAX_STARTER_CHARS or not text.isprintable() for text in found):
        raise ValueError(f"it must hold at most {MAX_STARTERS} questions of {MAX_STARTER_CHARS} characters on one line")
    return found


_COUNTS = ("articles", "sections", "links", "mentions", "aliases", "entities", "triples")
# How each field is checked. By hand, because every question reads a manifest before anything else, and importing
# pydantic would add 40 ms.
_FIELDS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(
        ("name", "version", "description", "license", "created", "engine", "engine_version", "wikigr_version"), _text
    ),
    "format_version": _natural,
    "storage_version": _natural,
    "digest": _sha256,
    "source": lambda value: {"name": "", "format": "", **_map_of(_text)(value)},
    "counts": lambda value: {**dict.fromkeys(_COUNTS, 0), **_map_of(_natural)(value)},
    "encoder": _encoder,
    "files": _map_of(_record),
    "vector_index": _flag,
    "bundled_encoder": _flag,
    "thresholds": _map_of(_finite),
    "calibration": _map_of(_text),
    "extraction": _map_of(lambda value: _text(value) if isinstance(value, str) else _natural(value)),
    "language": _language,
    "attribution": _text,
    "anchors": _flag,
    "starters": _starters,
}
_OPTIONAL = frozenset({"calibration", "extraction", "language", "attribution", "anchors", "starters"})


def read_extra(path: Path) -> bytes:
    """Return the content of a file of examples or questions.

    Raises ``OSError``, and ``ValueError`` when it has more than ``MAX_EXTRA_BYTES``.
    """
    return read_regular(path, MAX_EXTRA_BYTES)


def check_example_count(path: Path, count: int) -> None:
    """Raise ``ValueError`` for more than ``MAX_EXAMPLES`` worked examples."""
    if count > MAX_EXAMPLES:
        raise ValueError(f"{path} has {count:,} examples, more than the limit of {MAX_EXAMPLES:,}")


def damaged_files(layout: Layout, manifest: Manifest) -> dict[str, str]:
    """Return what is wrong with each file that is missing or differs from its record in the manifest, by name.

    A file that has not changed since it was last compared (size, times of modification and status change, inode)
    is not read again; where the cache cannot be written, all files are read every time, at about 1 GB a second.
    """
    place = hashlib.sha256(os.fsencode(os.path.realpath(layout.root))).hexdigest()
    memory = cache_folder() / "checked" / f"{place}.json"
    known = read_object(memory)
    found, damaged = {}, {}
    for name, record in manifest.files.items():
        path = file_path(layout, name)
        state = _state(path, record.sha256)
        problem = None if state is not None and known.get(name) == state else check_file(path, record)
        if problem is None:
            found[name] = state
        else:
            damaged[name] = problem
    if found != known:
        # Without the cache, the files are compared again.
        with suppress(OSError):
            memory.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(memory, json.dumps(found))
    return damaged


def _state(path: Path, sha256: str) -> list[Any] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, sha256]
