"""Compare a cold `wikigr ask`, the whole process, with an equivalent script based on sentence-transformers.

    python benchmarks/cold_ask.py [--pack PACK] [--runs N]

Without --pack, a pack of generated text with 20,000 sections is built once in benchmarks/.data. Prints the median wall
time and peak memory of each process, the median ratio of alternating runs, a breakdown of the time of `wikigr ask`, and
the median of warm answers.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

from figures import timed
from generated import generated_pack

HERE = Path(__file__).parent
QUESTION = "Who was the first to measure the speed of light?"

PHASES = """
import time; t0 = time.perf_counter()
import wikigr_cli.app, wikigr_cli.commands.ask
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
import numpy, wikigr.embeddings.runtime, tokenizers, real_ladybug, tantivy, nupunkt
t1 = time.perf_counter()
import sys
pack = Pack(sys.argv[1]); t2 = time.perf_counter()
pack.encoder.encode([sys.argv[2]]); t3 = time.perf_counter()
pipeline = Pipeline(load_profile(), pack)
pipeline.answer(sys.argv[2]); t4 = time.perf_counter()
warm = []
from wikigr.pipeline.stages import RETRIEVAL_STAGES
retrieval = {f"{stage.name}_ms" for stage in RETRIEVAL_STAGES}
for n in range(50):
    timings = pipeline.answer(f"{sys.argv[2]} {n}").trace.timings()
    warm.append((timings["total_ms"], sum(value for stage, value in timings.items() if stage in retrieval)))
warm.sort()
import statistics
print(t1 - t0, t2 - t1, t3 - t2, t4 - t3, statistics.median(w for w, _ in warm), statistics.median(r for _, r in warm))
"""


def phases(pack: Path) -> list[float]:
    """Return the seconds of imports, opening, model and first answer, then the warm medians in milliseconds."""
    command = [sys.executable, "-c", PHASES, str(pack), QUESTION]
    return [float(x) for x in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pack", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    pack = options.pack or generated_pack(HERE / ".data" / "generated-20000", sections=20_000)
    ours = [str(Path(sys.executable).parent / "wikigr"), "ask", QUESTION, "--pack", str(pack)]
    peer = [sys.executable, str(HERE / "peer_ask.py"), str(pack), QUESTION]
    # Let the first run write the byte code of a checkout, which an installed package already has.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for command in (ours, peer):
        timed(command)
    pairs = [(timed(ours), timed(peer)) for _ in range(options.runs)]
    for name, side in (("wikigr ask", 0), ("sentence-transformers", 1)):
        walls, peaks, _ = zip(*(pair[side] for pair in pairs), strict=True)
        print(
            f"{name:<22} {statistics.median(walls):6.3f} s  ({min(walls):.3f} to {max(walls):.3f})  "
            f"{statistics.median(peaks):5.0f} MB"
        )
    print(f"ratio                  {statistics.median(peer.wall / own.wall for own, peer in pairs):6.1f} times")
    bare = statistics.median(timed([sys.executable, "-c", "pass"]).wall for _ in range(options.runs))
    shown = statistics.median(timed([ours[0], "--help"]).wall for _ in range(options.runs))
    runs = [phases(pack) for _ in range(3)]
    imports, opening, model, search, warm, retrieval = (statistics.median(column) for column in zip(*runs, strict=True))
    print("breakdown:")
    for name, seconds in (
        ("interpreter", bare),
        ("imports", imports),
        ("opening the pack", opening),
        ("model, first vector", model),
        ("first answer", search),
    ):
        print(f"  {name:<20} {seconds:6.3f} s")
    print(f"warm: retrieval {retrieval:.1f} ms, whole answer {warm:.1f} ms (medians of 50)")
    print(f"wikigr --help          {shown:6.3f} s")


if __name__ == "__main__":
    main()
