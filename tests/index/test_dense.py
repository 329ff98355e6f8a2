"""The exact scan on both engines of LadybugDB, and the index path on Kùzu, which has the VECTOR extension linked in."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from wikigr.graph.engine import ENGINE, Graph
from wikigr.graph.schema import ddl
from wikigr.index.dense import create_vector_index, exact_search, index_search, load_vector_extension

DIMENSION = 16
SECTIONS = 400


def unit_vectors(count: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


VECTORS = unit_vectors(SECTIONS, 0)
QUERIES = unit_vectors(20, 1)

# This process already runs an engine, so it looks for the others without importing them; see `apart`.
needs_kuzu = pytest.mark.skipif(find_spec("kuzu") is None, reason="Kùzu has no wheel for this platform")


def expected(query: np.ndarray, limit: int) -> list[str]:
    return [f"s#{n}" for n in np.argsort(-(VECTORS @ query), kind="stable")[:limit]]


def filled(path: Path, engine: str = ENGINE) -> Graph:
    graph = Graph(path, read_only=False, engine=engine)
    for statement in ddl(DIMENSION):
        graph.execute(statement)
    numbers = list(range(SECTIONS))
    graph.copy(
        "Section",
        pa.table(
            {
                "section_id": [f"s#{n}" for n in numbers],
                "title": ["t"] * SECTIONS,
                "heading_path": pa.array([[]] * SECTIONS, type=pa.list_(pa.string())),
                "content": ["c"] * SECTIONS,
                "embedding": pa.FixedSizeListArray.from_arrays(pa.array(VECTORS.ravel()), DIMENSION),
                "position": numbers,
                "level": [0] * SECTIONS,
                "word_count": [1] * SECTIONS,
                "start_offset": [0] * SECTIONS,
                "end_offset": [1] * SECTIONS,
                "source_id": ["x"] * SECTIONS,
                "article_title": ["a"] * SECTIONS,
                "anchor": [""] * SECTIONS,
                "blocks": [""] * SECTIONS,
            }
        ),
    )
    return graph


def check_exact(path: Path, engine: str) -> None:
    with filled(path, engine) as graph:
        for query in QUERIES:
            hits = exact_search(graph, query.tolist(), 10)
            assert [hit.section_id for hit in hits] == expected(query, 10)
            np.testing.assert_allclose([hit.score for hit in hits], sorted(VECTORS @ query)[::-1][:10], atol=1e-6)


def index_recall(path: Path) -> float:
    """Return the share of the true ten nearest that the index on Kùzu finds, after checking order and scores."""
    with filled(path, "kuzu") as graph:
        assert load_vector_extension(graph)
        create_vector_index(graph)
        found = 0
        for query in QUERIES:
            hits = index_search(graph, query.tolist(), 10)
            scores = [hit.score for hit in hits]
            assert len(hits) == 10
            assert scores == sorted(scores, reverse=True)
            truth = {f"s#{n}": float(VECTORS[n] @ query) for n in range(SECTIONS)}
            np.testing.assert_allclose(scores, [truth[hit.section_id] for hit in hits], atol=1e-5)
            found += len(set(expected(query, 10)) & {hit.section_id for hit in hits})
        return found / (10 * len(QUERIES))


Apart = Callable[[str], ProcessPoolExecutor]


@pytest.fixture(scope="module")
def apart() -> Iterator[Apart]:
    """A process for each engine: they export the same symbols and cannot share one."""
    with ExitStack() as stack:

        @cache
        def pool(engine: str) -> ProcessPoolExecutor:
            return stack.enter_context(ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")))

        yield pool


@pytest.mark.parametrize("engine", ["real_ladybug", pytest.param("kuzu", marks=needs_kuzu)])
def test_the_exact_scan_is_exact_on_every_engine(tmp_path: Path, apart: Apart, engine: str) -> None:
    if engine == ENGINE:
        check_exact(tmp_path / "pack.db", engine)
    else:
        apart(engine).submit(check_exact, tmp_path / "pack.db", engine).result()


@needs_kuzu
def test_the_vector_index_finds_what_the_scan_finds(tmp_path: Path, apart: Apart) -> None:
    assert apart("kuzu").submit(index_recall, tmp_path / "pack.db").result() >= 0.95


@pytest.mark.parametrize("limit", [5, SECTIONS + 1])
def test_ties_go_by_section_id(tmp_path: Path, limit: int) -> None:
    with filled(tmp_path / "pack.db") as graph:
        hits = exact_search(graph, [0.0] * DIMENSION, limit)
        assert [hit.section_id for hit in hits] == sorted(f"s#{n}" for n in range(SECTIONS))[:limit]
