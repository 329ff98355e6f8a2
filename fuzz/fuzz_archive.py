"""Fuzz the reader of archives. An input that is not compressed is the tar inside an archive."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import zstandard

from wikigr.distribution.archive import unpack
from wikigr.errors import PackError

_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_COMPRESSOR = zstandard.ZstdCompressor(level=1)


def TestOneInput(data: bytes) -> None:
    with TemporaryDirectory(prefix="wikigr-fuzz-") as folder:
        archive, into = Path(folder, "a.wikigr"), Path(folder, "into")
        archive.write_bytes(data if data.startswith(_ZSTANDARD) else _COMPRESSOR.compress(data))
        try:
            unpacked = unpack(archive, into)
        except PackError as error:
            assert error.message.isprintable()
            assert len(error.message) < 1000
            assert not into.exists()
        else:
            found = {path.relative_to(into).as_posix() for path in into.rglob("*") if not path.is_dir()}
            assert set(unpacked.manifest.files) <= found
        assert {path.name for path in Path(folder).iterdir()} <= {"a.wikigr", "into"}
