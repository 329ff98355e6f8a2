"""Measure how costs grow with a pack: build, size, cold and warm questions, and memory.

    python benchmarks/growth.py [--sections N ...] [--synthetic 1000000] [--questions 200] [--json FILE]

Each run rebuilds the packs of generated text in benchmarks/.data, each in a separate process whose peak memory is
measured. A pack has an article with twenty links for every four sections. From --synthetic sections on, the vectors
are random instead of the encoder's, because encoding takes hours and nothing else depends on the values. "Cold" is the
median of whole ``wikigr ask`` processes; "warm" questions share one process; "retrieval" is their time before the
first sentence is read.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import zlib
from collections.abc import Sequence
from math import nan
from pathlib import Path

import numpy as np
from figures import Table, timed, write_tables
from generated import GeneratedSource

from wikigr.embeddings.embedder import EncoderIdentity, Vectors

HERE = Path(__file__).parent
WIKIGR = str(Path(sys.executable).parent / "wikigr")
WORDS = 20

PER_ARTICLE = 4
LINKS = 20

BUILD = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from growth import LINKS, PER_ARTICLE, WORDS, RandomEncoder
from generated import GeneratedSource
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder

class Progress:
    begun = []
    def start(self, stage, total, unit, *, done=0): self.begun.append((stage, time.perf_counter()))
    def advance(self, count): pass
    def note(self, message): pass

folder, sections, synthetic = Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
source = GeneratedSource(sections // PER_ARTICLE, per_article=PER_ARTICLE, words=WORDS, links=LINKS)
encoder = open_encoder(DEFAULT_MODEL, purpose="bulk")
if sections >= synthetic:
    encoder = RandomEncoder(encoder.identity)
progress = Progress()
build_pack(source, "-", folder, encoder, BuildOptions(name=folder.name, language="en"), progress=progress)
stages = {}
for (stage, begun), (_, ended) in zip(progress.begun, [*progress.begun[1:], ("", time.perf_counter())]):
    stages[stage] = stages.get(stage, 0.0) + ended - begun
Path(sys.argv[5]).write_text(json.dumps(stages))
"""

WARM = """
import json, statistics, sys, time
sys.path.insert(0, sys.argv[2])
from figures import peak_memory
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.stages import RETRIEVAL_STAGES
from wikigr.pipeline.profile_files import load_profile
from wikigr.retrieval.trace import Trace
questions = json.load(sys.stdin)
with Pack(sys.argv[1], preload=True) as pack:
    pipeline = Pipeline(load_profile(), pack)
    for question in questions[:20]:
        pipeline.answer(question)
    answers, retrieval, stages, processor = [], [], {}, time.process_time()
    searching = {f"{stage.name}_ms" for stage in RETRIEVAL_STAGES}
    for question in questions:
        trace, begun = Trace(), time.perf_counter()
        pipeline.answer(question, trace=trace)
        answers.append(1000 * (time.perf_counter() - begun))
        timings = trace.timings()
        retrieval.append(sum(taken for name, taken in timings.items() if name in searching))
        for name, taken in timings.items():
            stages.setdefault(name.removesuffix("_ms"), []).append(taken)
    processor = 1000 * (time.process_time() - processor) / len(questions)
stages.pop("total")
peak = peak_memory()
stages = {name: statistics.median(taken) for name, taken in stages.items()}
print(json.dumps({"answers": answers, "retrieval": retrieval, "stages": stages, "cpu": processor, "peak": peak}))
"""


class RandomEncoder:
    """Returns a random unit vector for each text, always the same one."""

    def __init__(self, identity: EncoderIdentity) -> None:
        self.identity = identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.identity.dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            np.random.default_rng(zlib.crc32(text.encode())).standard_normal(dtype=np.float32, out=row)
        normed: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return normed


def questions(count: int, articles: int, seed: int = 1) -> list[str]:
    """Return questions made of words that occur in the text."""
    source, draw = GeneratedSource(articles, per_article=PER_ARTICLE, words=WORDS, links=LINKS), random.Random(seed)
    made = []
    for _ in range(count):
        article = source.article(draw.randrange(articles))
        words = article.sections[draw.randrange(PER_ARTICLE)].text.replace(".", "").split()
        made.append(f"What is {' '.join(draw.sample(words, 4)).lower()}?")
    return made


def measure(sections: int, asked: int, synthetic: int) -> dict[str, float]:
    """Build a pack of ``sections`` sections and return its measurements by name."""
    folder = HERE / ".data" / f"growth-{sections}"
    stages = folder.with_suffix(".json")
    shutil.rmtree(folder, ignore_errors=True)
    arguments = [str(HERE), str(folder), str(sections), str(synthetic), str(stages)]
    built, peak, _ = timed([sys.executable, "-c", BUILD, *arguments])
    figures = {"build, s": built, "build peak, MB": peak}
    figures |= {f"  {stage}, s": value for stage, value in json.loads(stages.read_text()).items()}
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    figures["size, MB"], figures["bytes per section"] = size / 1e6, size / sections
    articles = sections // PER_ARTICLE
    ask = [WIKIGR, "ask", questions(1, articles)[0], "--pack", str(folder), "--offline"]
    timed(ask)
    cold = [timed(ask) for _ in range(7)]
    done = subprocess.run(
        [sys.executable, "-c", WARM, str(folder), str(HERE)],
        input=json.dumps(questions(asked, articles)),
        capture_output=True,
        text=True,
        check=True,
    )
    warm = json.loads(done.stdout)
    return figures | {
        "cold ask, s": statistics.median(run.wall for run in cold),
        "cold ask peak, MB": statistics.median(run.peak for run in cold),
        "warm p50, ms": float(np.percentile(warm["answers"], 50)),
        "warm p95, ms": float(np.percentile(warm["answers"], 95)),
        "warm processor time, ms": warm["cpu"],
        "warm peak, MB": warm["peak"],
        "retrieval p50, ms": float(np.percentile(warm["retrieval"], 50)),
        **{f"  {stage} p50, ms": milliseconds for stage, milliseconds in warm["stages"].items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--synthetic", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    columns = {sections: measure(sections, options.questions, options.synthetic) for sections in options.sections}
    first, last = options.sections[0], options.sections[-1]
    print(f"{'sections':<28}" + "".join(f"{sections:>12,}" for sections in columns) + f"{'growth':>10}")
    for name in columns[first]:
        cells = "".join(f"{figures.get(name, nan):>12.3g}" for figures in columns.values())
        print(f"{name:<28}{cells}{columns[last].get(name, nan) / columns[first][name]:>9.1f}×")
    if options.json:
        described = "Packs of generated text and random vectors; every size once."
        table = Table("Growth", described, f"{first:,} sections")
        for sections, figures in columns.items():
            for name, value in figures.items():
                label, _, unit = name.strip().rpartition(", ")
                table.add(label or unit, unit if label else "", f"{sections:,} sections", [value])
        write_tables(options.json, [table])


if __name__ == "__main__":
    main()
