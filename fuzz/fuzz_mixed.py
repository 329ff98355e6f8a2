"""Fuzz the reader of folders that mix notes, HTML pages and office files; the input is one of each."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.sources import read_source


def TestOneInput(data: bytes) -> None:
    with TemporaryDirectory(prefix="wikigr-fuzz-") as folder:
        for name in ("a.md", "b.html", "c.docx"):
            Path(folder, name).write_bytes(data)
        read_source(Path(folder), "mixed")
