"""The receipt of an answer: what ``wikigr ask --json`` prints, with what it takes to check it later and offline.

A receipt contains no secrets and no paths of this machine. A file holds one JSON document or, for a batch, JSON Lines.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wikigr import __version__
from wikigr.documents.answer import answer_document
from wikigr.documents.pack import without_paths
from wikigr.errors import UsageError
from wikigr.files import cannot_write, describe_read_error, explain_json_error, read_regular, write_atomic
from wikigr.pipeline.profile_schema import profile_values
from wikigr.validation import validated_object

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.documents.shapes import ReceiptDocument
    from wikigr.pipeline.pipeline import Pipeline
    from wikigr.pipeline.profile import Profile

# The maximum size of a file of receipts; one of them has about 10 kB.
MAX_BYTES = 256 << 20
# What JSON describes can need fifty times as much memory.
_MAX_RECEIPT_BYTES = 16 << 20
# What options of ``wikigr ask``, of this or an earlier release, change without a model: keys of the profile.
SETTINGS = ("retrieval.exact", "multi_strategy.iterations", "extractive.max_sentences")


@dataclass(frozen=True, slots=True)
class ReceiptRead:
    """A receipt that was read from ``line`` (from 1); ``intact`` is whether its own digest is correct."""

    line: int
    document: ReceiptDocument
    intact: bool


def make_receipt(
    answer: Answer, pipeline: Pipeline, *, base: Profile | None = None, id_: str | int | None = None
) -> ReceiptDocument:
    """Return the receipt of ``answer``, which ``pipeline`` has just produced. No model is called.

    ``base`` is the profile before options changed it (by default ``pipeline.profile``), ``id_`` that of a question of a
    batch.
    """
    base, model = base or pipeline.profile, pipeline.model
    before, after = profile_values(base), profile_values(pipeline.profile)
    settings = {key: key.split(".") for key in SETTINGS}
    changed = {
        key: after[section][name]
        for key, (section, name) in settings.items()
        if after[section][name] != before[section][name]
    }
    document: dict[str, Any] = {
        **({} if id_ is None else {"id": id_}),
        **without_paths(answer_document(answer, pipeline)),
        "receipt": {
            "wikigr_version": __version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "profile_sha256": digest_of(before),
            "settings": changed,
            "model_server": model.server.rstrip("/") if answer.model and model is not None else None,
            "model_sha256": model.weights_sha256 if answer.model and model is not None else None,
        },
    }
    return cast("ReceiptDocument", {**document, "sha256": digest_of(document)})


def digest_of(document: Any) -> str:
    """Return the SHA-256 of ``document`` as UTF-8 JSON with sorted keys, without spaces or unnecessary escapes.

    Raises ``ValueError`` for values that JSON cannot represent: NaN, infinities, unpaired surrogates.
    """
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def check_target(path: Path) -> None:
    """Raise ``UsageError`` when nothing can be written to ``path``. Call this before asking a model."""
    if path.exists() and not path.is_file():
        raise UsageError(f"Cannot write: {path} is not a regular file.")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise UsageError(f"Cannot write {path}: the folder {folder} does not exist.")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"Cannot write {path}: the folder {folder} is read-only.")


def write_receipts(path: Path, receipts: Sequence[ReceiptDocument], *, batch: bool) -> None:
    """Write receipts to ``path`` atomically: as JSON Lines for a ``batch``, else the only one as one document.

    Raises ``WikigrError`` when writing fails, which leaves an existing file unchanged.
    """
    lines = [json.dumps(receipt, ensure_ascii=False, indent=None if batch else 2) + "\n" for receipt in receipts]
    try:
        write_atomic(path, "".join(lines))
    except OSError as error:
        raise cannot_write("the receipt", path, error) from error


def read_receipts(path: Path) -> Iterator[ReceiptRead]:
    """Yield the receipts of a file, which is untrusted, in order.

    Raises ``UsageError`` with the line and the key when the file cannot be read or contains anything else.
    """
    try:
        content = read_regular(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        raise UsageError(f"Cannot read the receipt {path}: {describe_read_error(error)}.") from error
    lines = [(number, line) for number, line in enumerate(content.split(b"\n"), start=1) if line.strip()]
    if not lines:
        raise UsageError(f"{path} is empty and contains no receipt.")
    if not lines[0][1].rstrip().endswith(b"}"):
        # The first line is not a complete document, so the whole file is one.
        lines = [(1, content)]
    for number, line in lines:
        if len(line) > _MAX_RECEIPT_BYTES:
            raise UsageError(f"A receipt in {path} has more than {_MAX_RECEIPT_BYTES >> 20} MiB.")
        yield _parse(line, str(path) if number == 1 else f"Line {number} of {path}", number)


def _parse(text: bytes, place: str, line: int) -> ReceiptRead:
    from wikigr.documents.shapes import ReceiptDocument

    try:
        document = json.loads(text.decode(), object_pairs_hook=_refuse_duplicates)
        if not isinstance(document, dict) or "receipt" not in document:
            older = isinstance(document, dict) and "wikigr_version" in document
            what = "is a receipt of an earlier version" if older else "is not a wikigr receipt"
            raise UsageError(f"{place} {what}.", hint="Create one with `wikigr ask QUESTION --receipt FILE`.")
        digest = digest_of({key: value for key, value in document.items() if key != "sha256"})
        checked = validated_object(ReceiptDocument, json.loads(text.decode(), object_hook=_with_blocks))
        return ReceiptRead(line, checked, checked["sha256"] == digest)
    except (ValueError, RecursionError) as error:
        # Invalid Unicode, invalid JSON, NaN, or a key that is missing or has another type.
        raise UsageError(f"{place} is not a receipt: {explain_json_error(error)}.") from error


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; with a duplicate key, two JSON parsers could read two different receipts."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("it has a duplicate key")
    return found


def _with_blocks(found: dict[str, Any]) -> dict[str, Any]:
    """Return an answer or a citation with the key ``blocks``, which earlier versions did not write."""
    return {"blocks": [], **found} if found.keys() & {"citations", "quote"} else found
