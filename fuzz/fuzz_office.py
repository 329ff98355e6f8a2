"""Fuzz the readers of PDF, e-books, office files and notebooks."""

from __future__ import annotations

from fuzz.sources import read_file


def TestOneInput(data: bytes) -> None:
    read_file(data, "file.pdf", "office")
