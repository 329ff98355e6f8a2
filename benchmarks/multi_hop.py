"""Measure recall and latency of retrieval: dense, lexical, hybrid, with the graph walk, with the rule planner.

    python benchmarks/multi_hop.py PACK QUESTIONS.jsonl[.xz] [--limit N]

A question is ``{"question", "gold_ids": [source ids], "type"?}``. Prints, for each configuration, the mean recall@2, @5
and @10 of gold passages, the median milliseconds per question with the encoder loaded, R@5 by question type, and the
paired difference in R@5 from the previous configuration with its 95% BCa confidence interval.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean, median
from typing import Any

from wikigr.evaluation.statistics.paired import compare_paired
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.profiles.files import load_profile
from wikigr.retrieval.candidates import RetrievalOptions
from wikigr.retrieval.explore.options import MultiStrategyOptions
from wikigr.retrieval.graph_walk import GraphWalkOptions
from wikigr.retrieval.rerankers.graph_reranker import GraphRerankerOptions

DEPTHS = (2, 5, 10)


def configurations() -> Iterator[tuple[str, Profile]]:
    """Yield the name and the profile of each configuration, simplest first."""
    full = load_profile("multi-strategy")
    plain = full
    for options in (GraphRerankerOptions, GraphWalkOptions, MultiStrategyOptions):
        plain = plain.override(options, enabled=False)
    for mode in ("dense", "lexical", "hybrid"):
        yield mode, plain.override(RetrievalOptions, mode=mode)
    yield "graph walk", plain.with_options(full[GraphWalkOptions])
    yield "rule planner", full


def read_questions(path: Path) -> list[dict[str, Any]]:
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack")
    parser.add_argument("questions", type=Path)
    parser.add_argument("--limit", type=int, default=None)
    arguments = parser.parse_args()
    questions = read_questions(arguments.questions)[: arguments.limit]
    previous: list[float] | None = None
    with Pack(arguments.pack, preload=True) as pack:
        for name, profile in configurations():
            pipeline = Pipeline(profile, pack, offline=True)
            pipeline.search(questions[0]["question"], top_k=10)
            recall: Mapping[int, list[float]] = {depth: [] for depth in DEPTHS}
            by_type: dict[str, list[float]] = defaultdict(list)
            milliseconds = []
            for question in questions:
                begun = time.perf_counter()
                found = pipeline.search(question["question"], top_k=4 * max(DEPTHS))
                milliseconds.append(1000.0 * (time.perf_counter() - begun))
                ranking = list(dict.fromkeys(evidence.section.source_id for evidence in found))
                gold = set(question["gold_ids"])
                for depth in DEPTHS:
                    recall[depth].append(len(gold & set(ranking[:depth])) / len(gold))
                by_type[question.get("type", "all")].append(recall[5][-1])
            shares = "  ".join(f"R@{depth} {100 * fmean(values):5.1f}" for depth, values in recall.items())
            types = ", ".join(f"{kind} {100 * fmean(values):.1f}" for kind, values in sorted(by_type.items()))
            line = f"{name:13} {shares}  {median(milliseconds):6.1f} ms  R@5: {types}"
            if previous is not None:
                paired = compare_paired("recall@5", previous, recall[5], binary=False, seed=0, margin=0.0)
                low, high = paired.interval.low, paired.interval.high
                line += f"  {100 * paired.difference:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
            print(line, flush=True)
            previous = recall[5]


if __name__ == "__main__":
    main()
