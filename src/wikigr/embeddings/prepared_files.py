"""The files of a prepared model, with a JSON description beside them that holds their sizes and digests.

The encoder and the reader are both such folders. Opening one compares only the sizes, because hashing the weights
would take longer than a query; ``verify`` compares the digests.
"""

from __future__ import annotations

import json
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from wikigr.errors import ModelError
from wikigr.files import open_regular, read_regular

PREPARE_HINT = "wikigr model prepare"
# The command that writes a damaged model again.
REPAIR_HINT = f"{PREPARE_HINT} --force"
# The prefix of the temporary folders of preparations.
UNFINISHED = ".unfinished-"

_Model = TypeVar("_Model")


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A file of a prepared model: ``size`` in bytes, ``sha256`` as a hex digest."""

    name: str
    size: int
    sha256: str

    @classmethod
    def of(cls, folder: Path, name: str) -> PreparedFile:
        """Describe a file; raises ``OSError`` and ``ModelError``."""
        path = folder / name
        return cls(name, path.stat().st_size, sha256_of(path))


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file as a hex digest; raises ``ModelError`` if the file cannot be read."""
    # Imported here because only checks need it, and loading OpenSSL would delay a question.
    import hashlib

    try:
        with open_regular(path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"Cannot read {path}: {error.strerror}.", hint=PREPARE_HINT) from error


def read_prepared(path: Path, version: int, parse: Callable[[Mapping[str, Any]], _Model]) -> _Model:
    """Return what ``parse`` makes of the description ``path``.

    Raises ``FileNotFoundError`` if there is none, and ``ModelError`` if it is damaged, has another format version, or
    is one that ``parse`` raises ``ValueError``, ``TypeError``, ``KeyError`` or ``AttributeError`` for.
    """
    try:
        described = json.loads(read_regular(path, 64 << 10))
        if described["format_version"] != version:
            raise ValueError(f"its format version is {described['format_version']!r}, not {version}")
        return parse(described)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(str(path)) from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or (error if isinstance(error, ValueError) else repr(error))
        raise damaged(path.parent, f"cannot read {path.name}: {reason}") from error


def files_from_json(entries: Mapping[str, Any], required: AbstractSet[str], optional: Iterable[str] = ()) -> Files:
    """Return the files that a description lists, by name; raises what ``read_prepared`` expects of ``parse``."""
    if not required <= entries.keys() <= required | {*optional}:
        raise ValueError(f"it lists the files {sorted(entries)}")
    return tuple(
        PreparedFile(name, positive(entry["size"]), digest(entry["sha256"])) for name, entry in sorted(entries.items())
    )


def files_to_json(files: Files) -> dict[str, Any]:
    """Return what ``files_from_json`` reads."""
    return {file.name: {"size": file.size, "sha256": file.sha256} for file in files}


Files = tuple[PreparedFile, ...]


def check_sizes(folder: Path, files: Files) -> None:
    """Raise ``ModelError`` unless every file is a regular file of its recorded size."""
    for file in files:
        try:
            found = (folder / file.name).lstat()
        except OSError as error:
            raise damaged(folder, f"{file.name} is missing") from error
        if not stat.S_ISREG(found.st_mode):
            raise damaged(folder, f"{file.name} is not a regular file")
        if found.st_size != file.size:
            raise damaged(folder, f"{file.name} has {found.st_size:,} bytes instead of {file.size:,}")


def verify(folder: Path, files: Files) -> None:
    """Compare every file with its recorded digest; raises ``ModelError`` for the first that differs."""
    for file in files:
        if sha256_of(folder / file.name) != file.sha256:
            raise damaged(folder, f"{file.name} does not have its recorded sha256")


def damaged(folder: Path, what: str) -> ModelError:
    return ModelError(f"The prepared model in {folder} is damaged: {what}.", hint=REPAIR_HINT)


def positive(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{value!r} is not a positive integer")
    return value


def digest(value: object) -> str:
    if not isinstance(value, str) or len(value) != 64 or set(value) - set("0123456789abcdef"):
        raise ValueError(f"{value!r} is not a sha256")
    return value


def remove_abandoned(folder: Path) -> None:
    """Remove the folders of interrupted preparations that are a day old; recent ones may be in use."""
    for path in folder.glob(UNFINISHED + "*"):
        try:
            abandoned = time.time() - path.stat().st_mtime > 24 * 3600
        except FileNotFoundError:
            continue
        if abandoned:
            shutil.rmtree(path, ignore_errors=True)
