"""Unpack a tar or zip file that is not trusted: within a folder, without devices, and limited in size."""

from __future__ import annotations

import errno
import lzma
import shutil
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO, Any, NoReturn

from wikigr.errors import SourceError

MAX_BYTES = 8 << 30
MAX_MEMBERS = 500_000
# Of a header with a long name or with the attributes of a member, which ``tarfile`` reads into memory.
MAX_HEADER_BYTES = 64 << 10
_HEADERS = (
    tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE,
)  # fmt: skip
# How many attributes may hold for all members that follow.
_MAX_GLOBAL_ATTRIBUTES = 100
_ZIP_MAGIC = b"PK\x03\x04"
_DAMAGE = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OverflowError,
    ValueError, RecursionError, MemoryError,
)  # fmt: skip

# What a name in an archive may lead to, in contrast to a full disk.
_BAD_NAME = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EEXIST, errno.EISDIR)


def unpack_archive(
    archive: Path, destination: Path, *, max_bytes: int = MAX_BYTES, max_members: int = MAX_MEMBERS
) -> None:
    """Unpack ``archive`` into the new folder ``destination``, which is complete or missing afterwards.

    Links are left out: a chain of them can lead out of the folder although none of them seems to.
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


class _Member(tarfile.TarInfo):
    """A member whose headers take a limited amount of memory; raises ``ValueError`` for others."""

    # The entry point that ``tarfile`` leaves to subclasses.
    def _proc_member(self, tar: tarfile.TarFile) -> Any:
        if self.type in _HEADERS and self.size > MAX_HEADER_BYTES:
            raise ValueError(f"a header of {self.size:,} bytes is larger than {MAX_HEADER_BYTES:,}, the limit")
        if len(tar.pax_headers) > _MAX_GLOBAL_ATTRIBUTES:
            raise ValueError(f"it has more than {_MAX_GLOBAL_ATTRIBUTES} global attributes, the limit")
        return super()._proc_member(tar)  # type: ignore[misc]

    # The maps of the gaps in a sparse file have any length.
    def _refuse_sparse(self, *_: object) -> NoReturn:
        raise ValueError(f"{self.name[:80]!r} is a sparse file")

    _proc_sparse = _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse_sparse


def _unpack_tar(archive: Path, folder: Path, limits: _Limits) -> None:
    with tarfile.open(archive, tarinfo=_Member) as tar:
        for member in tar:
            # The list of all members, with the attributes of each, would grow with the archive.
            tar.members.clear()  # type: ignore[attr-defined]
            # A header is followed by as many bytes as it says, so the sizes are those of the files.
            limits.count(member.size)
            content = tar.extractfile(member) if member.isreg() else None
            if content is not None:
                with content:
                    _write(content, folder, member.name)
            elif not (member.isdir() or member.issym() or member.islnk()):
                raise ValueError(f"{member.name[:80]!r} is a device")


def _unpack_zip(archive: Path, folder: Path, limits: _Limits) -> None:
    with zipfile.ZipFile(archive) as packed:
        members = packed.infolist()
        for member in members:
            limits.count(member.file_size)
            if member.flag_bits & 1:
                raise ValueError(f"{member.filename[:80]!r} is encrypted")
        for member in members:
            if not member.is_dir():
                # No more bytes are unpacked than the directory of the archive says.
                with packed.open(member) as content:
                    _write(content, folder, member.filename)


def _write(content: IO[bytes], folder: Path, name: str) -> None:
    """Write a file below ``folder``, which holds nothing but what was written so, in particular no links."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or not path.parts:
        raise ValueError(f"the path {name[:80]!r} leads out of the archive")
    target = folder / path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        file = target.open("xb")
    except OSError as error:
        if error.errno in _BAD_NAME:
            raise ValueError(f"{name[:80]!r} cannot be a file: {error.strerror}") from error
        raise
    with file:
        shutil.copyfileobj(content, file)
