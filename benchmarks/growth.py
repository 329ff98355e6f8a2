"""Measure how costs grow with a pack: build, size, cold and warm questions, and memory.

    python benchmarks/growth.py [--sections 10000 100000] [--questions 200] [--batch 10000]

Each run rebuilds the packs of generated text in benchmarks/.data, each in a separate process whose peak memory is
measured. "Cold" is the median of whole ``wikigr ask`` processes; "warm" questions share one process. Finally,
``wikigr ask --batch`` answers ``--batch`` questions on the smallest pack while its memory is read every half second.
The slope is a linear fit to the second half of the readings, which excludes caches that fill once.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from cold_ask import timed
from generated import GeneratedSource

HERE = Path(__file__).parent
WIKIGR = str(Path(sys.executable).parent / "wikigr")
WORDS = 20

BUILD = """
import sys
sys.path.insert(0, sys.argv[3])
from pathlib import Path
from generated import GeneratedSource
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder

class Progress:
    def start(self, stage, total, unit, *, done=0): pass
    def advance(self, count): pass
    def note(self, message): pass

source = GeneratedSource(int(sys.argv[2]) // 5, words=int(sys.argv[4]))
folder = Path(sys.argv[1])
build_pack(source, "-", folder, open_encoder(DEFAULT_MODEL, purpose="bulk"), BuildOptions(name=folder.name))
"""

WARM = """
import json, resource, sys, time
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.profiles.files import load_profile
questions = json.load(sys.stdin)
with Pack(sys.argv[1], preload=True) as pack:
    pipeline = Pipeline(load_profile(), pack)
    for question in questions[:20]:
        pipeline.answer(question)
    taken = []
    for question in questions:
        begun = time.perf_counter()
        pipeline.answer(question)
        taken.append(1000 * (time.perf_counter() - begun))
print(json.dumps(taken))
"""


def questions(count: int, articles: int, seed: int = 1) -> list[str]:
    """Return questions made of words that occur in the text."""
    source, draw = GeneratedSource(articles, words=WORDS), random.Random(seed)
    made = []
    for _ in range(count):
        article = source.article(draw.randrange(articles))
        words = article.sections[draw.randrange(5)].text.replace(".", "").split()
        made.append(f"What is {' '.join(draw.sample(words, 4)).lower()}?")
    return made


def measure(sections: int, asked: int) -> dict[str, float]:
    """Build a pack of ``sections`` sections and return its measurements by name."""
    folder = HERE / ".data" / f"growth-{sections}"
    shutil.rmtree(folder, ignore_errors=True)
    built, build_mb = timed([sys.executable, "-c", BUILD, str(folder), str(sections), str(HERE), str(WORDS)])
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    ask = [WIKIGR, "ask", questions(1, sections // 5)[0], "--pack", str(folder), "--offline"]
    timed(ask)
    cold = [timed(ask) for _ in range(7)]
    done = subprocess.run(
        [sys.executable, "-c", WARM, str(folder)],
        input=json.dumps(questions(asked, sections // 5)),
        capture_output=True,
        text=True,
        check=True,
    )
    warm = json.loads(done.stdout)
    return {
        "build, s": built,
        "build, peak MB": build_mb,
        "size, MB": size,
        "cold ask, s": statistics.median(wall for wall, _ in cold),
        "cold ask, peak MB": statistics.median(peak for _, peak in cold),
        "warm p50, ms": float(np.percentile(warm, 50)),
        "warm p95, ms": float(np.percentile(warm, 95)),
    }


def batch_memory(pack: Path, count: int, articles: int) -> tuple[float, float, float]:
    """Ask ``count`` questions in one process; return seconds, final memory (MB) and growth (kB per question)."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "questions.txt"
        file.write_text("\n".join(questions(count, articles)) + "\n", encoding="utf-8")
        begun = time.perf_counter()
        process = subprocess.Popen(
            [WIKIGR, "-q", "ask", "--batch", str(file), "--pack", str(pack), "--offline"], stdout=subprocess.PIPE
        )
        answered = 0

        def count_lines() -> None:
            nonlocal answered
            assert process.stdout is not None
            for _ in process.stdout:
                answered += 1

        reader = threading.Thread(target=count_lines)
        reader.start()
        readings: list[tuple[int, float]] = []
        while process.poll() is None:
            readings.append((answered, _resident_mb(process.pid)))
            time.sleep(0.5)
        reader.join()
        if process.returncode:
            raise SystemExit(f"wikigr ask --batch failed with {process.returncode}")
        later = [reading for reading in readings if reading[0] > count / 2 and reading[1]]
        slope = float("nan")
        if len(later) > 2:
            slope = float(np.polyfit([asked for asked, _ in later], [memory for _, memory in later], 1)[0])
        return time.perf_counter() - begun, later[-1][1] if later else 0.0, 1000 * slope


def _resident_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--batch", type=int, default=10_000)
    options = parser.parse_args()
    columns = {sections: measure(sections, options.questions) for sections in options.sections}
    first, last = options.sections[0], options.sections[-1]
    print(f"{'sections':<20}" + "".join(f"{sections:>12,}" for sections in columns) + f"{'growth':>10}")
    for name in columns[first]:
        cells = "".join(f"{figures[name]:>12.3g}" for figures in columns.values())
        print(f"{name:<20}{cells}{columns[last][name] / columns[first][name]:>9.1f}×")
    if options.batch:
        pack = HERE / ".data" / f"growth-{first}"
        seconds, memory, slope = batch_memory(pack, options.batch, first // 5)
        print(
            f"--batch {options.batch:,}: {seconds:.0f} s, {options.batch / seconds:.1f} per second, {memory:.0f} MB at "
            f"the end, {slope:+.2f} kB per question"
        )


if __name__ == "__main__":
    main()
