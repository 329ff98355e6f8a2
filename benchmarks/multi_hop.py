"""Measure recall and latency of retrieval: dense, lexical, hybrid, with the graph walk, with the rule planner.

    python benchmarks/multi_hop.py PACK QUESTIONS.jsonl[.xz] [--sample N] [--answers]

A question is ``{"question", "gold_ids": [source ids], "type"?, "hops"?, "answers"?}``. Prints, for each configuration,
the mean recall@2, @5 and @10 of gold passages, the share of questions with all of them among the first 5, the median
milliseconds per question with the encoder loaded, R@5 by number of hops or type, and the paired difference in R@5 from
the previous configuration with its 95% BCa confidence interval.

``--answers`` measures answers instead: ``enhanced`` without the reader, with it, and with hops, offline. Prints the
mean exact match and F1 (SQuAD's) of the short answer, or of the first sentence without one; the share of answers that
contain an accepted one; the share that abstained, which counts as wrong; and the paired difference in F1.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from wikigr.answer.answer import Answer
from wikigr.evaluation.metrics.accuracy import accuracy, exact_match, token_f1
from wikigr.evaluation.metrics.ranking import all_found_at, recall_at
from wikigr.evaluation.statistics.paired import compare_paired
from wikigr.graph_search.explore.options import MultiStrategyOptions
from wikigr.graph_search.hops.chain_search import HopsOptions
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.pipeline.profile_files import load_profile
from wikigr.reader.passage import ReaderOptions
from wikigr.rerankers.graph_reranker import GraphRerankerOptions
from wikigr.rerankers.graph_walk import GraphWalkOptions
from wikigr.retrieval.candidates import RetrievalOptions
from wikigr.segmentation import sentence_spans

DEPTHS = (2, 5, 10)


def configurations() -> Iterator[tuple[str, Profile]]:
    """Yield the name and the profile of each configuration, simplest first."""
    full = load_profile("multi-strategy")
    plain = full
    for options in (GraphRerankerOptions, GraphWalkOptions, HopsOptions, MultiStrategyOptions):
        plain = plain.override(options, enabled=False)
    for mode in ("dense", "lexical", "hybrid"):
        yield mode, plain.override(RetrievalOptions, mode=mode)
    walk = plain.with_options(full[GraphWalkOptions])
    yield "graph walk", walk
    yield "hops", walk.with_options(full[HopsOptions])
    yield "rule planner", full


def read_questions(path: Path) -> list[dict[str, Any]]:
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def answer_configurations() -> Iterator[tuple[str, Profile]]:
    """Yield the name and the profile of each configuration that answers questions."""
    full = load_profile("enhanced")
    yield "no reader", full.override(ReaderOptions, enabled=False)
    yield "reader", full.override(HopsOptions, enabled=False)
    yield "hops", full


def short_answer(answer: Answer) -> str:
    """Return the short answer, or the first sentence without one; an empty string if the pack abstained."""
    if answer.abstained:
        return ""
    if answer.span is not None:
        return answer.span.text
    start, end = next(iter(sentence_spans(answer.text)), (0, 0))
    return answer.text[start:end]


def group_of(question: Mapping[str, Any]) -> str:
    """Return the number of hops of a question, or its type without one."""
    return f"{question['hops']} hops" if question.get("hops") else str(question.get("type", "all"))


def by_group(questions: Sequence[Mapping[str, Any]], values: Sequence[float]) -> str:
    """Return the mean of ``values`` in percent for each group of questions."""
    groups: dict[str, list[float]] = defaultdict(list)
    for question, value in zip(questions, values, strict=True):
        groups[group_of(question)].append(value)
    return ", ".join(f"{group} {100 * fmean(found):.1f}" for group, found in sorted(groups.items()))


def difference(metric: str, previous: Sequence[float] | None, values: Sequence[float]) -> str:
    """Return the paired difference from the previous configuration in points, with its 95% interval."""
    if previous is None:
        return ""
    paired = compare_paired(metric, previous, values, binary=False, seed=0, margin=0.0)
    low, high = paired.interval.low, paired.interval.high
    return f"  {100 * paired.difference:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def measure_retrieval(pack: Pack, questions: Sequence[Mapping[str, Any]]) -> None:
    previous: list[float] | None = None
    for name, profile in configurations():
        pipeline = Pipeline(profile, pack, offline=True)
        pipeline.search(questions[0]["question"], top_k=10)
        recall: Mapping[int, list[float]] = {depth: [] for depth in DEPTHS}
        complete = []
        milliseconds = []
        for question in questions:
            begun = time.perf_counter()
            found = pipeline.search(question["question"], top_k=4 * max(DEPTHS))
            milliseconds.append(1000.0 * (time.perf_counter() - begun))
            ranking = [evidence.section.source_id for evidence in found]
            gold = set(question["gold_ids"])
            for depth in DEPTHS:
                recall[depth].append(recall_at(ranking, gold, depth))
            complete.append(all_found_at(ranking, gold, 5))
        shares = "  ".join(f"R@{depth} {100 * fmean(values):5.1f}" for depth, values in recall.items())
        print(
            f"{name:13} {shares}  all@5 {100 * fmean(complete):5.1f}  {median(milliseconds):6.1f} ms  "
            f"R@5: {by_group(questions, recall[5])}{difference('recall@5', previous, recall[5])}",
            flush=True,
        )
        previous = recall[5]


def measure_answers(pack: Pack, questions: Sequence[Mapping[str, Any]]) -> None:
    previous: list[float] | None = None
    for name, profile in answer_configurations():
        pipeline = Pipeline(profile, pack, offline=True)
        pipeline.answer(questions[0]["question"])
        exact, f1, right, abstained, milliseconds = [], [], [], [], []
        for question in questions:
            begun = time.perf_counter()
            answer = pipeline.answer(question["question"])
            milliseconds.append(1000.0 * (time.perf_counter() - begun))
            short = short_answer(answer)
            exact.append(exact_match(short, question["answers"]))
            f1.append(token_f1(short, question["answers"]))
            right.append(0.0 if answer.abstained else accuracy(answer.text, question["answers"]))
            abstained.append(float(answer.abstained))
        print(
            f"{name:13} EM {100 * fmean(exact):5.1f}  F1 {100 * fmean(f1):5.1f}  contained {100 * fmean(right):5.1f}  "
            f"abstained {100 * fmean(abstained):5.1f}  {median(milliseconds):6.1f} ms  "
            f"F1: {by_group(questions, f1)}{difference('f1', previous, f1)}",
            flush=True,
        )
        previous = f1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack")
    parser.add_argument("questions", type=Path)
    parser.add_argument("--sample", type=int, default=None, help="only N questions, evenly spaced")
    parser.add_argument("--answers", action="store_true", help="measure answers instead of retrieval")
    arguments = parser.parse_args()
    questions = read_questions(arguments.questions)
    if arguments.sample is not None and arguments.sample < len(questions):
        questions = [questions[n * len(questions) // arguments.sample] for n in range(arguments.sample)]
    with Pack(arguments.pack, preload=True) as pack:
        (measure_answers if arguments.answers else measure_retrieval)(pack, questions)


if __name__ == "__main__":
    main()
