"""Compare bulk encoding with ``SentenceTransformer.encode`` on the same passages in the same process.

    python benchmarks/bulk_encoding.py [--count 512] [--rounds 5] [--json FILE]

The passages are generated. Every round runs every encoder once, so that other load affects all of them equally. Prints
passages per second and ratios.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from figures import Table, write_tables
from generated import GeneratedSource

from wikigr.embeddings.embedder import Vectors
from wikigr.embeddings.loader import open_encoder
from wikigr.embeddings.model_id import DEFAULT_INT8
from wikigr.embeddings.models import prepare
from wikigr.embeddings.weights import installed_default


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
    parser.add_argument("--count", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    passages = generated_passages(options.count)

    from sentence_transformers import SentenceTransformer

    prepare("all-MiniLM-L6-v2")
    prepare(DEFAULT_INT8)
    plain = SentenceTransformer(str(installed_default()), device="cpu")
    encoders: dict[str, Callable[[list[str]], Vectors]] = {
        "sentence-transformers": lambda texts: plain.encode(texts, show_progress_bar=False),
        "onnx": open_encoder(backend="onnx", purpose="bulk").encode,
        "onnx, 8 bits": open_encoder(DEFAULT_INT8, purpose="bulk").encode,
    }
    seconds: dict[str, list[float]] = {name: [] for name in encoders}
    vectors: dict[str, Vectors] = {}
    for name, encode in encoders.items():
        vectors[name] = encode(passages[:32])
    for _ in range(options.rounds):
        for name, encode in encoders.items():
            begun = time.perf_counter()
            vectors[name] = encode(passages)
            seconds[name].append(time.perf_counter() - begun)

    expected = vectors["sentence-transformers"]
    table = Table("Encoding", f"{len(passages):,} generated passages. Rounds: {options.rounds}.", "onnx")
    for name, own in seconds.items():
        table.add("passages encoded", "per second", name, [len(passages) / taken for taken in own])
    for name in encoders:
        agreement = float(np.einsum("nd,nd->n", expected, vectors[name]).min())
        table.add("lowest cosine with sentence-transformers", "", name, [agreement])
    table.show()
    if options.json:
        write_tables(options.json, [table])


if __name__ == "__main__":
    main()
