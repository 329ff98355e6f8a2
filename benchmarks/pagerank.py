"""Compare PageRank with networkit and scikit-network on a generated graph.

    python benchmarks/pagerank.py [--nodes 500000] [--edges 10000000] [--seed 0] [--rounds 3] [--json FILE]

Every measurement runs in a separate process. A round runs all of them on the same edges; the table shows medians over
the rounds, and each ratio is the median of the ratios per round. All libraries stop when the L1 change falls below
1e-8. The L1 error compares with a reference that is computed to floating-point precision; that of scikit-network has
its own, because it does not spread the mass of dangling nodes.

    build and rank  from two arrays of node numbers to the ranks, with the public calls of the library
    memory          peak memory beyond the interpreter, the imports and the two arrays
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from figures import Table, peak_memory, write_tables

DAMPING = 0.85
CHANGE = 1e-8  # L1 norm of the change of the whole vector


def import_peer(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise SystemExit(f"This benchmark needs {package}: pip install {package}") from None


def generated_edges(nodes: int, edges: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct edges sorted by source; in- and out-degrees follow power laws, and 5% of the nodes dangle."""
    draw = np.random.default_rng(seed)
    linking = draw.permutation(nodes)[: nodes - nodes // 20]
    popularity = draw.permutation(nodes)
    if edges > len(linking) * nodes // 4:
        raise SystemExit(f"{nodes} nodes are too few for {edges} edges")
    keys = np.zeros(0, dtype=np.int64)
    while len(keys) < edges:
        count = int((edges - len(keys)) * 1.1) + 1000
        sources = linking[(len(linking) * draw.random(count) ** 1.5).astype(np.int64)]
        targets = popularity[(nodes * draw.random(count) ** 3).astype(np.int64)]
        keys = np.unique(np.concatenate([keys, sources * nodes + targets]))
    keys = np.delete(keys, draw.choice(len(keys), len(keys) - edges, replace=False))
    return keys // nodes, keys % nodes


def references(sources: np.ndarray, targets: np.ndarray, nodes: int) -> dict[str, np.ndarray]:
    """Return the fixed points, to floating-point precision, of PageRank and of the iteration of scikit-network.

    The latter does not spread the mass of dangling nodes, so it converges to a different vector.
    """
    from scipy.sparse import csr_array

    links = csr_array((np.ones(len(sources)), (targets, sources)), shape=(nodes, nodes))
    degree = np.bincount(sources, minlength=nodes)
    weight = np.divide(DAMPING, degree, out=np.zeros(nodes), where=degree > 0)
    dangling = degree == 0
    restart = (1 - DAMPING * ~dangling) / nodes

    def fixed_point(step: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        rank, best, stalled = np.full(nodes, 1.0 / nodes), np.inf, 0
        while stalled < 3:
            following = step(rank)
            following /= following.sum()
            change = float(np.abs(following - rank).sum())
            stalled = stalled + 1 if change >= best else 0
            rank, best = following, min(best, change)
        return rank

    return {
        "pagerank": fixed_point(lambda x: links @ (x * weight) + (DAMPING * x[dangling].sum() + 1 - DAMPING) / nodes),
        "scikit-network": fixed_point(lambda x: links @ (x * weight) + restart * x.sum()),
    }


Stage = Callable[[], Any]


def run_wikigr(sources: np.ndarray, targets: np.ndarray, nodes: int) -> tuple[Stage, Callable[[Any], Any]]:
    from wikigr.graph.pagerank import pagerank

    # Both at once: the matrix is built for one computation.
    return lambda: None, lambda _: pagerank(sources, targets, nodes, damping=DAMPING, tol=CHANGE / nodes)


def run_networkit(sources: np.ndarray, targets: np.ndarray, nodes: int) -> tuple[Stage, Callable[[Any], Any]]:
    networkit = import_peer("networkit", "networkit")
    central = networkit.centrality

    def rank(graph: Any) -> Any:
        algorithm = central.PageRank(
            graph, damp=DAMPING, tol=CHANGE, distributeSinks=central.SinkHandling.DistributeSinks
        )
        algorithm.norm = central.Norm.L1_NORM
        return algorithm.run().scores()

    return lambda: networkit.GraphFromCoo((sources, targets), n=nodes, directed=True), rank


def run_scikit_network(sources: np.ndarray, targets: np.ndarray, nodes: int) -> tuple[Stage, Callable[[Any], Any]]:
    ranking = import_peer("sknetwork.ranking", "scikit-network")
    from scipy.sparse import csr_matrix

    def build() -> Any:
        return csr_matrix((np.ones(len(sources)), (sources, targets)), shape=(nodes, nodes))

    def rank(adjacency: Any) -> Any:
        algorithm = ranking.PageRank(damping_factor=DAMPING, solver="piteration", n_iter=1000, tol=CHANGE)
        return algorithm.fit_predict(adjacency)

    return build, rank


RUNS: dict[str, Callable[..., tuple[Stage, Callable[[Any], Any]]]] = {
    "wikigr": run_wikigr,
    "networkit": run_networkit,
    "scikit-network": run_scikit_network,
}


def compute(name: str, folder: Path, nodes: int) -> dict[str, float]:
    """Build and rank in this process."""
    import scipy.sparse  # noqa: F401  (keep the import out of the measurement)

    sources, targets = np.load(folder / "sources.npy"), np.load(folder / "targets.npy")
    build, rank = RUNS[name](sources, targets, nodes)
    before, begun = peak_memory(), time.perf_counter()
    ready = build()
    built = time.perf_counter()
    found = rank(ready)
    done = time.perf_counter()
    figures = {"build": built - begun, "rank": done - built, "memory": peak_memory() - before}
    with np.load(folder / "references.npz") as known:
        found = np.asarray(found)
        figures["error"] = float(np.abs(found - known["pagerank"]).sum())
        figures["own error"] = float(np.abs(found - known[name]).sum()) if name in known else figures["error"]
    return figures


def run_in_process(task: str, folder: Path, nodes: int) -> dict[str, float]:
    """Run one measurement in a separate process."""
    command = [sys.executable, __file__, "--nodes", str(nodes), "--task", task, "--folder", str(folder)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{task} failed with {ended.returncode}")
    figures: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    return figures


def as_table(runs: dict[str, list[dict[str, float]]], description: str) -> Table:
    """Return the figures of the libraries as a table for the page of figures."""
    table = Table("PageRank", description, "wikigr")
    for task in RUNS:
        measured = runs[task]
        table.add("build and rank", "s", task, [figures["build"] + figures["rank"] for figures in measured])
        table.add("memory beyond the edges", "MB", task, [figures["memory"] for figures in measured])
        table.add(
            "L1 error, relative to the fixed point of each", "", task, [figures["own error"] for figures in measured]
        )
    return table


def compare(nodes: int, edges: int, seed: int, rounds: int, json_file: Path | None) -> None:
    import_peer("networkit", "networkit")
    import_peer("sknetwork", "scikit-network")
    with tempfile.TemporaryDirectory(prefix="pagerank-") as name:
        folder = Path(name)
        sources, targets = generated_edges(nodes, edges, seed)
        print(
            f"{nodes:,} nodes, {edges:,} edges, "
            f"{nodes - len(np.unique(sources)):,} dangling, largest in-degree {np.bincount(targets).max():,}, "
            f"{len(os.sched_getaffinity(0))} processors",
            flush=True,
        )
        np.savez(folder / "references.npz", allow_pickle=False, **references(sources, targets, nodes))
        np.save(folder / "sources.npy", sources)
        np.save(folder / "targets.npy", targets)
        del sources, targets
        runs: dict[str, list[dict[str, float]]] = {task: [] for task in RUNS}
        for _ in range(rounds):
            for task, measured in runs.items():
                measured.append(run_in_process(task, folder, nodes))
        table = as_table(runs, f"A generated graph of {nodes:,} nodes and {edges:,} edges. Rounds: {rounds}.")
        table.show()
        if json_file is not None:
            write_tables(json_file, [table])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=500_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures of the generated graph to this file")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        print(json.dumps(compute(options.task, options.folder, options.nodes)))
    else:
        compare(options.nodes, options.edges, options.seed, options.rounds, options.json)


if __name__ == "__main__":
    main()
