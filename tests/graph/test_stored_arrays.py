"""Arrays in a file: mapped, and never used when they are damaged."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from wikigr.graph.stored_arrays import UNREADABLE, TooLargeError, load_arrays, save_arrays

ARRAYS = {
    "version": np.array(7),
    "name": np.array("é"),
    "text": np.frombuffer(b"odd length 13", dtype=np.uint8),
    "numbers": np.arange(1001, dtype=np.int32),
    "table": np.arange(12, dtype=np.float64).reshape(3, 4),
    "nothing": np.zeros(0, dtype=np.int64),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_arrays(tmp_path / "arrays.npz", ARRAYS)
    return tmp_path / "arrays.npz"


def is_mapped(array: np.ndarray) -> bool:
    return array.base is not None and not array.flags.writeable and not array.flags.owndata


def test_arrays_are_mapped_and_aligned(path: Path) -> None:
    loaded = load_arrays(path, list(ARRAYS), (), {})
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(loaded[name], array)
        assert loaded[name].dtype == array.dtype
        assert loaded[name].flags.aligned
    assert is_mapped(loaded["numbers"])
    # Pages of the file, in which the array begins at a multiple of the alignment.
    assert loaded["numbers"].ctypes.data % np.lib.format.ARRAY_ALIGN == 0


def test_numpy_reads_the_file_and_its_bytes_do_not_depend_on_the_time(path: Path, tmp_path: Path) -> None:
    with np.load(path) as stored:
        assert stored["numbers"].tolist() == list(range(1001))
    save_arrays(tmp_path / "again.npz", ARRAYS)
    assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()


def test_a_file_of_numpy_is_mapped_too(tmp_path: Path) -> None:
    np.savez(tmp_path / "numpy.npz", **ARRAYS)  # type: ignore[arg-type]
    loaded = load_arrays(tmp_path / "numpy.npz", list(ARRAYS), (), {})
    np.testing.assert_array_equal(loaded["table"], ARRAYS["table"])
    assert is_mapped(loaded["numbers"])


def test_a_larger_array_than_allowed_is_refused(path: Path) -> None:
    with pytest.raises(TooLargeError, match="numbers has more than 1,000 elements"):
        load_arrays(path, list(ARRAYS), (), {"numbers": 1000})


@pytest.mark.parametrize("changed", [(502, 501), (501, 500)])
def test_changed_numbers_are_found(path: Path, changed: tuple[int, int]) -> None:
    content = path.read_bytes()
    place = content.index(np.array([500, 501], dtype=np.int32).tobytes())
    path.write_bytes(content[:place] + np.array(changed, dtype=np.int32).tobytes() + content[place + 8 :])
    with pytest.raises(ValueError, match="numbers has changed"):
        load_arrays(path, list(ARRAYS), (), {})


def test_a_local_header_that_points_elsewhere_is_found(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        begin = archive.getinfo("numbers.npy").header_offset
    content = bytearray(path.read_bytes())
    for length in (0, 1, 60, 0xFFFF):
        content[begin + 28 : begin + 30] = length.to_bytes(2, "little")
        path.write_bytes(content)
        with pytest.raises(UNREADABLE):
            load_arrays(path, list(ARRAYS), (), {})
