"""The one record of what a question went through; `--explain`, `--json`, evaluation and logs read it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class StageRecord:
    """What one stage did: how long it took (milliseconds), what it scored and what it dropped and why."""

    stage: str
    milliseconds: float = 0.0
    scored: int = 0
    dropped: dict[str, str] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Trace:
    """The stages of one question, in order."""

    stages: list[StageRecord] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[StageRecord]:
        """Time a stage and keep its record, whether or not it fails."""
        record = StageRecord(name)
        self.stages.append(record)
        begun = time.perf_counter()
        try:
            yield record
        finally:
            record.milliseconds = (time.perf_counter() - begun) * 1000.0

    def timings(self) -> Mapping[str, float]:
        """Return milliseconds by stage and their sum, ``total_ms``."""
        by_stage: dict[str, float] = {}
        for record in self.stages:
            key = f"{record.stage}_ms"
            by_stage[key] = round(by_stage.get(key, 0.0) + record.milliseconds, 3)
        return {**by_stage, "total_ms": round(sum(by_stage.values()), 3)}
