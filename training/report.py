"""Everything that is measured of a reader, and the table of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from training.config import Config
from training.evaluate import evaluate
from training.judge import groups_of, read_judged_questions, summarize_judged
from training.judged import JUDGED_FILE, read_judged
from training.model import SpanReader
from training.retrieve import RETRIEVED_FILE, first_of_each_group, read_retrieved
from wikigr.reader.windows import WindowMaker

# Sections that are read for a question that people asked, as in the default profile.
_SECTIONS = 4
# The weight of a sentence's score without the reader, in logits of the margin; that of the calibration of the first
# adapter that shipped.
_FEATURES_WEIGHT = 20.0


def measure(
    model: SpanReader, maker: WindowMaker, pad_id: int, work: Path, limit: int, config: Config
) -> dict[str, dict[str, Any]]:
    """Return the figures on the held-out articles and on the questions that people asked, by the name of the set.

    At most ``limit`` questions of each group of the held-out articles are read.
    """
    held_out = first_of_each_group(read_retrieved(work / RETRIEVED_FILE), limit)
    figures = {
        f"held-out, {name}": asdict(found) for name, found in evaluate(model, maker, pad_id, held_out, config).items()
    }
    judged = read_judged(work / JUDGED_FILE)
    readings = read_judged_questions(model, maker, pad_id, judged, _SECTIONS, config.max_answer_tokens)
    for name, numbers in groups_of(judged).items():
        found = summarize_judged([judged[n] for n in numbers], [readings[n] for n in numbers], _FEATURES_WEIGHT)
        if found is not None:
            figures[name] = asdict(found)
    return figures


def as_table(rows: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Return the figures of several readers as one Markdown table: a line for each set and figure."""
    readers = list(rows)
    lines = [["set", "figure", *readers], ["---"] * (2 + len(readers))]
    first = rows[readers[0]]
    for name, figures in first.items():
        for figure in figures:
            values = [rows[reader].get(name, {}).get(figure) for reader in readers]
            lines.append([name, figure, *(_cell(value) for value in values)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: float | int | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.3f}"
