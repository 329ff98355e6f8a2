"""Fuzz the reader of manifests."""

from __future__ import annotations

from wikigr.errors import PackError
from wikigr.pack.manifest import parse_manifest


def TestOneInput(data: bytes) -> None:
    try:
        parse_manifest(data)
    except PackError:
        return
