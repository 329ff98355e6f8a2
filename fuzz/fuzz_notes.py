"""Fuzz the reader of folders that mix Markdown, reStructuredText and plain text; the input is all three of them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.sources import read_source


def TestOneInput(data: bytes) -> None:
    with TemporaryDirectory(prefix="wikigr-fuzz-") as folder:
        for name in ("a.md", "b.rst", "c.txt"):
            Path(folder, name).write_bytes(data)
        read_source(Path(folder), "notes")
