"""Compare ways to search the vectors of a large pack: recall of the exact result, time, size and build.

    python benchmarks/vector_search.py PACK [--questions 200] [--seed 0] [--repeat 1]

PACK is a pack with vectors of its own; --repeat N searches N copies of them, each but the first with a little noise, to
see how time grows. Questions are "What is TITLE?" for random articles, encoded with the pack's encoder. Needs
faiss-cpu and usearch. Approximate methods that are not precise enough by themselves find 1,000 candidates (or as many
as given in their name), which are rescored with vectors in half precision. The columns:

    R@10, R@50   share of the exact 10 and 50 nearest sections that are found
    ms           median per question, one question at a time, on all cores
    bytes        per section, beyond the vectors in the database; including what is rescored
    build, s     from vectors in memory to an index in memory or on disk
    import, s    of its library in a new process, beyond that of NumPy
    same         whether two builds give the same bytes
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from wikigr.embeddings.embedder import Vectors
from wikigr.index.quantized import QuantizedVectors, QuantizedWriter
from wikigr.pack.open import Pack

TOP = 50
CANDIDATES = 1_000
NOISE = 0.02

Search = Callable[[Vectors], "np.ndarray[Any, Any]"]


def stored_vectors(pack: Pack) -> Vectors:
    """Return all vectors of ``pack``, shape ``(n, d)``."""
    count, pages = pack.manifest.counts["sections"], []
    for first in range(0, count, 20_000):
        rows = pack.graph.rows(
            "MATCH (s:Section) WHERE offset(id(s)) >= $first AND offset(id(s)) < $last RETURN s.embedding",
            {"first": first, "last": first + 20_000},
        )
        pages.append(np.array([row[0] for row in rows], dtype=np.float32))
    return np.concatenate(pages)


class Methods:
    """Builds an index of each kind over ``vectors``; a build returns its search and its bytes."""

    def __init__(self, vectors: Vectors, folder: Path) -> None:
        self.vectors, self.folder = vectors, folder
        self.count, self.dimension = vectors.shape
        self.halves = vectors.astype(np.float16)

    def rescored(self, query: Vectors, numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        numbers = np.sort(numbers)
        scores = self.halves[numbers].astype(np.float32) @ query
        best: np.ndarray[Any, Any] = numbers[np.argsort(-scores, kind="stable")[:TOP]]
        return best

    def numpy_exact(self) -> tuple[Search, bytes]:
        return lambda query: np.argsort(-(self.vectors @ query), kind="stable")[:TOP], b""

    def wikigr(self) -> tuple[Search, bytes]:
        folder = Path(tempfile.mkdtemp(dir=self.folder)) / "vectors"
        with QuantizedWriter(folder, self.count, self.dimension, "") as writer:
            for first in range(0, self.count, 2_000):
                batch = self.vectors[first : first + 2_000]
                writer.add([f"{first + n:07d}" for n in range(len(batch))], batch)
        index = QuantizedVectors(folder, self.count, self.dimension, "")
        written = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
        return lambda query: np.array([int(hit.section_id) for hit in index.search(query, TOP)]), written

    def faiss(self, description: str, *, candidates: int = 0) -> tuple[Search, bytes]:
        import faiss

        index = faiss.index_factory(self.dimension, description, faiss.METRIC_INNER_PRODUCT)
        # Training on more does not change the result and takes longer.
        index.train(self.vectors[np.random.default_rng(0).permutation(self.count)[:100_000]])
        index.add(self.vectors)
        size = faiss.serialize_index(index).tobytes() + (self.halves.tobytes() if candidates else b"")
        if not candidates:
            return lambda query: index.search(query[np.newaxis], TOP)[1][0], size
        return lambda query: self.rescored(query, index.search(query[np.newaxis], candidates)[1][0]), size

    def faiss_signs(self, candidates: int) -> tuple[Search, bytes]:
        import faiss

        index = faiss.IndexBinaryFlat(self.dimension)
        index.add(np.packbits(self.vectors > 0, axis=1))
        size = faiss.serialize_index_binary(index).tobytes() + self.halves.tobytes()
        return lambda query: self.rescored(
            query, index.search(np.packbits(query > 0)[np.newaxis], candidates)[1][0]
        ), size

    def usearch(self, expansion: int) -> tuple[Search, bytes]:
        from usearch.index import Index

        index = Index(ndim=self.dimension, metric="ip", dtype="i8", expansion_search=expansion)
        index.add(np.arange(self.count), self.vectors)
        size = bytes(index.save())
        return lambda query: index.search(query, TOP).keys.astype(np.int64), size


def imported(module: str) -> float:
    """Return the median seconds that importing ``module`` takes in a new process after NumPy."""
    script = f"import time, numpy; begun = time.perf_counter(); import {module}; print(time.perf_counter() - begun)"
    runs = [subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout for _ in range(5)]
    return statistics.median(float(run) for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", type=Path)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    with Pack(options.pack) as pack:
        vectors = stored_vectors(pack)
        titles = [row[0] for row in pack.graph.rows("MATCH (a:Article) RETURN a.title ORDER BY a.title")]
        chosen = random.Random(options.seed).sample(titles, min(options.questions, len(titles)))
        queries = np.concatenate([pack.encoder.encode([f"What is {title}?"]) for title in chosen])
    noise = np.random.default_rng(options.seed)
    copies = [vectors]
    for _ in range(options.repeat - 1):
        noisy = vectors + NOISE * noise.standard_normal(vectors.shape, dtype=np.float32)
        copies.append(noisy / np.linalg.norm(noisy, axis=1, keepdims=True))
    vectors = np.concatenate(copies)
    del copies
    print(f"{len(vectors):,} vectors of {vectors.shape[1]} dimensions, {len(queries)} questions")
    exact = [np.argsort(-(vectors @ query), kind="stable")[:TOP] for query in queries]
    imports = {"": 0.0, "faiss": imported("faiss"), "usearch": imported("usearch.index")}
    print(f"{'':<34}{'R@10':>8}{'R@50':>8}{'ms':>8}{'bytes':>8}{'build, s':>10}{'import, s':>11}{'same':>6}")
    with tempfile.TemporaryDirectory() as folder:
        methods = Methods(vectors, Path(folder))
        rows: dict[str, tuple[str, Callable[[], tuple[Search, bytes]]]] = {
            "single precision, NumPy": ("", methods.numpy_exact),
            "wikigr: signs + 4,000 rescored": ("", methods.wikigr),
            "faiss signs + 1,000 rescored": ("faiss", lambda: methods.faiss_signs(CANDIDATES)),
            "faiss signs + 4,000 rescored": ("faiss", lambda: methods.faiss_signs(4 * CANDIDATES)),
            "faiss 8-bit": ("faiss", lambda: methods.faiss("SQ8")),
            "faiss 4-bit": ("faiss", lambda: methods.faiss("SQ4")),
            "faiss RaBitQ + 1,000": ("faiss", lambda: methods.faiss("RR,RaBitQ", candidates=CANDIDATES)),
            "faiss RaBitQ fast scan + 1,000": ("faiss", lambda: methods.faiss("RR,RaBitQfs", candidates=CANDIDATES)),
            "faiss 4-bit PQ fast scan + 1,000": ("faiss", lambda: methods.faiss("PQ96x4fs", candidates=CANDIDATES)),
            "usearch HNSW 8-bit, expansion 64": ("usearch", lambda: methods.usearch(64)),
            "usearch HNSW 8-bit, expansion 256": ("usearch", lambda: methods.usearch(256)),
        }
        for name, (library, build) in rows.items():
            begun = time.perf_counter()
            search, content = build()
            seconds = time.perf_counter() - begun
            taken, at10, at50 = [], 0.0, 0.0
            for query, wanted in zip(queries, exact, strict=True):
                begun = time.perf_counter()
                found = search(query)
                taken.append(1000 * (time.perf_counter() - begun))
                at10 += len(set(found[:10].tolist()) & set(wanted[:10].tolist())) / 10
                at50 += len(set(found.tolist()) & set(wanted.tolist())) / TOP
            same = build()[1] == content
            figures = f"{at10 / len(queries):>8.4f}{at50 / len(queries):>8.4f}{statistics.median(taken):>8.1f}"
            print(
                f"{name:<34}{figures}{len(content) / len(vectors):>8.0f}{seconds:>10.1f}{imports[library]:>11.3f}"
                f"{'yes' if same else 'no':>6}",
                flush=True,
            )


if __name__ == "__main__":
    main()
