"""Fuzz the reader of tables with named columns."""

from __future__ import annotations

from fuzz.sources import read_file


def TestOneInput(data: bytes) -> None:
    read_file(data, "s.csv", "table")
