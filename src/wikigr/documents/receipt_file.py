"""Read and write receipt files: one JSON document, or JSON Lines for a batch. Input is untrusted until checked."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import IO, Any

from wikigr.atomic import write_atomic
from wikigr.documents.receipt import KIND, SCHEMA_VERSION, Receipt, canonical, digest_of
from wikigr.errors import UsageError, WikigrError
from wikigr.pack.layout import sync
from wikigr.validation import InvalidError, validated

# The maximum size of one receipt. A large real one has 100 kB.
MAX_BYTES = 8 * 1024 * 1024
# Appended to the name of the file until a batch is finished.
PARTIAL = ".partial"


class ReceiptError(UsageError):
    """A file is not a receipt or has a newer schema, or a receipt cannot be written to its path."""


@dataclass(frozen=True, slots=True)
class ReceiptRead:
    """A receipt that was read from ``line`` (from 1); ``intact`` is whether its own hash is correct."""

    line: int
    receipt: Receipt
    intact: bool


def check_target(path: Path, *, batch: bool) -> None:
    """Raise ``ReceiptError`` when nothing can be written to ``path``. Call this before asking a model."""
    if path.exists() and not path.is_file():
        raise ReceiptError(f"Cannot write: {path} is not a regular file.")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise ReceiptError(f"Cannot write {path}: the folder {folder} does not exist.")
    if not os.access(folder, os.W_OK):
        raise ReceiptError(f"Cannot write {path}: the folder {folder} is read-only.")
    if batch and os.path.lexists(partial := partial_path(path)):
        raise ReceiptError(
            f"{partial} contains the receipts of a batch that was interrupted or is still running.",
            hint="Rename or delete it, then run the same command again. To see what it contains: "
            f"wikigr replay {shlex.quote(str(partial))}",
        )


def partial_path(path: Path) -> Path:
    """Return the file that contains the receipts of an unfinished batch, beside the file that ``path`` links to."""
    target = path.resolve() if path.is_symlink() else path
    return target.with_name(target.name + PARTIAL)


def write_receipt(path: Path, receipt: Receipt) -> None:
    """Write one receipt to ``path`` atomically, as one JSON document.

    Raises ``WikigrError`` when writing fails, which leaves an existing file unchanged.
    """
    try:
        write_atomic(path, json.dumps(receipt.to_document(), ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        raise _cannot_write(path, error) from error


class BatchReceipts:
    """The receipts of a batch as JSON Lines: in ``partial_path(path)``, each on disk at once, until ``finish``.

    An interrupted batch leaves that file, and an existing file at ``path`` is replaced only at the end. All methods
    raise ``WikigrError`` when writing fails.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.partial = partial_path(path)
        self._file: FileIO | None = None

    def append(self, receipt: Receipt) -> None:
        """Write a receipt and flush it to the disk. After an error, ``finish`` leaves the unfinished file."""
        rest = memoryview((json.dumps(receipt.to_document(), ensure_ascii=False) + "\n").encode())
        try:
            if self._file is None:
                self._file = self.partial.open("xb", buffering=0)
                sync(self.partial.parent)
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            if self._file is not None:
                self._file.close()
                self._file = None
            raise _cannot_write(self.partial, error) from error

    def finish(self) -> bool:
        """Move the receipts to ``path``; return ``False`` without a receipt, which leaves an existing file."""
        if self._file is None:
            return False
        self._file.close()
        try:
            self.partial.replace(self.path.resolve())
        except OSError as error:
            raise _cannot_write(self.path, error) from error
        return True


def _cannot_write(path: Path, error: OSError) -> WikigrError:
    return WikigrError(
        f"Cannot write the receipt {path}: {error.strerror or error}.", hint="Choose another file with --receipt."
    )


def read_receipts(path: Path) -> Iterator[ReceiptRead]:
    """Yield the receipts of a file in order, without an incomplete last line in the file of an unfinished batch.

    Raises ``ReceiptError`` with the line and the key when the file cannot be read, contains anything other than
    receipts, or has a newer schema.
    """
    try:
        with path.open("rb") as file:
            found = False
            for line, text in _documents(file, path):
                found = True
                yield _parse(text, _place(path, line), line)
    except OSError as error:
        raise ReceiptError(f"Cannot read the receipt {path}: {error.strerror or error}.") from error
    if not found:
        empty = "contains no complete receipt" if path.suffix == PARTIAL else "is empty and contains no receipt"
        raise ReceiptError(f"{path} {empty}.")


def _documents(file: IO[bytes], path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield each JSON document of a file with its first line number, holding one document in memory at a time."""
    line, first = 0, True
    while text := file.readline(MAX_BYTES + 1):
        line += 1
        if path.suffix == PARTIAL and not text.endswith(b"\n"):
            return
        text = text.removeprefix(b"\xef\xbb\xbf") if line == 1 else text
        if not text.strip():
            continue
        if first and not text.rstrip().endswith(b"}"):
            # The first line is not a complete document, so the whole file is one document.
            text += file.read(MAX_BYTES + 1 - min(len(text), MAX_BYTES))
        if len(text) > MAX_BYTES:
            raise ReceiptError(f"{_place(path, line)} is not a receipt: it is larger than {MAX_BYTES >> 20} MiB.")
        first = False
        yield line, text


def _place(path: Path, line: int) -> str:
    return str(path) if line == 1 else f"Line {line} of {path}"


def _parse(text: bytes, place: str, line: int) -> ReceiptRead:
    try:
        document = json.loads(text.decode(), object_pairs_hook=_refuse_duplicates, parse_constant=_refuse_constant)
        if not isinstance(document, dict) or document.get("kind") != KIND:
            raise ReceiptError(
                f"{place} is not a wikigr receipt.", hint="Create one with `wikigr ask QUESTION --receipt FILE`."
            )
        _check_version(document.get("schema_version"), place)
        kept = document.pop("sha256", None)
        return ReceiptRead(line, validated(Receipt, canonical(document)), kept == digest_of(document))
    except (ValueError, RecursionError) as error:
        raise ReceiptError(f"{place} is not a receipt: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return "it contains invalid Unicode"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error) if isinstance(error, InvalidError) else f"it is not valid JSON ({error})"


def _check_version(version: object, place: str) -> None:
    if type(version) is not int or version < 1:
        raise ReceiptError(f"{place} is not a receipt: its schema_version is not a positive integer.")
    if version > SCHEMA_VERSION:
        raise ReceiptError(
            f"{place} has schema {version:,}; this wikigr reads receipts up to schema {SCHEMA_VERSION}.",
            hint="Replay it with a newer wikigr.",
        )


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """Return a JSON object; with a duplicate key, two JSON parsers could read two different receipts."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("it has a duplicate key")
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")
