"""Receipts on disk: one JSON document, or JSON Lines for a batch. What is read is hostile until checked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from wikigr.atomic import write_atomic
from wikigr.errors import UsageError, WikigrError
from wikigr.receipts.receipt import KIND, SCHEMA_VERSION, Receipt, canonical, digest_of

# Bytes of one receipt. A large one has a hundred thousand.
MAX_BYTES = 8 * 1024 * 1024


class ReceiptError(UsageError):
    """A file is no receipt, is of a newer schema, or none can be written there."""


@dataclass(frozen=True, slots=True)
class ReceiptRead:
    """A receipt as it was found on ``line`` (from 1); ``whole`` says that its own hash is right."""

    line: int
    receipt: Receipt
    whole: bool


def check_target(path: Path) -> None:
    """Raise ``ReceiptError`` when no receipt can be put at ``path``: before a model is asked, not after."""
    if path.exists() and not path.is_file():
        raise ReceiptError(f"No receipt can be written to {path}: it is no file.")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise ReceiptError(f"No receipt can be written to {path}: there is no folder {folder}.")
    if not os.access(folder, os.W_OK):
        raise ReceiptError(f"No receipt can be written to {path}: the folder {folder} is read-only.")


def write_receipts(path: Path, receipts: Sequence[Receipt], *, lines: bool) -> None:
    """Put receipts in the place of ``path``: the only one as a document, or one a ``line``.

    Raises ``WikigrError`` when the disk refuses it; what was at ``path`` is still there then.
    """
    if lines:
        text = "".join(json.dumps(receipt.to_document(), ensure_ascii=False) + "\n" for receipt in receipts)
    else:
        (receipt,) = receipts
        text = json.dumps(receipt.to_document(), ensure_ascii=False, indent=2) + "\n"
    try:
        write_atomic(path, text)
    except OSError as error:
        raise WikigrError(
            f"The receipt {path} cannot be written: {error.strerror or error}.", hint="Give --receipt another file."
        ) from error


def read_receipts(path: Path) -> Iterator[ReceiptRead]:
    """Yield the receipts of a file in order.

    Raises ``ReceiptError``, naming the line and the key, for a file that cannot be read, holds anything else, or is
    of a newer schema.
    """
    try:
        with path.open("rb") as file:
            found = False
            for line, text in _documents(file, path):
                found = True
                yield _parse(text, _place(path, line), line)
    except OSError as error:
        raise ReceiptError(f"The receipt {path} cannot be read: {error.strerror or error}.") from error
    if not found:
        raise ReceiptError(f"{path} is empty: it holds no receipt.")


def _documents(file: IO[bytes], path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the JSON documents of a file with the line that each begins on, no more of it in memory than one."""
    line, first = 0, True
    while text := file.readline(MAX_BYTES + 1):
        line += 1
        text = text.removeprefix(b"\xef\xbb\xbf") if line == 1 else text
        if not text.strip():
            continue
        if first and not text.rstrip().endswith(b"}"):
            # The first line is not all of a document, so the file is one.
            text += file.read(MAX_BYTES + 1 - min(len(text), MAX_BYTES))
        if len(text) > MAX_BYTES:
            raise ReceiptError(f"{_place(path, line)} is no receipt: it has more than {MAX_BYTES >> 20} MiB.")
        first = False
        yield line, text


def _place(path: Path, line: int) -> str:
    return str(path) if line == 1 else f"Line {line} of {path}"


def _parse(text: bytes, place: str, line: int) -> ReceiptRead:
    try:
        document = json.loads(text.decode(), object_pairs_hook=_unique, parse_constant=_no_number)
        if not isinstance(document, dict) or document.get("kind") != KIND:
            raise ReceiptError(
                f"{place} is no receipt of wikigr.", hint="`wikigr ask QUESTION --receipt FILE` writes one."
            )
        _check_version(document.get("schema_version"), place)
        kept = document.pop("sha256", None)
        content = canonical(document)
    except (ValueError, RecursionError) as error:
        raise ReceiptError(f"{place} is no receipt: {_reason(error)}.") from error
    return ReceiptRead(line, _validated(content, place), kept == digest_of(document))


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return "it holds what is no Unicode text"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return f"it is no JSON ({error})"


def _check_version(version: object, place: str) -> None:
    if type(version) is not int or version < 1:
        raise ReceiptError(f"{place} is no receipt: its schema_version is no number from 1.")
    if version > SCHEMA_VERSION:
        raise ReceiptError(
            f"{place} is of schema {version:,}; this wikigr reads receipts up to schema {SCHEMA_VERSION}.",
            hint="Replay it with a newer wikigr.",
        )


def _validated(content: bytes, place: str) -> Receipt:
    import pydantic

    try:
        return pydantic.TypeAdapter(Receipt).validate_json(content, strict=True)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = " ".join(".".join(map(str, first["loc"])).split())[:80]
        raise ReceiptError(f"{place} is no receipt: {key}: {first['msg'][:200].lower()}.") from error


def _unique(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """Return an object; of a key that is given twice, people and programs would read different ones."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")
