"""The answers that ``wikigr log`` shows: one per line of a file that only the user may read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr.files import locked, open_private
from wikigr.settings import state_folder

if TYPE_CHECKING:
    from wikigr.documents.shapes import StatedAnswer

# A file of this size in bytes becomes the older one of two, and replaces the one before.
FILE_LIMIT = 1 << 20


def log_files() -> tuple[Path, Path]:
    """Return the file of the latest answers, and that of earlier ones; they may not exist."""
    return state_folder() / "answers.jsonl", state_folder() / "answers.old.jsonl"


def keep_answer(stated: StatedAnswer) -> None:
    """Add an answer to the log; one of more than ``FILE_LIMIT`` bytes is not kept. Raises ``OSError``."""
    line = json.dumps({"time": datetime.now(UTC).isoformat(timespec="seconds"), **stated}).encode() + b"\n"
    latest, earlier = log_files()
    if len(line) > FILE_LIMIT:
        return
    state_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(latest.with_suffix(".lock"), on_wait=lambda: None):
        if latest.is_file() and latest.stat().st_size + len(line) > FILE_LIMIT:
            latest.replace(earlier)
        with open_private(latest) as file:
            file.write(line)


def kept_answers() -> Iterator[Any]:
    """Yield the documents of the answers in the log with their ``time``, the latest first; raises ``OSError``.

    A line that is not such a document, as after a full disk, is skipped.
    """
    for file in log_files():
        if file.is_file():
            for line in reversed(file.read_bytes().splitlines()):
                try:
                    yield json.loads(line)
                except ValueError:
                    continue


def clear_log() -> int:
    """Remove the log; return how many answers it had. Raises ``OSError``."""
    count = sum(1 for _ in kept_answers())
    for file in log_files():
        file.unlink(missing_ok=True)
    return count
