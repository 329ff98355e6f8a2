"""Fuzz the readers of folders: names, links between files, titles that several files share.

A line ``=== NAME`` in the input begins a file.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.sources import read_source

_FILE = re.compile(rb"^=== ([^\n]{1,100})\n", re.MULTILINE)


def TestOneInput(data: bytes) -> None:
    with TemporaryDirectory(prefix="wikigr-fuzz-") as folder:
        _, *rest = _FILE.split(data)
        for name, content in zip(rest[::2], rest[1::2], strict=True):
            parts = [part for part in name.replace(b"\0", b"").split(b"/") if part not in (b"", b".", b"..")]
            path = Path(folder, *(part.decode("utf-8", "surrogateescape") for part in parts))
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            except OSError:
                # A file of this name is a folder of another one.
                continue
        read_source(Path(folder), None)
