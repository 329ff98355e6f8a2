"""Approximate dense search for large packs: scan one bit per dimension, then rescore the best with half precision.

The sign of a dimension is a good code for vectors of sentence encoders (Charikar 2002, "Similarity Estimation
Techniques from Rounding Algorithms"): the number of differing signs estimates the angle between two vectors. Its scan
takes milliseconds for a million sections. The best sections are compared with the question again, whose own values are
not rounded to signs (asymmetric distance: Gordo, Perronnin, Gong, Lazebnik 2014), and the vectors of the best of these,
rounded to half precision, give cosines that differ from the exact ones by less than 0.001.

Files of the folder ``vectors/``, in order of article title and position:

- ``header.json``: the version of this format, the content digest of the pack, the numbers of sections and dimensions,
  and the CRC-32 of the signs
- ``signs.npy``: uint64, shape (ceil(dimensions / 64), sections), the signs of 64 dimensions in a number
- ``rows.npy``: per section its vector (float16), the end of its id in ``ids.npy``, the CRC-32 of the id, and that of
  the row
- ``ids.npy``: the section ids in UTF-8, one after the other

The signs are memory-mapped, and a search reads the rows of its candidates only. Everything that it reads is compared
with a checksum, the signs and the rows of a small pack when they are first read: a file that was damaged before never
changes a ranking unnoticed. The checksum of a row depends on the pack's digest and on the row's number, so a file of
another pack is noticed too.
"""

from __future__ import annotations

import json
import os
import weakref
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from tokenize import TokenError
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wikigr.embeddings.embedder import Vectors
from wikigr.errors import PackError
from wikigr.files import open_regular, read_regular
from wikigr.index.candidate import Hit

HEADER, SIGNS, ROWS, IDS = FILES = ("header.json", "signs.npy", "rows.npy", "ids.npy")

# Increment it when the meaning of a file changes.
_VERSION = 2

# For each section that is asked for, and at least: sections chosen by their signs alone, and those of them that are
# rescored. Of the 50 nearest sections, 99.9% are found.
_CHOSEN, _MIN_CHOSEN = 80, 8_000
_RESCORED, _MIN_RESCORED = 15, 1_500

# Bytes of the rows of a small pack, some 40,000 sections.
_MAX_MAPPED = 32 << 20

# Sections whose signs are compared at a time: their intermediate results fit into the second-level cache.
_BLOCK = 32_768


# The signs that each byte stands for, as 1 and -1.
_BYTE_SIGNS = np.where(np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1), 1, -1).astype(np.float32)

# The CRC-32 of any bytes that end with their own CRC-32.
_CRC_OF_CRC = 0x2144DF1C


@dataclass(frozen=True, slots=True)
class _Header:
    version: int
    digest: str
    sections: int
    dimension: int
    signs_crc: int


