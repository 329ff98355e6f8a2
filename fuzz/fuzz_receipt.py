"""Fuzz the reader of receipts."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from wikigr.documents.receipt import read_receipts
from wikigr.errors import UsageError


def TestOneInput(data: bytes) -> None:
    with TemporaryDirectory(prefix="wikigr-fuzz-") as folder:
        path = Path(folder, "receipt.json")
        path.write_bytes(data)
        try:
            list(read_receipts(path))
        except UsageError:
            return
