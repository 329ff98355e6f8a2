"""Arrays in an uncompressed ``.npz`` file, aligned so that they can be memory-mapped.

A file that is mapped costs no memory of its own: processes that read the same file share its pages. The CRC-32 of every
member is compared, as when it is read with ``zipfile``, which takes five times as long.
"""

from __future__ import annotations

import math
import mmap
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikigr.files import open_regular

# What the zip and npy readers raise on damaged files, besides ``TooLargeError``.
UNREADABLE = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, struct.error),
    *(OverflowError, MemoryError, zipfile.BadZipFile, zlib.error),
)
# The first bytes of every member in format 1.0 of NumPy, the one that is written for these arrays.
_NPY_VERSION = (1, 0)
# NumPy makes its own header a multiple of this many bytes, so the array is aligned if its member's data is.
_ALIGNMENT = np.lib.format.ARRAY_ALIGN
# The local header of a zip member: its fixed length, and where it has the lengths of the name and of the extra field.
_LOCAL_HEADER, _LENGTHS = 30, 26
# The kind of extra field that pads for alignment, as in Android's zipalign, and the length of a field's header.
_PADDING, _FIELD_HEADER = 0xD935, 4
_ZIP64_FIELD = 20


class TooLargeError(ValueError):
    """An array has more elements than its reader allows."""


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write ``arrays`` to ``path``; the same arrays give the same bytes."""
    with path.open("wb") as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")
            is_huge = array.nbytes > zipfile.ZIP64_LIMIT // 2
            begin = stream.tell() + _LOCAL_HEADER + len(member.filename) + _FIELD_HEADER + is_huge * _ZIP64_FIELD
            padding = -begin % _ALIGNMENT
            member.extra = struct.pack("<HH", _PADDING, padding) + bytes(padding)
            with archive.open(member, "w", force_zip64=is_huge) as file:
                np.lib.format.write_array(file, array, version=_NPY_VERSION, allow_pickle=False)


def load_arrays(
    path: Path, required: Sequence[str], optional: Sequence[str], limits: Mapping[str, int]
) -> dict[str, NDArray[Any]]:
    """Return the arrays with these names, read-only; those that are ``optional`` only if the file has them.

    Raises one of ``UNREADABLE`` when the file is damaged, and ``TooLargeError`` when an array has more elements than
    its limit in ``limits``. Memory use is bounded by the size of the file, because members must be uncompressed and as
    large as their headers say; that is checked before any is read.
    """
    with open_regular(path) as file, zipfile.ZipFile(file) as archive:
        stored = set(archive.namelist())
        names = [*required, *(name for name in optional if f"{name}.npy" in stored)]
        headers = {name: _header(archive, name) for name in names}
        for name, limit in limits.items():
            if math.prod(headers[name].shape) > limit:
                raise TooLargeError(f"its array {name} has more than {limit:,} elements")
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return {name: _mapped(archive.getinfo(f"{name}.npy"), header, content) for name, header in headers.items()}


class _Header(NamedTuple):
    """The shape and the type of an array, and where its data begins in its member."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    begin: int


def _header(archive: zipfile.ZipFile, name: str) -> _Header:
    """Return the header of an array; raises ``ValueError`` unless its member has exactly the size that it says."""
    member = archive.getinfo(f"{name}.npy")
    if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
        raise ValueError(f"its array {name} is compressed")
    with archive.open(member) as file:
        if np.lib.format.read_magic(file) != _NPY_VERSION:
            raise ValueError(f"its array {name} has another format")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        begin = file.tell()
    # Pickled objects have no fixed size, and reading one can run any code.
    if dtype.hasobject:
        raise ValueError(f"its array {name} holds objects")
    if begin + math.prod(shape) * dtype.itemsize != member.file_size:
        raise ValueError(f"its array {name} does not have the size in its header")
    return _Header(tuple(shape), dtype, begin)


def _mapped(member: zipfile.ZipInfo, header: _Header, content: mmap.mmap) -> NDArray[Any]:
    name = member.filename.removesuffix(".npy")
    name_length, extra_length = struct.unpack_from("<HH", content, member.header_offset + _LENGTHS)
    first = member.header_offset + _LOCAL_HEADER + name_length + extra_length
    if zlib.crc32(memoryview(content)[first : first + member.file_size]) != member.CRC:
        raise ValueError(f"its array {name} has changed")
    shape, dtype, begin = header
    count = math.prod(shape)
    # NumPy refuses to make an array of a buffer at its very end.
    return np.frombuffer(content, dtype, count, first + begin).reshape(shape) if count else np.empty(shape, dtype)
