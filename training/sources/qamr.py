"""QAMR (Michael et al. 2018): questions on single sentences of Wikipedia and Wikinews."""

from __future__ import annotations

from pathlib import Path

from training.examples import Question, read_lines
from training.sources.squadshifts import parse_row

NAME = "qamr"
LICENSE = "MIT"


def read_qamr(folder: Path) -> list[Question]:
    """Read ``qamr.jsonl.xz``."""
    return [
        question for row in read_lines(folder / "qamr.jsonl.xz") if (question := parse_row(row, NAME, titled=False))
    ]
