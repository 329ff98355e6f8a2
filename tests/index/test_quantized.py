"""Quantized vectors: what they find, and that no damage changes a ranking unnoticed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from wikigr.embeddings.embedder import Vectors
from wikigr.errors import PackError
from wikigr.index import quantized
from wikigr.index.quantized import FILES, HEADER, IDS, ROWS, SIGNS, QuantizedVectors, QuantizedWriter, _single

SECTIONS, DIMENSION, DIGEST = 5_000, 96, "5e3b"


def unit(vectors: Vectors) -> Vectors:
    normed: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return normed


def drawn(count: int, dimension: int, seed: int) -> Vectors:
    """Return unit vectors in clusters, as those of texts are."""
    random = np.random.default_rng(seed)
    centers = random.standard_normal((20, dimension), dtype=np.float32)
    return unit(centers[random.integers(20, size=count)] + random.standard_normal((count, dimension), dtype=np.float32))


def opened(folder: Path, vectors: Vectors, digest: str = DIGEST) -> QuantizedVectors:
    return QuantizedVectors(folder, len(vectors), vectors.shape[1], digest)


def written(
    folder: Path, vectors: Vectors, ids: list[str] | None = None, batch: int = 700, digest: str = DIGEST
) -> QuantizedVectors:
    names = ids or [f"Artikel {n} é#{n}" for n in range(len(vectors))]
    with QuantizedWriter(folder, len(vectors), vectors.shape[1], digest) as writer:
        for first in range(0, len(vectors), batch):
            writer.add(names[first : first + batch], vectors[first : first + batch])
    return opened(folder, vectors, digest)


VECTORS = drawn(SECTIONS, DIMENSION, seed=0)
# Questions near to sections, as real ones are.
QUERIES = unit(VECTORS[::250] + np.float32(0.1) * drawn(20, DIMENSION, seed=1))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> QuantizedVectors:
    return written(tmp_path_factory.mktemp("quantized") / "vectors", VECTORS)


def test_rescoring_finds_the_nearest_sections_with_their_cosines(
    stored: QuantizedVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quantized, "_MIN_CHOSEN", 1_600)
    monkeypatch.setattr(quantized, "_MIN_RESCORED", 300)
    found = 0
    for query in QUERIES:
        cosines = VECTORS @ query
        hits = stored.search(query, 20)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        numbers = [int(hit.section_id.rpartition("#")[2]) for hit in hits]
        assert [hit.section_id for hit in hits] == [f"Artikel {n} é#{n}" for n in numbers]
        np.testing.assert_allclose([hit.score for hit in hits], cosines[numbers], atol=1e-3)
        found += len(set(np.argsort(-cosines)[:20].tolist()) & set(numbers))
    assert found / (20 * len(QUERIES)) >= 0.98


def test_the_signs_choose_what_is_rescored(stored: QuantizedVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_MIN_CHOSEN", 200), ("_CHOSEN", 1), ("_MIN_RESCORED", 50), ("_RESCORED", 1)):
        monkeypatch.setattr(quantized, name, value)
    signs = VECTORS > 0
    differing = (signs != (QUERIES[3] > 0)).sum(axis=1)
    chosen = np.argsort(differing, kind="stable")[:200]
    products = np.where(signs[chosen], 1, -1) @ QUERIES[3].astype(np.float64)
    nearest = set(chosen[np.argsort(-products)[:50]].tolist())
    assert {int(hit.section_id.rpartition("#")[2]) for hit in stored.search(QUERIES[3], 50)} == nearest


@pytest.mark.parametrize("limit", [3, 5, 9])
def test_ties_go_by_section_id(tmp_path: Path, limit: int) -> None:
    vectors = np.repeat(unit(np.array([[1.0, 2.0, -1.0], [1.0, 2.0, 3.0]], dtype=np.float32)), 5, axis=0)
    ids = [f"s#{n}" for n in (7, 3, 9, 1, 5, 0, 8, 2, 6, 4)]
    hits = written(tmp_path / "v", vectors, ids).search(vectors[0], limit)
    assert [hit.section_id for hit in hits] == ["s#1", "s#3", "s#5", "s#7", "s#9", "s#0", "s#2", "s#4", "s#6", "s#8"][
        :limit
    ]


@pytest.mark.parametrize("dimension", [1, 64, 65])
def test_any_dimension_and_batch_size_give_the_same_files(tmp_path: Path, dimension: int) -> None:
    vectors = drawn(300, dimension, seed=dimension)
    one, other = (written(tmp_path / str(batch), vectors, batch=batch) for batch in (7, 300))
    assert [(tmp_path / "7" / name).read_bytes() for name in FILES] == [
        (tmp_path / "300" / name).read_bytes() for name in FILES
    ]
    assert one.search(vectors[5], 3) == other.search(vectors[5], 3)
    assert one.search(vectors[5], 1)[0].score == pytest.approx(1.0, abs=1e-3)


def test_threads_that_search_at_the_same_time_get_the_same_hits(tmp_path: Path) -> None:
    vectors, others = written(tmp_path / "v", VECTORS), written(tmp_path / "w", VECTORS)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: vectors.search(QUERIES[n % 20], 10), range(80)))
    assert found == [others.search(query, 10) for query in QUERIES] * 4


@pytest.mark.trust
@pytest.mark.parametrize("name", FILES)
def test_a_changed_byte_is_found_or_changes_nothing(tmp_path: Path, name: str) -> None:
    vectors = drawn(300, DIMENSION, seed=5)
    expected = written(tmp_path / "v", vectors).search(vectors[7], 300)
    path = tmp_path / "v" / name
    whole = path.read_bytes()
    refused = 0
    for place in np.random.default_rng(2).choice(len(whole), size=min(60, len(whole)), replace=False):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        try:
            assert opened(tmp_path / "v", vectors).search(vectors[7], 300) == expected
        except PackError:
            refused += 1
    # Only padding in a header of NumPy may change without an effect.
    assert refused >= min(60, len(whole)) / 2


@pytest.mark.trust
@pytest.mark.parametrize("name", FILES[1:])
def test_any_changed_byte_of_a_header_is_found_or_changes_nothing(tmp_path: Path, name: str) -> None:
    vectors = drawn(40, DIMENSION, seed=5)
    expected = written(tmp_path / "v", vectors).search(vectors[7], 40)
    path = tmp_path / "v" / name
    whole = path.read_bytes()
    refused = 0
    for place in range(whole.index(b"\n") + 1):
        mask = (0x01, 0x10, 0x5D)[place % 3]
        path.write_bytes(whole[:place] + bytes([whole[place] ^ mask]) + whole[place + 1 :])
        try:
            assert opened(tmp_path / "v", vectors).search(vectors[7], 40) == expected
        except PackError:
            refused += 1
    assert refused


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kept", [0, 0.5, 0.98])
def test_a_truncated_or_missing_file_is_refused(tmp_path: Path, name: str, kept: float) -> None:
    written(tmp_path / "v", VECTORS[:300])
    path = tmp_path / "v" / name
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    with pytest.raises(PackError, match=name):
        QuantizedVectors(tmp_path / "v", 300, DIMENSION, DIGEST).search(QUERIES[0], 300)
    path.unlink()
    with pytest.raises(PackError, match=name):
        QuantizedVectors(tmp_path / "v", 300, DIMENSION, DIGEST)


@pytest.mark.parametrize(
    "header",
    [
        "[]", "{}", "null", "not JSON", "[" * 2000, '{"version": 1}',
        '{"version": 1, "digest": "5e3b", "sections": 300, "dimension": 96, "signs_crc": 0}',
        '{"version": 2, "digest": "5e3b", "sections": -1, "dimension": 96, "signs_crc": 0}',
        '{"version": 2, "digest": "5e3b", "sections": 1e9, "dimension": 96, "signs_crc": 0}',
        '{"version": 2, "digest": 5, "sections": 300, "dimension": 96, "signs_crc": 0}',
        '{"version": 2, "digest": "5e3b", "sections": 300, "dimension": 96, "signs_crc": 0, "x": 1}',
    ],
)  # fmt: skip
def test_a_hostile_header_is_refused(tmp_path: Path, header: str) -> None:
    written(tmp_path / "v", VECTORS[:300])
    (tmp_path / "v" / HEADER).write_text(header)
    with pytest.raises(PackError):
        QuantizedVectors(tmp_path / "v", 300, DIMENSION, DIGEST)


@pytest.mark.parametrize("name", [SIGNS, ROWS, IDS])
def test_arrays_of_another_type_or_shape_and_pickles_are_refused(tmp_path: Path, name: str) -> None:
    written(tmp_path / "v", VECTORS[:300])
    for array in (np.zeros(300), np.zeros((2, 300, 2), dtype=np.uint64), np.array([{}], dtype=object)):
        np.save(tmp_path / "v" / name, array, allow_pickle=True)
        with pytest.raises(PackError):
            QuantizedVectors(tmp_path / "v", 300, DIMENSION, DIGEST)


def test_vectors_of_another_pack_are_refused(tmp_path: Path) -> None:
    written(tmp_path / "v", VECTORS[:300])
    for sections, dimension, digest in ((301, DIMENSION, DIGEST), (300, 384, DIGEST), (300, DIMENSION, "5e3c")):
        with pytest.raises(PackError, match="other content"):
            QuantizedVectors(tmp_path / "v", sections, dimension, digest)


@pytest.mark.parametrize("name", [HEADER, SIGNS, ROWS])
def test_a_file_of_another_pack_is_found(tmp_path: Path, name: str) -> None:
    ids = [f"a#{n}" for n in range(300)]
    written(tmp_path / "v", VECTORS[:300], ids)
    written(tmp_path / "w", VECTORS[300:600], ids, digest="5e3c")
    (tmp_path / "w" / name).rename(tmp_path / "v" / name)
    with pytest.raises(PackError):
        QuantizedVectors(tmp_path / "v", 300, DIMENSION, DIGEST).search(QUERIES[0], 10)


@pytest.mark.parametrize("name", [SIGNS, ROWS])
def test_sections_that_change_places_are_found(tmp_path: Path, name: str) -> None:
    written(tmp_path / "v", VECTORS[:300])
    array = np.load(tmp_path / "v" / name)
    array[..., [3, 4]] = array[..., [4, 3]]
    np.save(tmp_path / "v" / name, array)
    with pytest.raises(PackError, match="damaged"):
        QuantizedVectors(tmp_path / "v", 300, DIMENSION, DIGEST).search(QUERIES[0], 10)


def test_holds_compares_ids_and_vectors(tmp_path: Path) -> None:
    vectors, ids = VECTORS[:300], [f"a#{n}" for n in range(300)]
    stored = written(tmp_path / "v", vectors, ids)
    assert stored.holds(0, ids, vectors)
    assert stored.holds(100, ids[100:200], vectors[100:200])
    assert not stored.holds(1, ids[:299], vectors[:299])
    assert not stored.holds(0, [*ids[:-1], "b#299"], vectors)
    assert not stored.holds(0, ids, np.concatenate([vectors[:299], -vectors[299:]]))
    assert not stored.holds(200, ids[100:201], vectors[100:201])


@pytest.mark.parametrize("span", [(1 << 63, 5), (0, 1 << 40), (8, -5), (-3, 5), (6, 5)])
def test_a_span_outside_of_the_ids_reads_as_nothing(tmp_path: Path, span: tuple[int, int]) -> None:
    # The end of an id is a number in the file, whose checksum a stranger can compute as well.
    (tmp_path / IDS).write_bytes(b"header0123456789")
    with (tmp_path / IDS).open("rb") as file:
        data = quantized._Data(file.fileno(), 6, 10)
        assert data.read([(0, 10)]) == [b"0123456789"]
        assert data.read([(0, 3), span]) == [b"", b""]


def test_half_precision_becomes_single_precision_bit_by_bit() -> None:
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)]
    assert np.array_equal(_single(finite).view(np.uint32), finite.astype(np.float32).view(np.uint32))
