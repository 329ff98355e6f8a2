"""Samples of a profile by their confidence and whether they are right."""

from __future__ import annotations

from wikigr.evaluation.samples import Sample

Row = tuple[float, float]


def sample(question: str, confidence: float, right: float, *, abstained: bool = False, repeat: int = 0) -> Sample:
    kind = "abstained" if abstained else "extractive"
    return Sample("p", question, repeat, query_type=kind, confidence=confidence, metrics={"accuracy": right})


def samples(rows: list[Row]) -> list[Sample]:
    return [sample(f"q{n}", confidence, right) for n, (confidence, right) in enumerate(rows)]
