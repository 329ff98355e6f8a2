"""Prepared encoders: the format of their folder, and its checks.

The folder contains a graph, its weights and its tokenizer. It is self-contained, so a pack can include it as
``encoder/``. ``encoder.json`` lists the other files with their sizes and digests. Opening compares only the sizes,
because hashing the weights would take longer than a query; ``verify`` compares the digests.

Every graph has the inputs ``input_ids`` and ``attention_mask``, int32 ``[batch, tokens]`` with 1 for a token and 0 for
padding on the right, and the output ``embedding``, float32 ``[batch, dimension]`` with rows of L2 norm 1.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.errors import ModelError

FORMAT_VERSION = 1
DESCRIPTION = "encoder.json"
GRAPH = "model.onnx"
GRAPH_DATA = "model.onnx.data"
TOKENIZER = "tokenizer.json"
PREPARE_HINT = "wikigr model prepare"

INPUT_IDS = "input_ids"
ATTENTION_MASK = "attention_mask"
EMBEDDING = "embedding"

_MAX_DESCRIPTION_BYTES = 64 * 1024
_REQUIRED = frozenset({GRAPH, TOKENIZER})
_ALLOWED = _REQUIRED | {GRAPH_DATA}


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A file of a prepared encoder: ``size`` in bytes, ``sha256`` as a hex digest."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """An encoder that is ready to run. ``max_tokens`` is the length of its window, including special tokens."""

    folder: Path
    identity: EncoderIdentity
    max_tokens: int
    files: tuple[PreparedFile, ...]

    @property
    def graph(self) -> Path:
        return self.folder / GRAPH

    @property
    def tokenizer(self) -> Path:
        return self.folder / TOKENIZER

    @classmethod
    def from_folder(cls, folder: Path | str) -> PreparedModel:
        """Open ``folder`` and check that every file exists and has its recorded size.

        Raises ``ModelError`` if the folder is missing, incomplete or damaged, or has another format version.
        """
        folder = Path(folder)
        model = cls._from_json(folder, _read_description(folder))
        for file in model.files:
            _check_size(folder, file)
        return model

    @classmethod
    def _from_json(cls, folder: Path, described: Mapping[str, Any]) -> PreparedModel:
        version = described.get("format_version")
        if version != FORMAT_VERSION:
            raise ModelError(
                f"The prepared encoder in {folder} has format version {version!r}, but this version of wikigr supports "
                f"version {FORMAT_VERSION}.",
                hint=PREPARE_HINT,
            )
        try:
            files = tuple(
                PreparedFile(str(name), _positive(entry["size"]), _digest(entry["sha256"]))
                for name, entry in sorted(described["files"].items())
            )
            identity = EncoderIdentity(
                model_id=_text(described["model_id"]),
                dimension=_positive(described["dimension"]),
                weights_sha256=_digest(described["weights_sha256"]),
            )
            max_tokens = _positive(described["max_tokens"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _damaged(folder, f"{DESCRIPTION} is malformed ({error!r})") from error
        names = {file.name for file in files}
        if not _REQUIRED <= names <= _ALLOWED:
            raise _damaged(folder, f"{DESCRIPTION} lists the files {sorted(names)}")
        return cls(folder, identity, max_tokens, files)

    def verify(self) -> None:
        """Compare every file with its recorded digest; raises ``ModelError`` for the first that differs."""
        for file in self.files:
            if sha256_of(self.folder / file.name) != file.sha256:
                raise _damaged(self.folder, f"{file.name} does not have its recorded sha256")

    def describe(self) -> str:
        """Return the content of ``encoder.json``."""
        return (
            json.dumps(
                {
                    "format_version": FORMAT_VERSION,
                    "model_id": self.identity.model_id,
                    "dimension": self.identity.dimension,
                    "weights_sha256": self.identity.weights_sha256,
                    "max_tokens": self.max_tokens,
                    "files": {file.name: {"size": file.size, "sha256": file.sha256} for file in self.files},
                },
                indent=2,
            )
            + "\n"
        )


def open_if_valid(folder: Path) -> PreparedModel | None:
    """Return the prepared encoder in ``folder``, or ``None`` if it is missing or damaged."""
    try:
        return PreparedModel.from_folder(folder)
    except ModelError:
        return None


def describe_file(folder: Path, name: str) -> PreparedFile:
    path = folder / name
    return PreparedFile(name, path.stat().st_size, sha256_of(path))


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file as a hex digest; raises ``ModelError`` if the file cannot be read."""
    # Imported here because only checks need it, and loading OpenSSL would delay a question.
    import hashlib

    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"Cannot read {path}: {error.strerror}.", hint=PREPARE_HINT) from error


def _read_description(folder: Path) -> Mapping[str, Any]:
    path = folder / DESCRIPTION
    try:
        with path.open("rb") as stream:
            raw = stream.read(_MAX_DESCRIPTION_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ModelError(f"{folder} does not contain a prepared encoder.", hint=PREPARE_HINT) from error
    except OSError as error:
        raise ModelError(f"Cannot read {path}: {error.strerror}.", hint=PREPARE_HINT) from error
    if len(raw) > _MAX_DESCRIPTION_BYTES:
        raise _damaged(folder, f"{DESCRIPTION} is longer than {_MAX_DESCRIPTION_BYTES} bytes")
    try:
        described = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise _damaged(folder, f"{DESCRIPTION} is not JSON") from error
    if not isinstance(described, dict):
        raise _damaged(folder, f"{DESCRIPTION} is not a JSON object")
    return described


def _check_size(folder: Path, file: PreparedFile) -> None:
    try:
        found = (folder / file.name).lstat()
    except OSError as error:
        raise _damaged(folder, f"{file.name} is missing") from error
    if not stat.S_ISREG(found.st_mode):
        raise _damaged(folder, f"{file.name} is not a regular file")
    if found.st_size != file.size:
        raise _damaged(folder, f"{file.name} has {found.st_size} bytes instead of {file.size}")


def _damaged(folder: Path, what: str) -> ModelError:
    return ModelError(f"The prepared encoder in {folder} is damaged: {what}.", hint=f"{PREPARE_HINT} --force")


def _positive(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{value!r} is not a positive integer")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is not a name")
    return value


def _digest(value: object) -> str:
    if not isinstance(value, str) or len(value) != 64 or set(value) - set("0123456789abcdef"):
        raise ValueError(f"{value!r} is not a sha256")
    return value
