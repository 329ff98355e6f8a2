"""Unpack a tar or zip file that is not trusted: within a folder, without devices, and limited in size."""

from __future__ import annotations

import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from wikigr.errors import SourceError

MAX_BYTES = 8 << 30
MAX_MEMBERS = 500_000
_ZIP_MAGIC = b"PK\x03\x04"
_DAMAGE = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OverflowError,
    ValueError,
)  # fmt: skip


def unpack_archive(
    archive: Path, destination: Path, *, max_bytes: int = MAX_BYTES, max_members: int = MAX_MEMBERS
) -> None:
    """Unpack ``archive`` into the new folder ``destination``, which is complete or missing afterwards.

    ``max_bytes`` limits the sum of all unpacked files, ``max_members`` their number. Raises ``SourceError`` for an
    archive that is damaged, encrypted, too large, or has members that would leave the folder; ``OSError`` of the disk.
    """
    part = destination.with_name(f".{destination.name}.part")
    # What a killed process has left.
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    limits = _Limits(archive, max_bytes, max_members)
    try:
        with archive.open("rb") as file:
            is_zip = file.read(len(_ZIP_MAGIC)) == _ZIP_MAGIC
        if is_zip:
            _unpack_zip(archive, part, limits)
        else:
            _unpack_tar(archive, part, limits)
        part.rename(destination)
    except _DAMAGE as error:
        raise SourceError(
            f"{archive.name} cannot be unpacked: {error or type(error).__name__}.",
            hint="It is damaged, or unsafe to unpack. Tell its publisher, or whoever wrote the recipe.",
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


class _Limits:
    """Counts members before they are unpacked; raises ``SourceError`` for too many or too large ones."""

    def __init__(self, archive: Path, max_bytes: int, max_members: int) -> None:
        self._archive = archive
        self._bytes, self._max_bytes = 0, max_bytes
        self._members, self._max_members = 0, max_members

    def count(self, size: int) -> None:
        self._members += 1
        self._bytes += size
        if self._members > self._max_members:
            raise SourceError(f"{self._archive.name} has more than {self._max_members:,} members, the limit.")
        if self._bytes > self._max_bytes:
            raise SourceError(f"{self._archive.name} is larger than {self._max_bytes:,} bytes unpacked, the limit.")


def _unpack_tar(archive: Path, folder: Path, limits: _Limits) -> None:
    if not hasattr(tarfile, "data_filter"):
        raise SourceError(
            "This Python cannot unpack tar files safely.",
            hint="Use Python 3.11.4 or later, or unpack the file and give its folder with --source.",
        )

    def counted(members: Iterator[tarfile.TarInfo]) -> Iterator[tarfile.TarInfo]:
        for member in members:
            limits.count(member.size)
            yield member

    with tarfile.open(archive) as tar:
        # A header is followed by as many bytes as it says, so the sizes are those of the files.
        tar.extractall(folder, members=counted(iter(tar)), filter="data")


def _unpack_zip(archive: Path, folder: Path, limits: _Limits) -> None:
    with zipfile.ZipFile(archive) as packed:
        members = packed.infolist()
        for member in members:
            limits.count(member.file_size)
            path = PurePosixPath(member.filename)
            if path.is_absolute() or ".." in path.parts or "\\" in member.filename:
                raise ValueError(f"the path {member.filename[:80]!r} leads out of the archive")
            if member.flag_bits & 1:
                raise ValueError(f"{member.filename[:80]!r} is encrypted")
        for member in members:
            # No more bytes are unpacked than the directory of the archive says.
            packed.extract(member, folder)
