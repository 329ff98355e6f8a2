"""SQuAD 1.1 (Rajpurkar et al. 2016): the articles of its development set that SQuAD 2.0 lacks; all answerable."""

from __future__ import annotations

from pathlib import Path

from training.examples import Question, read_lines
from training.sources.squadshifts import parse_row

NAME = "squad11-more"
LICENSE = "CC BY-SA 4.0"


def read_squad11_more(folder: Path) -> list[Question]:
    """Read ``squad11-more.jsonl.xz``."""
    rows = read_lines(folder / "squad11-more.jsonl.xz")
    return [question for row in rows if (question := parse_row(row, NAME, titled=True)) is not None]
