"""Measure accuracy by number of hops on a knowledge graph with known answers (see ``triple_graph.py``).

    python benchmarks/graph_hops.py PACK QUESTIONS.jsonl [--limit N]

Prints, for each number of hops, the share of questions

    metapath  whose answers the gold metapath reaches exactly
    any, all  for which the triplets of the rule pruner contain an answer, or all answers
    last      for which an answer is an end of a triplet of the last iteration
    first     for which an answer is the end of the best triplet of the last iteration

and the median milliseconds per question. The search starts from the longest name of the pack in the question.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from wikigr.graph.neighborhood import Neighborhood, Node, Step
from wikigr.pack.open import Pack
from wikigr.retrieval.explore.metapath import parse_metapath
from wikigr.retrieval.explore.metapath_search import follow_metapath
from wikigr.retrieval.explore.rule_pruner import RulePruner
from wikigr.retrieval.explore.triplets import TripletRetriever
from wikigr.text import fold, words

_MAX_NAME_WORDS = 8


def names_of(pack: Pack) -> dict[tuple[str, ...], Node]:
    """Return the node of every name, by its words; articles take precedence over entities."""
    names: dict[tuple[str, ...], Node] = {}
    for key, name in pack.graph.rows("MATCH (e:Entity) RETURN e.entity_id, coalesce(e.name, '') ORDER BY e.entity_id"):
        names[tuple(words(name))] = Node("entity", key, name)
    for (title,) in pack.graph.rows("MATCH (a:Article) RETURN a.title ORDER BY a.title"):
        names[tuple(words(title))] = Node("article", title, title)
    return names


def find_start(question: str, names: dict[tuple[str, ...], Node]) -> Node | None:
    """Return the node of the longest name in ``question``, the first one on ties."""
    asked = words(question)
    for length in range(min(_MAX_NAME_WORDS, len(asked)), 0, -1):
        for begin in range(len(asked) - length + 1):
            if (node := names.get(tuple(asked[begin : begin + length]))) is not None:
                return node
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="ask this many questions, evenly spaced (0: all)")
    parser.add_argument(
        "--iterations", type=int, default=0, help="max_num_iterations of the rule pruner (0: the number of hops)"
    )
    parser.add_argument("--relations", type=int, default=5, help="max_num_relations of the rule pruner")
    parser.add_argument("--entities", type=int, default=5, help="max_num_entities of the rule pruner")
    parser.add_argument("--by-pattern", action="store_true", help="also print one line per metapath")
    given = parser.parse_args()
    questions = [json.loads(line) for line in given.questions.read_text(encoding="utf-8").splitlines()]
    if given.limit:
        questions = questions[:: max(1, len(questions) // given.limit)][: given.limit]
    with Pack(given.pack) as pack:
        names = names_of(pack)
        neighborhood = Neighborhood(pack.graph)
        pruner = RulePruner(pack.encoder, pack.graph)
        rows: dict[Any, list[tuple[float, ...]]] = defaultdict(list)
        for asked in questions:
            retriever = TripletRetriever(
                neighborhood,
                pruner,
                max_num_relations=given.relations,
                max_num_entities=given.entities,
                max_num_iterations=given.iterations or asked["hops"],
            )
            outcome = ask(asked, names, neighborhood, retriever)
            rows[asked["hops"]].append(outcome)
            if given.by_pattern:
                rows[asked["hops"], " -> ".join(asked["metapath"])].append(outcome)
    print("hops  questions  metapath   ms  |  any    all    last  first      ms  triplets")
    for hops in sorted(rows, key=str):
        exact, path_ms, some, every, last, first, ms, triplets = zip(*rows[hops], strict=True)
        label = hops if isinstance(hops, int) else hops[0]
        print(
            f"{label:>4}  {len(exact):>9}  {_percent(exact):>8} {statistics.median(path_ms):>5.1f} |"
            f" {_percent(some):>5} {_percent(every):>6} {_percent(last):>6} {_percent(first):>6}"
            f" {statistics.median(ms):>7.1f} {statistics.mean(triplets):>7.1f}"
            + ("" if isinstance(hops, int) else f"  {hops[1]}")
        )


def ask(
    asked: dict[str, Any],
    names: dict[tuple[str, ...], Node],
    neighborhood: Neighborhood,
    retriever: TripletRetriever,
) -> tuple[float, ...]:
    """Return exactness and milliseconds of the metapath, then any, all, last, first, milliseconds and triplets."""
    start = find_start(asked["question"], names)
    if start is None:
        return (0.0,) * 8
    answers = {fold(answer) for answer in asked["answers"]}
    begun = time.perf_counter()
    steps: list[Step] = []
    for part in asked["metapath"]:
        steps += parse_metapath(part, neighborhood)
    paths = follow_metapath(neighborhood, start, steps).paths
    path_ms = (time.perf_counter() - begun) * 1000
    reached = {fold(path.nodes[-1].name) for path in paths}
    begun = time.perf_counter()
    result = retriever.retrieve(asked["question"], [start])
    ms = (time.perf_counter() - begun) * 1000
    found = {fold(end.name) for edge in result.triplets for end in (edge.source, edge.target)}
    last = {fold(node.name) for node in result.last}
    return (
        float(reached == answers),
        path_ms,
        float(bool(found & answers)),
        float(answers <= found),
        float(bool(last & answers)),
        float(bool(result.last) and fold(result.last[0].name) in answers),
        ms,
        float(len(result.triplets)),
    )


def _percent(values: tuple[float, ...]) -> str:
    return f"{100 * statistics.mean(values):.1f}%"


if __name__ == "__main__":
    main()
