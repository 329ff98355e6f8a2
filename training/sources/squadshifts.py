"""SQuADShifts (Miller et al. 2020): questions in the style of SQuAD on Wikipedia, Reddit and Amazon paragraphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from training.examples import Question, majority, occurrences, read_lines

WIKI = "squadshifts-new_wiki"
FORUMS = ("squadshifts-reddit", "squadshifts-amazon_reviews")
LICENSE = "CC BY 4.0"


def read_squadshifts(folder: Path, name: str) -> list[Question]:
    """Read ``NAME.jsonl.xz``. The forums have no article titles, so their titles are empty."""
    rows = read_lines(folder / f"{name}.jsonl.xz")
    return [question for row in rows if (question := parse_row(row, name, titled=name == WIKI)) is not None]


def parse_row(row: dict[str, Any], name: str, *, titled: bool) -> Question | None:
    """Return the question of a row with offsets, or ``None`` if its answer does not stand where the row says."""
    answer = majority(given["text"] for given in row["answers"])
    text = row["context"]
    spans = {(given["start"], given["start"] + len(answer)) for given in row["answers"] if given["text"] == answer}
    right = tuple(sorted(span for span in spans if text[slice(*span)] == answer)) or occurrences(text, answer)
    if not answer.strip() or not right:
        return None
    title = row["title"].replace("_", " ") if titled else ""
    accepted = tuple(dict.fromkeys(given["text"] for given in row["answers"]))
    return Question(name, row["id"], row["question"], title, text, accepted, right)
