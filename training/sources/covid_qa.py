"""COVID-QA (Möller et al. 2020): questions on whole scientific articles."""

from __future__ import annotations

from pathlib import Path

from training.examples import Question, read_lines
from training.sources.squadshifts import parse_row

NAME = "covid-qa"
LICENSE = "Apache-2.0"


def read_covid_qa(folder: Path) -> list[Question]:
    """Read ``covid-qa.jsonl.xz``; the articles have no titles."""
    rows = read_lines(folder / "covid-qa.jsonl.xz")
    return [question for row in rows if (question := parse_row(row, NAME, titled=False)) is not None]