@dataclass(frozen=True, slots=True)
class _Data:
    """The ``size`` bytes of an open ``file`` from ``first`` on."""

    file: int
    first: int
    size: int

    def read(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of each span, given as its first byte and its length; none if it is not within the data."""
        if any(not 0 <= first <= first + length <= self.size for first, length in spans):
            return [b"" for _ in spans]
        if hasattr(os, "posix_fadvise"):
            # The disk reads all of them at the same time: a fifth of the time of one after the other.
            for first, length in spans:
                os.posix_fadvise(self.file, self.first + first, length, os.POSIX_FADV_WILLNEED)
        return [os.pread(self.file, length, self.first + first) for first, length in spans]


class QuantizedVectors:
    """The quantized vectors of a pack. Any number of threads may search them."""

    def __init__(self, folder: Path, sections: int, dimension: int, digest: str) -> None:
        """Open the files in ``folder``, which must have this many ``sections`` of ``dimension`` dimensions.

        ``digest`` is the content digest of their pack. Raises ``PackError``.
        """
        self._folder = folder
        self._header = _read_header(folder / HEADER)
        if (self._header.sections, self._header.dimension, self._header.digest) != (sections, dimension, digest):
            raise PackError(f"The quantized vectors in {folder} belong to other content.")
        words = -(-dimension // 64)
        self._signs = self._map(SIGNS, np.dtype("<u8"), (words, sections))
        rows = self._map(ROWS, _row_type(dimension), (sections,))
        self._row_type = rows.dtype
        self._key = _key(digest)
        # Rows and ids are read one by one: every access to a mapped page would map its neighbors as well, 64 KB for 784
        # bytes, and wait for the disk before the next.
        self._rows = self._open(ROWS, rows.nbytes)
        # Of a small pack, all may be mapped: reading a fifth of them one by one takes a third of the time of a search.
        self._mapped_rows = rows if rows.nbytes <= _MAX_MAPPED else None
        # Like the signs, they are compared with their checksums once.
        self._checked_rows = np.zeros(0 if self._mapped_rows is None else len(rows), dtype=np.bool_)
        self._ids = self._open(IDS, self._map(IDS, np.dtype("u1"), None).nbytes)

    def _map(self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...] | None) -> NDArray[Any]:
        path = self._folder / name
        try:
            open_regular(path).close()
            array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        # NumPy parses the header as Python.
        except (OSError, ValueError, EOFError, SyntaxError, TokenError) as error:
            raise PackError(f"Cannot read the quantized vectors {path}: {' '.join(str(error).split())}.") from error
        if array.dtype != dtype or array.ndim != len(shape or (0,)) or (shape is not None and array.shape != shape):
            raise PackError(f"The quantized vectors {path} have another shape than their header says.")
        # As a plain array, whose methods are faster.
        return array.view(np.ndarray)

    def _open(self, name: str, content: int) -> _Data:
        """Open a file whose last ``content`` bytes are an array."""
        path = self._folder / name
        file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, file)
        return _Data(file, path.stat().st_size - content, content)

    def __len__(self) -> int:
        return self._header.sections

    @property
    def max_hits(self) -> int:
        """The largest number of hits for which ``search`` is faster than a comparison with all vectors."""
        return len(self) // (4 * _RESCORED)

    def search(self, query: Vectors, limit: int) -> list[Hit]:
        """Return the ``limit`` sections nearest to ``query`` (float32, norm 1, shape ``(d,)``), best first.

        Scores are cosines of the rounded vectors; ties break by section id. Raises ``PackError`` when the files
        are damaged.
        """
        numbers = self._nearest_signs(query, max(_MIN_CHOSEN, _CHOSEN * limit))
        numbers = self._nearest_codes(query, numbers, max(_MIN_RESCORED, _RESCORED * limit))
        # Without BLAS, whose threads would go on spinning on the cores that the reader needs next.
        rows = self._read_rows(numbers)
        scores = np.einsum("ij,j->i", _single(rows["vector"]), query)
        if len(numbers) > limit > 0:
            # Sections that tie with the last one are kept, because their ids decide.
            kept = np.flatnonzero(scores >= np.partition(scores, -limit)[-limit])
            numbers, rows, scores = numbers[kept], rows[kept], scores[kept]
        ids = self._read_ids(numbers, rows)
        hits = [Hit(section_id, score) for section_id, score in zip(ids, scores.tolist(), strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.section_id))[:limit]

    def read_ahead(self) -> None:
        """Read the signs from disk."""
        with suppress(PackError):  # the first search raises it
            _ = self._checked_signs

    def _nearest_signs(self, query: Vectors, count: int) -> NDArray[np.intp]:
        """Return the numbers of the ``count`` sections whose signs differ least from those of ``query``, ascending."""
        signs = self._checked_signs
        code = _signs(query[np.newaxis])[:, 0]
        distances = np.empty(len(self), dtype=np.uint16)
        # Counting is faster than sorting: there are no more distances than dimensions.
        counts = np.zeros(64 * len(signs) + 1, dtype=np.intp)
        for first in range(0, len(self), _BLOCK):
            beyond = min(first + _BLOCK, len(self))
            total = np.zeros(beyond - first, dtype=np.uint16)
            for column, word in zip(signs, code, strict=True):
                total += np.bitwise_count(column[first:beyond] ^ word)
            distances[first:beyond] = total
            counts += np.bincount(total, minlength=len(counts))
        if count >= len(self):
            return np.arange(len(self))
        last = int(np.searchsorted(np.cumsum(counts), count))
        nearer = np.flatnonzero(distances < last)
        ties = np.flatnonzero(distances == last)[: count - len(nearer)]
        return np.sort(np.concatenate([nearer, ties]))

    def _nearest_codes(self, query: Vectors, numbers: NDArray[np.intp], count: int) -> NDArray[np.intp]:
        """Return the ``count`` of the sections ``numbers`` whose signs have the highest inner product with ``query``.

        Both are in ascending order.
        """
        if count >= len(numbers):
            return numbers
        codes = self._checked_signs.take(numbers, axis=1)
        padded = np.zeros(64 * len(codes), dtype=np.float32)
        padded[: len(query)] = query
        # The inner product of eight dimensions with every possible byte of signs.
        tables = np.einsum("ij,kj->ik", padded.reshape(-1, 8), _BYTE_SIGNS)
        scores = np.zeros(len(numbers), dtype=np.float32)
        by_byte = codes.view(np.uint8).reshape(len(codes), -1, 8).transpose(0, 2, 1).reshape(len(tables), -1)
        for table, column in zip(tables, by_byte, strict=True):
            scores += table[column]
        return np.sort(numbers[np.argpartition(-scores, count)[:count]])

    @cached_property
    def _checked_signs(self) -> NDArray[np.uint64]:
        if zlib.crc32(self._signs.data) != self._header.signs_crc:
            raise self._damaged()
        return self._signs

    def _read_rows(self, numbers: NDArray[np.intp]) -> NDArray[Any]:
        size = self._row_type.itemsize
        if self._mapped_rows is None:
            rows = self._rows.read([(size * number, size) for number in numbers.tolist()])
            self._check_rows(numbers, rows)
            return np.frombuffer(b"".join(rows), self._row_type)
        new = numbers[~self._checked_rows[numbers]]
        self._check_rows(new, [row.tobytes() for row in self._mapped_rows[new]])
        self._checked_rows[new] = True
        return self._mapped_rows.take(numbers)

    def _check_rows(self, numbers: NDArray[np.intp], rows: Sequence[bytes]) -> None:
        size = self._row_type.itemsize
        for number, row in zip(numbers.tolist(), rows, strict=True):
            if len(row) != size or zlib.crc32(row, self._key + number & 0xFFFFFFFF) != _CRC_OF_CRC:
                raise self._damaged()

    def _read_ids(self, numbers: NDArray[np.intp], rows: NDArray[Any]) -> list[str]:
        # The id of a section begins where that of the section before it ends.
        before = self._read_rows(numbers[numbers > 0] - 1)["end"].tolist()
        begins = [before.pop(0) if number else 0 for number in numbers]
        ends = rows["end"].tolist()
        texts = self._ids.read([(begin, end - begin) for begin, end in zip(begins, ends, strict=True)])
        if [zlib.crc32(text) for text in texts] != rows["id_crc"].tolist():
            raise self._damaged()
        return [text.decode("utf-8", "replace") for text in texts]

    def holds(self, first: int, section_ids: Sequence[str], vectors: Vectors) -> bool:
        """Return whether the sections from number ``first`` on have these ids and ``vectors`` (float32, ``(n, d)``)."""
        if first + len(section_ids) > len(self):
            return False
        begin = int(self._read_rows(np.array([first - 1]))["end"][0]) if first else 0
        texts = _encoded(section_ids)
        wanted = _rows(texts, vectors, begin, first, self._key)
        page = np.arange(first, first + len(section_ids))
        return (
            self._read_rows(page).tobytes() == wanted.tobytes()
            and np.array_equal(self._signs[:, first : first + len(section_ids)], _signs(vectors))
            and self._ids.read([(begin, sum(map(len, texts)))]) == [b"".join(texts)]
        )

    def _damaged(self) -> PackError:
        return PackError(f"The quantized vectors in {self._folder} are damaged.")


class QuantizedWriter:
    """Writes the quantized vectors of a pack, batch by batch. Use it as a context manager.

    Memory use: the signs, 48 bytes per section of 384 dimensions.
    """

    def __init__(self, folder: Path, sections: int, dimension: int, digest: str) -> None:
        """Create ``folder`` for this many ``sections`` of a pack with the content digest ``digest``."""
        folder.mkdir()
        self._folder = folder
        self._header = _Header(_VERSION, digest, sections, dimension, 0)
        self._signs = np.zeros((-(-dimension // 64), sections), dtype="<u8")
        self._rows = (folder / ROWS).open("wb")
        fields = {"descr": np.lib.format.dtype_to_descr(_row_type(dimension)), "fortran_order": False}
        np.lib.format.write_array_header_1_0(self._rows, {**fields, "shape": (sections,)})
        self._ids = bytearray()
        self._written = 0

    def add(self, section_ids: Sequence[str], vectors: Vectors) -> None:
        """Append sections with these ids and ``vectors`` (float32, norm 1, shape ``(n, d)``)."""
        texts = _encoded(section_ids)
        key = _key(self._header.digest)
        self._rows.write(_rows(texts, vectors, len(self._ids), self._written, key).tobytes())
        self._ids += b"".join(texts)
        self._signs[:, self._written : self._written + len(texts)] = _signs(vectors)
        self._written += len(texts)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._rows.close()
        if error is not None:
            return
        assert self._written == self._header.sections
        np.save(self._folder / SIGNS, self._signs)
        np.save(self._folder / IDS, np.frombuffer(bytes(self._ids), dtype=np.uint8))
        header = asdict(self._header) | {"signs_crc": zlib.crc32(self._signs.data)}
        (self._folder / HEADER).write_text(json.dumps(header) + "\n", encoding="utf-8")


def _encoded(section_ids: Sequence[str]) -> list[bytes]:
    return [section_id.encode("utf-8", "replace") for section_id in section_ids]


def _key(digest: str) -> int:
    """Return the number that the checksums of the rows of a pack with this content ``digest`` begin with."""
    return zlib.crc32(digest.encode("utf-8", "replace"))


def _rows(texts: Sequence[bytes], vectors: Vectors, begin: int, first: int, key: int) -> NDArray[Any]:
    """Return the rows from number ``first`` on; the first of the ids ``texts`` begins at ``begin``."""
    rows = np.zeros(len(texts), dtype=_row_type(vectors.shape[1]))
    rows["vector"] = vectors
    rows["end"] = begin + np.cumsum([len(text) for text in texts])
    rows["id_crc"] = [zlib.crc32(text) for text in texts]
    numbered = enumerate(rows, first)
    rows["row_crc"] = [zlib.crc32(row.tobytes()[:-4], key + number & 0xFFFFFFFF) for number, row in numbered]
    return rows


def _row_type(dimension: int) -> np.dtype[Any]:
    return np.dtype([("vector", "<f2", (dimension,)), ("end", "<i8"), ("id_crc", "<u4"), ("row_crc", "<u4")])


def _single(halves: NDArray[np.float16]) -> Vectors:
    """Return ``halves``, none of which is infinite, in single precision: in a quarter of the time of ``astype``."""
    # Sign, exponent and fraction move to their places; the exponents of the two formats count from 15 and from 127.
    bits = halves.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= ~0x70000000
    single = bits.view(np.float32)
    single *= np.float32(2.0**112)
    return single


def _signs(vectors: Vectors) -> NDArray[np.uint64]:
    """Return the signs of ``vectors`` (shape ``(n, d)``), 64 dimensions in a number, with shape (ceil(d / 64), n)."""
    count, dimension = vectors.shape
    padded = np.zeros((count, -(-dimension // 64) * 64), dtype=np.bool_)
    padded[:, :dimension] = vectors > 0
    return np.ascontiguousarray(np.packbits(padded, axis=1).view("<u8").T)


def _read_header(path: Path) -> _Header:
    try:
        fields = json.loads(read_regular(path, 4096))
        header = _Header(**fields)
        numbers = (header.version, header.sections, header.dimension, header.signs_crc)
        if type(header.digest) is not str or any(type(value) is not int or value < 0 for value in numbers):
            raise ValueError("it has a value of another type")
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise PackError(f"Cannot read the quantized vectors {path}: {' '.join(str(error).split())}.") from error
    if header.version != _VERSION:
        raise PackError(f"The quantized vectors {path} have version {header.version}, not {_VERSION}.")
    return header
