"""Unpack a tar or zip file that is not trusted: within a folder, without devices, and limited in size."""

from __future__ import annotations

import errno
import lzma
import shutil
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, NoReturn

from wikigr.errors import SourceError
from wikigr.files import open_regular

MAX_BYTES = 8 << 30
MAX_MEMBERS = 500_000
# Of a header with a long name or with the attributes of a member, which ``tarfile`` reads into memory.
MAX_HEADER_BYTES = 64 << 10
_HEADERS = (
    tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE,
)  # fmt: skip
# Of one with attributes. Python before 3.11.10 takes time that grows with the square of a run of digits.
MAX_ATTRIBUTES_BYTES = 8 << 10
# Of all headers of a file, and the seconds of processor time that parsing them may take.
MAX_HEADERS_BYTES = 256 << 20
MAX_HEADERS_S = 20.0
# How many attributes may hold for all members that follow.
_MAX_GLOBAL_ATTRIBUTES = 100
_DAMAGE = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OverflowError,
    ValueError, RecursionError, MemoryError,
)  # fmt: skip


def unpack_archive(
    archive: Path, destination: Path, *, max_bytes: int = MAX_BYTES, max_members: int = MAX_MEMBERS
) -> None:
    """Unpack ``archive`` into the new folder ``destination``, which is complete or missing afterwards.

    Links are left out: a chain of them can lead out of the folder although none of them seems to, and the ``data``
    filter of ``tarfile`` has let some through (CVE-2025-4517).
    ``max_bytes`` limits the sum of all unpacked files, ``max_members`` their number. Raises ``SourceError`` for an
    archive that is damaged, encrypted, too large, or has members that would leave the folder; ``OSError`` of the disk.
    """
    part = destination.with_name(f".{destination.name}.part")
    # What a killed process has left.
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    total = 0
    try:
        with open_regular(archive) as file:
            is_zip = file.read(4) == b"PK\x03\x04"
        for number, (name, size, content) in enumerate(_zip_members(archive) if is_zip else _tar_members(archive), 1):
            total += size
            if number > max_members:
                raise SourceError(f"{archive.name} has more than {max_members:,} members, the limit.")
            if total > max_bytes:
                raise SourceError(f"{archive.name} is larger than {max_bytes:,} bytes unpacked, the limit.")
            if content is not None:
                _write(content, part, name)
        part.rename(destination)
    except _DAMAGE as error:
        raise SourceError(
            f"{archive.name} cannot be unpacked: {error or type(error).__name__}.",
            hint="It is damaged, or unsafe to unpack. Tell its publisher, or whoever wrote the recipe.",
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


# The name and the size of a member, and its content unless it is a folder or a link.
_Members = Iterator[tuple[str, int, IO[bytes] | None]]


class _Member(tarfile.TarInfo):
    """A member whose headers take a limited amount of memory; raises ``ValueError`` for others."""

    # The entry point that ``tarfile`` leaves to subclasses.
    def _proc_member(self, tar: tarfile.TarFile) -> Any:
        if len(tar.pax_headers) > _MAX_GLOBAL_ATTRIBUTES:
            raise ValueError(f"it has more than {_MAX_GLOBAL_ATTRIBUTES} global attributes, the limit")
        parse = super()._proc_member  # type: ignore[misc]
        if self.type not in _HEADERS:
            return parse(tar)
        limit = MAX_HEADER_BYTES if self.type in _HEADERS[:2] else MAX_ATTRIBUTES_BYTES
        if self.size > limit:
            raise ValueError(f"a header of {self.size:,} bytes is larger than {limit:,}, the limit")
        assert isinstance(tar, _Tar)
        tar.read += self.size
        if tar.read > MAX_HEADERS_BYTES or tar.seconds > MAX_HEADERS_S:
            raise ValueError("its headers are too long")
        started = time.thread_time()
        try:
            return parse(tar)
        finally:
            tar.seconds += time.thread_time() - started

    # The maps of the gaps in a sparse file have any length.
    def _refuse_sparse(self, *_: object) -> NoReturn:
        raise ValueError(f"{self.name[:80]!r} is a sparse file")

    _proc_sparse = _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse_sparse


class _Tar(tarfile.TarFile):
    """An archive whose headers take a limited amount of memory and time in all; raises ``ValueError`` for others."""

    tarinfo = _Member
    # The bytes of the headers, and the seconds of processor time that parsing them took.
    read = 0
    seconds = 0.0


def _tar_members(archive: Path) -> _Members:
    with _Tar.open(archive) as tar:
        for member in tar:
            # The list of all members, with the attributes of each, would grow with the archive.
            tar.members.clear()  # type: ignore[attr-defined]
            if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
                raise ValueError(f"{member.name[:80]!r} is a device")
            # A header is followed by as many bytes as it says, so the size is that of the file.
            yield member.name, member.size, tar.extractfile(member) if member.isreg() else None


def _zip_members(archive: Path) -> _Members:
    with zipfile.ZipFile(archive) as packed:
        for member in packed.infolist():
            if member.flag_bits & 1:
                raise ValueError(f"{member.filename[:80]!r} is encrypted")
            # No more bytes are unpacked than the directory of the archive says.
            yield member.filename, member.file_size, None if member.is_dir() else packed.open(member)


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
        # What a name in an archive may lead to, in contrast to a full disk.
        if error.errno in (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EEXIST, errno.EISDIR):
            raise ValueError(f"{name[:80]!r} cannot be a file: {error.strerror}") from error
        raise
    with content, file:
        shutil.copyfileobj(content, file)
