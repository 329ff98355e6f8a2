"""Measure answers by number of hops on knowledge graphs with known answers, through the whole pipeline.

    python benchmarks/graph_hops.py PACK QUESTIONS.jsonl [--limit N] [--profile P]

Asks every question as ``wikigr ask --offline`` does (``schema_graph.py`` makes graphs and questions), and prints, for
each number of hops, the share

    any       of questions whose printed answer names a right answer
    all       of the right answers that the printed answers name, on average
    path      of questions whose answer follows the gold metapath
    declined  of questions that were declined

and the median and 95th percentile of milliseconds per question, with a warm pipeline.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wikigr.answer.answer import Answer
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
from wikigr.text import fold


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one question got: the share of the right answers that are printed, and how long it took."""

    share: float
    path: bool
    declined: bool
    ms: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="ask this many questions, evenly spaced (0: all)")
    parser.add_argument("--profile", default="enhanced")
    given = parser.parse_args()
    questions = [json.loads(line) for line in given.questions.read_text(encoding="utf-8").splitlines()]
    if given.limit:
        questions = questions[:: max(1, len(questions) // given.limit)][: given.limit]
    rows: dict[str, list[Outcome]] = defaultdict(list)
    with Pack(given.pack) as pack:
        pipeline = Pipeline(load_profile(given.profile), pack, offline=True)
        pipeline.answer(questions[0]["question"])
        for asked in questions:
            begun = time.perf_counter()
            answer = pipeline.answer(asked["question"])
            outcome = judge(answer, asked, (time.perf_counter() - begun) * 1000)
            rows[str(asked["hops"])].append(outcome)
    print("hops  questions    any    all   path  declined  p50 ms  p95 ms")
    for hops, outcomes in sorted(rows.items()):
        times = sorted(outcome.ms for outcome in outcomes)
        print(
            f"{hops:>4}  {len(outcomes):>9} {_percent([o.share > 0 for o in outcomes])}"
            f" {_percent([o.share for o in outcomes])} {_percent([o.path for o in outcomes])}"
            f"    {_percent([o.declined for o in outcomes])} {statistics.median(times):>7.1f}"
            f" {times[int(0.95 * (len(times) - 1))]:>7.1f}"
        )


def judge(answer: Answer, asked: dict[str, Any], ms: float) -> Outcome:
    """Compare an answer with the gold answers of a question; names are compared as whole words, folded."""
    text = "" if answer.abstained else fold(answer.text)
    found = [name for name in asked["answers"] if re.search(rf"(?<!\w){re.escape(fold(name))}(?!\w)", text)]
    paths = _paths(answer)
    followed = bool(paths) and paths[0].split("  ")[0] == " > ".join(asked.get("metapath", ()))
    return Outcome(len(found) / len(asked["answers"]), followed, answer.abstained, ms)


def _paths(answer: Answer) -> list[str]:
    """Return the paths in the trace of ``answer``, best first."""
    return next((list(r.notes.get("paths", ())) for r in answer.trace.stages if r.stage == "relation_paths"), [])


def _percent(values: list[Any]) -> str:
    return f"{100 * statistics.mean(values):>5.1f}%"


if __name__ == "__main__":
    main()
