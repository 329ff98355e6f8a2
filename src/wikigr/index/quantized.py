"""Approximate dense search for large packs: scan one bit per dimension, then rescore the best with half precision.

The sign of a dimension is a good code for vectors of sentence encoders (Charikar 2002, "Similarity Estimation
Techniques from Rounding Algorithms"): the number of differing signs estimates the angle between two vectors. Its scan
takes milliseconds for a million sections, and the vectors of the best candidates, rounded to half precision, give
cosines that differ from the exact ones by less than 0.001.

Files of the folder ``vectors/``, in order of article title and position:

- ``header.json``: the version of this format, the numbers of sections and dimensions, and the checksum of the signs
- ``signs.npy``: uint64, shape (ceil(dimensions / 64), sections), the signs of 64 dimensions in a number
- ``rows.npy``: per section its vector (float16), the end of its id in ``ids.npy``, and the checksums of both
- ``ids.npy``: the section ids in UTF-8, one after the other

The signs are memory-mapped, and a search reads the rows of its candidates only. Everything that it reads is compared
with a checksum: a damaged file never changes a ranking unnoticed.
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
from wikigr.index.candidate import Hit

HEADER, SIGNS, ROWS, IDS = FILES = ("header.json", "signs.npy", "rows.npy", "ids.npy")

# Increment it when the meaning of a file changes.
_VERSION = 1

# Candidates that are rescored for each section that is asked for, and at least.
_RESCORED, _MIN_RESCORED = 40, 4_000

# Sections whose signs are compared at a time: their intermediate results fit into the second-level cache.
_BLOCK = 32_768

_MAX_HEADER_BYTES = 4096


class QuantizedError(PackError):
    """The quantized vectors of a pack are missing, damaged or have another version."""


@dataclass(frozen=True, slots=True)
class _Header:
    version: int
    sections: int
    dimension: int
    signs_sum: int


class QuantizedVectors:
    """The quantized vectors of a pack. Any number of threads may search them."""

    def __init__(self, folder: Path, sections: int, dimension: int) -> None:
        """Open the files in ``folder``, which must have this many ``sections`` of ``dimension`` dimensions.

        Raises ``QuantizedError``.
        """
        self._folder = folder
        self._header = _read_header(folder / HEADER)
        if (self._header.sections, self._header.dimension) != (sections, dimension):
            raise QuantizedError(f"The quantized vectors in {folder} belong to other content.")
        words = -(-dimension // 64)
        self._signs = self._map(SIGNS, np.dtype("<u8"), (words, sections))
        rows = self._map(ROWS, _row_type(dimension), (sections,))
        self._row_type = rows.dtype
        # Rows are read one by one: every access to a mapped page would map its neighbors as well, 64 KB for 784 bytes.
        self._first_row = (folder / ROWS).stat().st_size - rows.nbytes
        self._file = os.open(folder / ROWS, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)
        self._ids = self._map(IDS, np.dtype("u1"), None)

    def _map(self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...] | None) -> NDArray[Any]:
        path = self._folder / name
        try:
            array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        # NumPy parses the header as Python.
        except (OSError, ValueError, EOFError, SyntaxError, TokenError) as error:
            raise QuantizedError(
                f"Cannot read the quantized vectors {path}: {' '.join(str(error).split())}."
            ) from error
        if array.dtype != dtype or array.ndim != len(shape or (0,)) or (shape is not None and array.shape != shape):
            raise QuantizedError(f"The quantized vectors {path} have another shape than their header says.")
        # As a plain array, whose methods are faster.
        return array.view(np.ndarray)

    def __len__(self) -> int:
        return self._header.sections

    @property
    def max_hits(self) -> int:
        """The largest number of hits for which ``search`` is faster than a comparison with all vectors."""
        return len(self) // (4 * _RESCORED)

    def search(self, query: Vectors, limit: int) -> list[Hit]:
        """Return the ``limit`` sections nearest to ``query`` (float32, norm 1, shape ``(d,)``), best first.

        Scores are cosines of the rounded vectors; ties break by section id. Raises ``QuantizedError`` when the files
        are damaged.
        """
        numbers = self._nearest_signs(query, max(_MIN_RESCORED, _RESCORED * limit))
        rows = self._read_rows(numbers.tolist())
        if (_checksums(rows["vector"]) != rows["vector_sum"]).any():
            raise self._damaged()
        # Without BLAS, whose threads would go on spinning on the cores that the reader needs next.
        scores = np.einsum("ij,j->i", rows["vector"].astype(np.float32), query)
        if len(numbers) > limit > 0:
            # Sections that tie with the last one are kept, because their ids decide.
            kept = np.flatnonzero(scores >= np.partition(scores, -limit)[-limit])
            numbers, scores = numbers[kept], scores[kept]
        ids = self._read_ids(numbers.tolist())
        hits = [Hit(section_id, score) for section_id, score in zip(ids, scores.tolist(), strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.section_id))[:limit]

    def read_ahead(self) -> None:
        """Read the signs from disk."""
        with suppress(QuantizedError):  # the first search raises it
            _ = self._checked_signs

    def _nearest_signs(self, query: Vectors, count: int) -> NDArray[np.intp]:
        """Return the numbers of the ``count`` sections whose signs differ least from those of ``query``, ascending."""
        signs = self._checked_signs
        code = _signs(query[np.newaxis])[:, 0]
        distances = np.empty(len(self), dtype=np.uint16)
        for first in range(0, len(self), _BLOCK):
            beyond = min(first + _BLOCK, len(self))
            total = np.zeros(beyond - first, dtype=np.uint16)
            for column, word in zip(signs, code, strict=True):
                total += np.bitwise_count(column[first:beyond] ^ word)
            distances[first:beyond] = total
        if count >= len(self):
            return np.arange(len(self))
        # Counting is faster than sorting: there are no more distances than dimensions.
        within = np.cumsum(np.bincount(distances, minlength=1))
        last = int(np.searchsorted(within, count))
        nearer = np.flatnonzero(distances < last)
        ties = np.flatnonzero(distances == last)[: count - len(nearer)]
        return np.sort(np.concatenate([nearer, ties]))

    @cached_property
    def _checked_signs(self) -> NDArray[np.uint64]:
        if _sum(self._signs) != self._header.signs_sum:
            raise self._damaged()
        return self._signs

    def _read_rows(self, numbers: Sequence[int]) -> NDArray[Any]:
        size, first = self._row_type.itemsize, self._first_row
        content = b"".join([os.pread(self._file, size, first + size * number) for number in numbers])
        if len(content) != size * len(numbers):
            raise self._damaged()
        return np.frombuffer(content, self._row_type)

    def _read_ids(self, numbers: Sequence[int]) -> list[str]:
        # The id of a section begins where that of the section before it ends.
        before = self._read_rows([number - 1 for number in numbers if number])["end"].tolist()
        begins = [before.pop(0) if number else 0 for number in numbers]
        ids = []
        for begin, row in zip(begins, self._read_rows(numbers), strict=True):
            text = self._ids[begin : int(row["end"])].tobytes() if begin >= 0 else b""
            if zlib.crc32(text) != int(row["id_crc"]):
                raise self._damaged()
            ids.append(text.decode("utf-8", "replace"))
        return ids

    def holds(self, first: int, section_ids: Sequence[str], vectors: Vectors) -> bool:
        """Return whether the sections from number ``first`` on have these ids and ``vectors`` (float32, ``(n, d)``)."""
        if first + len(section_ids) > len(self):
            return False
        begin = int(self._read_rows([first - 1])["end"][0]) if first else 0
        texts = _encoded(section_ids)
        wanted = _rows(texts, vectors, begin)
        page = range(first, first + len(section_ids))
        return (
            self._read_rows(page).tobytes() == wanted.tobytes()
            and np.array_equal(self._signs[:, first : first + len(section_ids)], _signs(vectors))
            and begin >= 0
            and self._ids[begin : begin + sum(map(len, texts))].tobytes() == b"".join(texts)
        )

    def _damaged(self) -> QuantizedError:
        return QuantizedError(f"The quantized vectors in {self._folder} are damaged.")


class QuantizedWriter:
    """Writes the quantized vectors of a pack, batch by batch. Use it as a context manager.

    Memory use: the signs, 48 bytes per section of 384 dimensions.
    """

    def __init__(self, folder: Path, sections: int, dimension: int) -> None:
        """Create ``folder`` for this many ``sections``."""
        folder.mkdir()
        self._folder = folder
        self._header = _Header(_VERSION, sections, dimension, 0)
        self._signs = np.zeros((-(-dimension // 64), sections), dtype="<u8")
        self._rows = (folder / ROWS).open("wb")
        _write_npy_header(self._rows, _row_type(dimension), (sections,))
        self._ids = bytearray()
        self._written = 0

    def add(self, section_ids: Sequence[str], vectors: Vectors) -> None:
        """Append sections with these ids and ``vectors`` (float32, norm 1, shape ``(n, d)``)."""
        texts = _encoded(section_ids)
        self._rows.write(_rows(texts, vectors, len(self._ids)).tobytes())
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
        header = asdict(self._header) | {"signs_sum": _sum(self._signs)}
        (self._folder / HEADER).write_text(json.dumps(header) + "\n", encoding="utf-8")


def _encoded(section_ids: Sequence[str]) -> list[bytes]:
    return [section_id.encode("utf-8", "replace") for section_id in section_ids]


def _rows(texts: Sequence[bytes], vectors: Vectors, begin: int) -> NDArray[Any]:
    """Return the rows of sections with these ids and ``vectors``; the first id begins at ``begin``."""
    rows = np.zeros(len(texts), dtype=_row_type(vectors.shape[1]))
    rows["vector"] = vectors
    rows["vector_sum"] = _checksums(rows["vector"])
    rows["end"] = begin + np.cumsum([len(text) for text in texts])
    rows["id_crc"] = [zlib.crc32(text) for text in texts]
    return rows


def _row_type(dimension: int) -> np.dtype[Any]:
    return np.dtype([("vector", "<f2", (dimension,)), ("end", "<i8"), ("vector_sum", "<u4"), ("id_crc", "<u4")])


def _signs(vectors: Vectors) -> NDArray[np.uint64]:
    """Return the signs of ``vectors`` (shape ``(n, d)``), 64 dimensions in a number, with shape (ceil(d / 64), n)."""
    count, dimension = vectors.shape
    padded = np.zeros((count, -(-dimension // 64) * 64), dtype=np.bool_)
    padded[:, :dimension] = vectors > 0
    return np.ascontiguousarray(np.packbits(padded, axis=1).view("<u8").T)


def _sum(signs: NDArray[np.uint64]) -> int:
    """Return a checksum of the signs, at the speed of the memory: their sum as numbers, modulo 2 ** 64."""
    return int(signs.sum(dtype=np.uint64))


def _checksums(vectors: NDArray[np.float16]) -> NDArray[np.uint32]:
    """Return a checksum of each row: the sum of its 16-bit words, which any one changed word changes."""
    sums: NDArray[np.uint32] = np.ascontiguousarray(vectors).view("<u2").sum(axis=1, dtype=np.uint32)
    return sums


def _write_npy_header(stream: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    fields = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, fields)


def _read_header(path: Path) -> _Header:
    try:
        if path.stat().st_size > _MAX_HEADER_BYTES:
            raise ValueError("it is too long")
        fields = json.loads(path.read_bytes())
        header = _Header(**fields)
        if any(type(value) is not int or value < 0 for value in asdict(header).values()):
            raise ValueError("it has a value that is not a natural number")
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise QuantizedError(f"Cannot read the quantized vectors {path}: {' '.join(str(error).split())}.") from error
    if header.version != _VERSION:
        raise QuantizedError(f"The quantized vectors {path} have version {header.version}, not {_VERSION}.")
    return header
