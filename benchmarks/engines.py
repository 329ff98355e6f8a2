"""Compare the database engines `real_ladybug` and `ladybug` on packs with the same content.

    cd benchmarks && python engines.py [--sections 20000] [--rounds 5]

Needs the extra `ladybug`. Builds a pack of generated text with each engine in a folder. Its vectors are random
and have norm 1, so that building takes seconds; searches take as long with them as with others. Every round runs every
engine once, each in a process of its own, because a process can use only one. Prints the medians, and the median of the
ratios to `real_ladybug` per round. In the last column, `ladybug` reads the pack of `real_ladybug`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from figures import timed

from wikigr.graph.engine_choice import STORAGE_VERSIONS, VARIABLE

HERE = Path(__file__).parent
WIKIGR = str(Path(sys.executable).parent / "wikigr")
OLD, NEW = STORAGE_VERSIONS
# An engine, and the engine that built the pack that it opens.
COLUMNS = {OLD: (OLD, OLD), NEW: (NEW, NEW), f"{NEW}, storage {STORAGE_VERSIONS[OLD]}": (NEW, OLD)}

BUILD = """
import sys
sys.path.insert(0, sys.argv[3])
from hashlib import sha256
from pathlib import Path
import numpy as np
from generated import GeneratedSource
from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder
from wikigr.ingest.build import BuildOptions, build_pack

class RandomVectors:
    identity = open_encoder(DEFAULT_MODEL, purpose="query").identity
    def encode(self, texts):
        seeds = (int.from_bytes(sha256(text.encode()).digest()[:8], "big") for text in texts)
        rows = np.stack([np.random.default_rng(s).normal(size=self.identity.dimension) for s in seeds])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    options = BuildOptions(name="generated", language="en")
    build_pack(GeneratedSource(int(sys.argv[2]) // 5), "-", folder, RandomVectors(), options)
"""

MEASURE = """
import json, statistics, sys, tempfile, time
from pathlib import Path
import numpy as np
import pyarrow as pa
from wikigr.graph.engine import Graph
from wikigr.graph.link_graph import read_edges
from wikigr.graph.schema import ddl
from wikigr.index.dense import exact_search

def milliseconds(function, times=1):
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        function()
        taken.append(1000 * (time.perf_counter() - begun))
    return statistics.median(taken)

found = {}
begun = time.perf_counter()
graph = Graph(Path(sys.argv[1]))
graph.rows("RETURN 1")
found["import and open, ms"] = 1000 * (time.perf_counter() - begun)
draw = np.random.default_rng(0)
dimension = len(graph.rows("MATCH (s:Section) RETURN s.embedding LIMIT 1")[0][0])
query = lambda: (lambda v: (v / np.linalg.norm(v)).tolist())(draw.normal(size=dimension))
found["first exact scan, ms"] = milliseconds(lambda: exact_search(graph, query(), 50))
found["warm exact scan, ms"] = milliseconds(lambda: exact_search(graph, query(), 50), 9)
graph.close()
for threads in (1, 2):
    with Graph(Path(sys.argv[1]), threads=threads) as graph:
        exact_search(graph, query(), 50)
        found[f"warm exact scan, {threads} thread{'s' * (threads > 1)}, ms"] = milliseconds(
            lambda: exact_search(graph, query(), 50), 9)
with Graph(Path(sys.argv[1])) as graph:
    ids = [row[0] for row in graph.rows("MATCH (s:Section) RETURN s.section_id LIMIT 1000")]
    look = "MATCH (s:Section {section_id: $id}) RETURN s.content"
    found["1,000 lookups by key, ms"] = milliseconds(lambda: [graph.rows(look, {"id": each}) for each in ids], 3)
    found["edges through Parquet, ms"] = milliseconds(lambda: read_edges(graph, "Article", "LINKS_TO", "Article"), 3)
    texts = "MATCH (s:Section) RETURN s.section_id, s.content"
    found["texts through Arrow, ms"] = milliseconds(lambda: graph.arrow(texts), 3)
    count = graph.rows("MATCH (s:Section) RETURN count(s)")[0][0]
vectors = draw.normal(size=(count, dimension)).astype(np.float32)
names = [f"s#{n}" for n in range(count)]
rows = pa.table({
    "section_id": names, "title": names, "heading_path": pa.array([[]] * count, type=pa.list_(pa.string())),
    "content": [f"{n} " * 40 for n in range(count)],
    "embedding": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), dimension),
    **{name: [1] * count for name in ("position", "level", "word_count", "start_offset", "end_offset")},
    "source_id": names, "article_title": names, "anchor": [""] * count,
})
with tempfile.TemporaryDirectory() as folder, Graph(Path(folder) / "copy.db", read_only=False) as graph:
    for statement in ddl(dimension):
        graph.execute(statement)
    def load():
        for first in range(0, count, 5_000):
            graph.copy("Section", rows.slice(first, 5_000))
        graph.execute("CHECKPOINT")
    found["COPY of all sections, ms"] = milliseconds(load)
    found["size after COPY, MB"] = (Path(folder) / "copy.db").stat().st_size / 1e6
print(json.dumps(found))
"""


def run(engine: str, program: str, *arguments: str) -> str:
    """Run ``program`` with ``engine`` and return what it prints."""
    command = [sys.executable, "-c", program, *arguments]
    environment = {**os.environ, VARIABLE: engine}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def measure(engine: str, pack: Path) -> dict[str, float]:
    found: dict[str, float] = json.loads(run(engine, MEASURE, str(pack / "pack.db")))
    os.environ[VARIABLE] = engine
    wall, peak, _ = timed([WIKIGR, "ask", "What is Article 7?", "--offline", "--pack", str(pack)])
    del os.environ[VARIABLE]
    size = sum(path.stat().st_size for path in pack.rglob("*") if path.is_file())
    return {**found, "cold ask, s": wall, "cold ask, peak MB": peak, "pack, MB": size / 1e6}


def report(rounds: Sequence[dict[str, dict[str, float]]]) -> None:
    print(f"| | {' | '.join(COLUMNS)} |\n| --- |{' ---: |' * len(COLUMNS)}")
    for name in rounds[0][OLD]:
        cells = []
        for column in COLUMNS:
            median = statistics.median(each[column][name] for each in rounds)
            ratio = statistics.median(each[column][name] / each[OLD][name] for each in rounds)
            cells.append(f"{median:.3g}" + (f" ({ratio:.2f}×)" if column != OLD else ""))
        print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(prefix="wikigr-engines-") as folder:
        packs = {engine: Path(folder) / engine for engine in STORAGE_VERSIONS}
        digests = set()
        for engine, pack in packs.items():
            run(engine, BUILD, str(pack), str(options.sections), str(HERE))
            manifest = json.loads((pack / "manifest.json").read_text())
            print(f"{engine} {manifest['engine_version']}: storage version {manifest['storage_version']}")
            digests.add(manifest["digest"])
        print(f"digests: {'equal' if len(digests) == 1 else 'different'}\n")
        for engine, built_by in COLUMNS.values():
            measure(engine, packs[built_by])
        report(
            [
                {name: measure(engine, packs[built_by]) for name, (engine, built_by) in COLUMNS.items()}
                for _ in range(options.rounds)
            ]
        )


if __name__ == "__main__":
    main()
