"""Compare bulk encoding with ``SentenceTransformer.encode`` on the same passages in the same process.

    python benchmarks/bulk_encoding.py [PASSAGES] [--count 512] [--rounds 5] [--json FILE]

PASSAGES is a text file with one passage per paragraph, or JSON Lines with a ``text`` field; .gz, .bz2 and .xz are
decompressed. Without it, the passages are generated. Every round runs every encoder once, so that other load affects
all of them equally. Prints passages per second and the median speedup over sentence-transformers.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import json
import lzma
import random
import statistics
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from figures import Table, write_tables
from generated import GeneratedSource

from wikigr.embeddings.embedder import Vectors
from wikigr.embeddings.loader import open_encoder
from wikigr.embeddings.model_id import DEFAULT_INT8
from wikigr.embeddings.models import prepare
from wikigr.embeddings.weights import installed_default

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def read_passages(path: Path, count: int) -> list[str]:
    """Return ``count`` passages, spread evenly over the file."""
    opener = _OPENERS.get(path.suffix, open)
    with opener(path, "rt", encoding="utf-8") as stream:
        if ".jsonl" in path.suffixes:
            found = [json.loads(line)["text"] for line in stream if line.strip()]
        else:
            found = [part.strip() for part in stream.read().split("\n\n") if part.strip()]
    return found[:: max(1, len(found) // count)][:count]


def generated_passages(count: int) -> list[str]:
    """Return deterministic passages: mostly short ones, a few longer than the encoder's window."""
    draw = random.Random(0)
    source = GeneratedSource(count, per_article=1, words=200)
    passages = []
    for number in range(count):
        words = source.article(number).sections[0].text.split()
        passages.append(" ".join(words[: min(len(words), max(5, round(draw.lognormvariate(3.6, 0.5))))]))
    return passages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("passages", nargs="?", type=Path)
    parser.add_argument("--count", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    passages = read_passages(options.passages, options.count) if options.passages else generated_passages(options.count)

    from sentence_transformers import SentenceTransformer

    prepare("all-MiniLM-L6-v2")
    prepare(DEFAULT_INT8)
    plain = SentenceTransformer(str(installed_default()), device="cpu")
    encoders: dict[str, Callable[[list[str]], Vectors]] = {
        "sentence-transformers": lambda texts: plain.encode(texts, show_progress_bar=False),
        "onnx": open_encoder(backend="onnx", purpose="bulk").encode,
        "onnx, 8 bits": open_encoder(DEFAULT_INT8, purpose="bulk").encode,
    }
    if find_spec("openvino") is not None:
        encoders["openvino"] = open_encoder(backend="openvino", purpose="bulk").encode
    seconds: dict[str, list[float]] = {name: [] for name in encoders}
    vectors: dict[str, Vectors] = {}
    for name, encode in encoders.items():
        vectors[name] = encode(passages[:32])
    for _ in range(options.rounds):
        for name, encode in encoders.items():
            begun = time.perf_counter()
            vectors[name] = encode(passages)
            seconds[name].append(time.perf_counter() - begun)

    baseline = seconds["sentence-transformers"]
    expected = vectors["sentence-transformers"]
    print(f"{len(passages)} passages, median of {options.rounds} rounds")
    for name, own in seconds.items():
        ratio = statistics.median(theirs / mine for theirs, mine in zip(baseline, own, strict=True))
        agreement = float(np.einsum("nd,nd->n", expected, vectors[name]).min())
        print(
            f"{name:<22} {len(passages) / statistics.median(own):7.1f}/s  {ratio:5.2f} ×  lowest cosine {agreement:.6f}"
        )
    if options.json:
        texts = "generated passages" if options.passages is None else f"passages of {options.passages.name}"
        table = Table("Encoding", f"{len(passages):,} {texts}. Rounds: {options.rounds}.", "onnx")
        for name, own in seconds.items():
            table.add("passages encoded", "per second", name, [len(passages) / taken for taken in own])
        for name in encoders:
            agreement = float(np.einsum("nd,nd->n", expected, vectors[name]).min())
            table.add("lowest cosine with sentence-transformers", "", name, [agreement])
        write_tables(options.json, [table])


if __name__ == "__main__":
    main()
