"""Fuzz the reader of plain text files."""

from __future__ import annotations

from fuzz.sources import read_file


def TestOneInput(data: bytes) -> None:
    read_file(data, "s.txt", "text")
