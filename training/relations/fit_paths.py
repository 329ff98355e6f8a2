"""Fit the weights of relation paths on development schemas (``benchmarks/schemas/README.md``) by random local search.

    python -m training.relations.fit_paths PACK QUESTIONS.jsonl [PACK QUESTIONS.jsonl ...] [--seconds 120] [--seed 0]

Maximizes the mean over packs and hop counts of recall and precision of the best path's ends, on two questions per
wording. Prints every improvement; copy the last one to ``wikigr.graph_search.relation_paths.evidence``.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import statistics
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from wikigr.graph.fact_graph import read_facts
from wikigr.graph_search.relation_paths.evidence import Weights
from wikigr.graph_search.relation_paths.path_search import PathSearch
from wikigr.graph_search.relation_paths.topics import TopicFinder
from wikigr.pack.open import Pack

_FACTORS = (0.5, 0.7, 0.85, 1.15, 1.4, 2.0)


class Development:
    """A pack and its questions; texts are encoded once."""

    def __init__(self, pack: Pack, questions: list[dict[str, Any]]) -> None:
        self._pack = pack
        self._facts = read_facts(pack.graph)
        self._topics = TopicFinder(self._facts, pack.graph_index)
        self.identity = pack.encoder.identity
        self._vectors: dict[str, Any] = {}
        self._questions = questions

    def score(self, weights: Weights) -> float:
        """Return the mean of recall and precision, averaged by hop count."""
        search = PathSearch(self._facts, self, weights)
        by_hops = defaultdict(list)
        for asked in self._questions:
            question = asked["question"]
            found, _ = search.find(question, self._topics.find(question), seconds=5.0, most=1)
            ends = {self._facts.names[end] for end in found[0].ends} if found else set()
            right = len(ends & set(asked["answers"]))
            by_hops[asked["hops"]].append((right / len(asked["answers"]) + right / max(len(ends), 1)) / 2)
        return statistics.mean(statistics.mean(values) for values in by_hops.values())

    def encode(self, texts: Any) -> Any:
        new = [text for text in texts if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._pack.encoder.encode(new), strict=True))
        return [self._vectors[text] for text in texts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", type=Path, nargs="+", help="a pack and its questions, alternating")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    development = []
    for pack, path in zip(given.inputs[::2], given.inputs[1::2], strict=True):
        questions = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        development.append(Development(Pack(pack), [q for q in questions if q["id"].rpartition("-")[2] in "01"]))
    draw = random.Random(given.seed)
    weights = Weights()
    best = statistics.mean(part.score(weights) for part in development)
    print(f"{best:.4f} {weights}", flush=True)
    end = time.monotonic() + given.seconds
    while time.monotonic() < end:
        names = draw.sample([field.name for field in dataclasses.fields(Weights)], draw.choice((1, 1, 2, 3)))
        changed = dataclasses.replace(
            weights, **{name: round(getattr(weights, name) * draw.choice(_FACTORS), 3) for name in names}
        )
        if changed.high_cosine - changed.low_cosine < 0.1:
            continue
        score = statistics.mean(part.score(changed) for part in development)
        if score > best:
            best, weights = score, changed
            print(f"{best:.4f} {weights}", flush=True)


if __name__ == "__main__":
    main()
