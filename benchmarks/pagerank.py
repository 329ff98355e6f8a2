"""Compare PageRank with networkit and scikit-network on a generated graph, or with networkx on a pack.

    python benchmarks/pagerank.py [--nodes 500000] [--edges 10000000] [--seed 0] [--rounds 3] [--shuffle] [--json FILE]
    python benchmarks/pagerank.py --nodes 5000000 --edges 100000000 --rounds 1 --only wikigr networkit
    python benchmarks/pagerank.py --pack PACK

Every measurement runs in a separate process. A round runs all of them on the same edges; the table shows medians over
the rounds, and each ratio is the median of the ratios per round. All libraries stop when the L1 change falls below
1e-8. The L1 error compares with a reference that is computed to floating-point precision. The last lines measure
PageRank from a database. ``--only`` measures the libraries that it names, without a database and a reference: the error
is relative to wikigr's own result at a tolerance of 1e-13. The columns:

    build    from two arrays of node numbers to the data structure of the library
    rank     its public call on that data structure
    loop     the power iteration alone, without the normalization and transposition in each call of scikit-network
    memory   peak memory beyond the interpreter, the imports and the two arrays
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
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
RUFFINI_HORNER_TERMS = 75  # scikit-network's "RH" has no tolerance; this many terms give the same error


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
    from wikigr.graph.pagerank import LinkMatrix

    return (
        lambda: LinkMatrix(sources, targets, nodes),
        lambda ready: ready.pagerank(damping=DAMPING, tol=CHANGE / nodes),
    )


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


def run_scikit_network(
    sources: np.ndarray, targets: np.ndarray, nodes: int, *, solver: str = "piteration", terms: int = 1000
) -> tuple[Stage, Callable[[Any], Any]]:
    ranking = import_peer("sknetwork.ranking", "scikit-network")
    from scipy.sparse import csr_matrix

    def build() -> Any:
        return csr_matrix((np.ones(len(sources)), (sources, targets)), shape=(nodes, nodes))

    def rank(adjacency: Any) -> Any:
        algorithm = ranking.PageRank(damping_factor=DAMPING, solver=solver, n_iter=terms, tol=CHANGE)
        return algorithm.fit_predict(adjacency)

    return build, rank


def scikit_network_preparation(adjacency: Any) -> float:
    """Return the seconds that each call of scikit-network spends before the iteration."""
    solver = import_peer("sknetwork.linalg.ppr_solver", "scikit-network")
    nodes = adjacency.shape[0]
    begun = time.perf_counter()
    solver.RandomSurferOperator(adjacency, np.full(nodes, 1.0 / nodes), DAMPING)
    return time.perf_counter() - begun


RUNS: dict[str, Callable[..., tuple[Stage, Callable[[Any], Any]]]] = {
    "wikigr": run_wikigr,
    "networkit": run_networkit,
    "scikit-network": run_scikit_network,
    "scikit-network, RH": lambda *graph: run_scikit_network(*graph, solver="RH", terms=RUFFINI_HORNER_TERMS),
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
    figures["loop"] = figures["rank"]
    if name == "scikit-network":
        figures["loop"] -= scikit_network_preparation(ready)
    with np.load(folder / "references.npz") as known:
        found = np.asarray(found)
        figures["error"] = float(np.abs(found - known["pagerank"]).sum())
        figures["own error"] = float(np.abs(found - known[name]).sum()) if name in known else figures["error"]
    return figures


def fill_database(folder: Path, nodes: int) -> dict[str, float]:
    """Create a database with the same graph."""
    import pyarrow as pa

    from wikigr.graph.engine import Graph

    titles = pa.array([f"Article {number}" for number in range(nodes)])
    with Graph(folder / "graph.db", read_only=False) as graph:
        graph.execute("CREATE NODE TABLE Article(title STRING PRIMARY KEY)")
        graph.execute("CREATE REL TABLE LINKS_TO(FROM Article TO Article)")
        graph.copy("Article", pa.table({"title": titles}))
        sources, targets = np.load(folder / "sources.npy"), np.load(folder / "targets.npy")
        graph.copy("LINKS_TO", pa.table({"from": titles.take(sources), "to": titles.take(targets)}))
    return {}


def from_database(folder: Path, nodes: int) -> dict[str, float]:
    """Extract and rank, then rank the extracted arrays again to measure the computation alone."""
    import pyarrow.parquet  # noqa: F401
    import scipy.sparse  # noqa: F401

    from wikigr.graph.engine import Graph
    from wikigr.graph.link_graph import read_links
    from wikigr.graph.pagerank import pagerank

    with Graph(folder / "graph.db") as graph:
        before, begun = peak_memory(), time.perf_counter()
        links = read_links(graph)
        read = time.perf_counter()
        found = pagerank(links.sources, links.targets, len(links.titles), damping=DAMPING, tol=CHANGE / nodes)
        done = time.perf_counter()
        memory = peak_memory() - before
    begun_bare = time.perf_counter()
    pagerank(links.sources, links.targets, len(links.titles), damping=DAMPING, tol=CHANGE / nodes)
    bare = time.perf_counter() - begun_bare
    number = np.array([int(title.removeprefix("Article ")) for title in links.titles])
    with np.load(folder / "references.npz") as known:
        error = float(np.abs(found - known["pagerank"][number]).sum())
    return {"extract": read - begun, "total": done - begun, "bare": bare, "memory": memory, "error": error}


def run_in_process(task: str, folder: Path, nodes: int) -> dict[str, float]:
    """Run one measurement in a separate process."""
    command = [sys.executable, __file__, "--nodes", str(nodes), "--task", task, "--folder", str(folder)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{task} failed with {ended.returncode}")
    figures: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    return figures


def median(rounds: list[dict[str, float]], figure: str) -> float:
    return statistics.median(figures[figure] for figures in rounds)


def compare_only(names: list[str], nodes: int, edges: int, seed: int, rounds: int) -> None:
    """Measure only ``names``, without a database, so that a large graph needs little more memory than they do."""
    from wikigr.graph.pagerank import pagerank

    with tempfile.TemporaryDirectory(prefix="pagerank-") as temporary:
        folder = Path(temporary)
        sources, targets = (ends.astype(np.int32) for ends in generated_edges(nodes, edges, seed))
        np.save(folder / "sources.npy", sources)
        np.save(folder / "targets.npy", targets)
        print(f"{nodes:,} nodes, {edges:,} edges, {len(os.sched_getaffinity(0))} processors", flush=True)
        exact = pagerank(sources, targets, nodes, damping=DAMPING, tol=1e-13 / nodes, max_iter=1000)
        np.savez(folder / "references.npz", allow_pickle=False, pagerank=exact)
        del sources, targets, exact
        for name in names * rounds:
            figures = run_in_process(name, folder, nodes)
            print(
                f"{name:<20} build {figures['build']:.1f} s, rank {figures['rank']:.1f} s, "
                f"L1 error {figures['error']:.1e}, {figures['memory']:.0f} MB beyond the edges",
                flush=True,
            )


def as_table(runs: dict[str, list[dict[str, float]]], description: str) -> Table:
    """Return the figures of the libraries as a table for the page of figures."""
    table = Table("PageRank", description, "wikigr")
    for task in RUNS:
        measured = runs[task]
        table.add("build", "s", task, [figures["build"] for figures in measured])
        table.add("rank", "s", task, [figures["rank"] for figures in measured])
        table.add("build and rank", "s", task, [figures["build"] + figures["rank"] for figures in measured])
        table.add("memory beyond the edges", "MB", task, [figures["memory"] for figures in measured])
        table.add(
            "L1 error, relative to the fixed point of each", "", task, [figures["own error"] for figures in measured]
        )
    return table


def compare(nodes: int, edges: int, seed: int, rounds: int, *, shuffle: bool, json_file: Path | None = None) -> None:
    import_peer("networkit", "networkit")
    import_peer("sknetwork", "scikit-network")
    with tempfile.TemporaryDirectory(prefix="pagerank-") as name:
        folder = Path(name)
        sources, targets = generated_edges(nodes, edges, seed)
        if shuffle:
            order = np.random.default_rng(seed).permutation(edges)
            sources, targets = sources[order], targets[order]
        print(
            f"{nodes:,} nodes, {edges:,} edges {'in random order' if shuffle else 'sorted by source'}, "
            f"{nodes - len(np.unique(sources)):,} dangling, largest in-degree {np.bincount(targets).max():,}, "
            f"{len(os.sched_getaffinity(0))} processors",
            flush=True,
        )
        np.savez(folder / "references.npz", allow_pickle=False, **references(sources, targets, nodes))
        np.save(folder / "sources.npy", sources)
        np.save(folder / "targets.npy", targets)
        del sources, targets
        run_in_process("fill", folder, nodes)
        runs: dict[str, list[dict[str, float]]] = {task: [] for task in (*RUNS, "database")}
        for _ in range(rounds):
            for task, measured in runs.items():
                measured.append(run_in_process(task, folder, nodes))
        print(f"{'':<20}{'build':>9}{'rank':>9}{'loop':>9}{'total':>9}{'L1 error':>11}{'memory':>10}")
        for task in RUNS:
            build, rank, loop = (median(runs[task], figure) for figure in ("build", "rank", "loop"))
            print(
                f"{task:<20}{build:7.3f} s{rank:7.3f} s{loop:7.3f} s{build + rank:7.3f} s"
                f"{median(runs[task], 'own error'):11.1e}{median(runs[task], 'memory'):7.0f} MB"
            )
        print("The error of scikit-network is relative to its own fixed point, whose distance from PageRank is")
        print(f"{median(runs['scikit-network'], 'error'):.1e}, because it does not spread the mass of dangling nodes.")
        print("speedup of wikigr over  " + f"{'rank':>9}{'loop':>9}{'total':>9}")
        for task in list(RUNS)[1:]:
            pairs = list(zip(runs[task], runs["wikigr"], strict=True))
            ratios = [
                statistics.median(sum(a[f] for f in figures) / sum(b[f] for f in figures) for a, b in pairs)
                for figures in (("rank",), ("loop",), ("build", "rank"))
            ]
            print(f"  {task:<22}" + "".join(f"{ratio:8.1f}×" for ratio in ratios))
        taken = runs["database"]
        print(
            f"from the database: extraction {median(taken, 'extract'):.3f} s, "
            f"with PageRank {median(taken, 'total'):.3f} s, "
            f"bare computation {median(taken, 'bare'):.3f} s, L1 error {median(taken, 'error'):.1e}, "
            f"{median(taken, 'memory'):.0f} MB"
        )
        print(f"  {statistics.median(f['total'] / f['bare'] for f in taken):.1f} times the bare computation")
        if json_file is not None:
            described = f"A generated graph of {nodes:,} nodes and {edges:,} edges. Rounds: {rounds}."
            write_tables(json_file, [as_table(runs, described)])


def compare_pack(path: Path) -> None:
    networkx = import_peer("networkx", "networkx")
    from wikigr.graph.engine import Graph
    from wikigr.graph.link_graph import read_links
    from wikigr.graph.pagerank import pagerank

    with Graph(path / "pack.db" if path.is_dir() else path) as graph:
        begun = time.perf_counter()
        links = read_links(graph)
        read = time.perf_counter()
        found = pagerank(links.sources, links.targets, len(links.titles))
        ranked = time.perf_counter()
    same = networkx.DiGraph()
    same.add_nodes_from(range(len(links.titles)))
    same.add_edges_from(zip(links.sources.tolist(), links.targets.tolist(), strict=True))
    built = time.perf_counter()
    theirs = networkx.pagerank(same)
    done = time.perf_counter()
    expected = np.array([theirs[number] for number in range(len(links.titles))])
    print(f"{len(links.titles):,} articles, {len(links.sources):,} links ({same.number_of_edges():,} distinct)")
    print(f"extraction {read - begun:.3f} s, PageRank {ranked - read:.3f} s; networkx {done - built:.3f} s")
    print(f"largest absolute difference {np.abs(found - expected).max(initial=0):.1e}, both at their defaults")
    for number in np.argsort(-found, kind="stable")[:10].tolist():
        print(f"  {found[number]:.6f}  {expected[number]:.6f}  {links.titles[number]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=500_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shuffle", action="store_true", help="shuffle the edges")
    parser.add_argument("--only", nargs="+", choices=RUNS, help="measure these, without a database")
    parser.add_argument("--pack", type=Path, help="compare with networkx on the links of this pack")
    parser.add_argument("--json", type=Path, help="write the figures of the generated graph to this file")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.pack:
        compare_pack(options.pack)
    elif options.task:
        special = {"fill": fill_database, "database": from_database}.get(options.task)
        arguments = (options.folder, options.nodes)
        print(json.dumps(special(*arguments) if special else compute(options.task, *arguments)))
    elif options.only:
        compare_only(options.only, options.nodes, options.edges, options.seed, options.rounds)
    else:
        compare(
            options.nodes, options.edges, options.seed, options.rounds, shuffle=options.shuffle, json_file=options.json
        )


if __name__ == "__main__":
    main()
