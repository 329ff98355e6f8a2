"""Fuzz the reader of ZIM files."""

from __future__ import annotations

from fuzz.sources import read_file


def TestOneInput(data: bytes) -> None:
    read_file(data, "s.zim", "zim")
