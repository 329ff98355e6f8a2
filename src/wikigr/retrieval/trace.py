"""The trace of a question through the stages, which `--explain`, `--json`, evaluation and logs read."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from wikigr.errors import UsageError, WikigrError

_log = logging.getLogger(__name__)

# Why a section is absent, if nothing better is known.
LEFT_OUT = "it was left out"

# Failures of an optional stage that a question survives: errors of wikigr, the engine, models and the machine. Any
# other exception is a bug and is not caught.
_FAILURES = (WikigrError, RuntimeError, ValueError, OSError, ImportError)


@dataclass(slots=True)
class StageRecord:
    """What one stage did: how long it took (milliseconds), how many items it scored, what it dropped and why.

    ``ranking`` holds the ids of the sections that it ranked or kept, best first; ``absent`` is why a section without a
    reason in ``dropped`` is not among them, if the stage knows a more specific reason than its row in the table of
    stages. ``warning`` is a message for the user; ``degraded`` means that the stage failed and was skipped, or ended
    early; ``nested`` that it is part of the stage before it.
    """

    stage: str
    milliseconds: float = 0.0
    scored: int = 0
    dropped: dict[str, str] = field(default_factory=dict)
    ranking: tuple[str, ...] = ()
    absent: str = ""
    notes: dict[str, Any] = field(default_factory=dict)
    warning: str = ""
    degraded: bool = False
    nested: bool = False

    def degrade(self, cause: object) -> None:
        """Record that this stage failed and was skipped."""
        self.degraded = True
        self.warning = " ".join(str(cause).split())
        _log.warning("The stage %s failed and was skipped: %s", self.stage, self.warning)

    def run_out_of_time(self, warning: str) -> None:
        """Record that this stage ended early: the same machine when it is less busy may find another answer."""
        self.degraded = True
        self.warning = warning


@dataclass(slots=True)
class Trace:
    """The stages of one question, in order; ``clock`` gives seconds.

    ``on_stage`` is called with the name of each stage before it runs; an exception that it raises ends the question.
    """

    stages: list[StageRecord] = field(default_factory=list)
    clock: Callable[[], float] = time.perf_counter
    on_stage: Callable[[str], None] | None = None
    _open: int = 0

    @contextmanager
    def stage(self, name: str) -> Iterator[StageRecord]:
        """Time a stage and keep its record, even if it fails."""
        if self.on_stage is not None:
            self.on_stage(name)
        record = StageRecord(name, nested=self._open > 0)
        self.stages.append(record)
        self._open += 1
        begun = self.clock()
        try:
            yield record
        finally:
            self._open -= 1
            record.milliseconds = (self.clock() - begun) * 1000.0

    @contextmanager
    def enhancement(self, name: str) -> Iterator[StageRecord]:
        """Like ``stage``, for an optional stage: its failure is recorded and logged, and the next stage runs."""
        with self.stage(name) as record:
            try:
                yield record
            except UsageError:
                raise
            except _FAILURES as error:
                record.degrade(error)

    @property
    def degraded(self) -> bool:
        return any(record.degraded for record in self.stages)

    @property
    def warnings(self) -> list[str]:
        """The warnings of the stages, each with the name of its stage."""
        return [f"{record.stage}: {record.warning}" for record in self.stages if record.warning]

    def reason_for(self, section_id: str) -> str:
        """Return why a section that was ranked was not read."""
        dropped = next((r.dropped[section_id] for r in self.stages if section_id in r.dropped), None)
        return dropped or next((r.absent for r in reversed(self.stages) if r.absent), LEFT_OUT)

    def timings(self) -> Mapping[str, float]:
        """Return milliseconds by stage, and ``total_ms``, their sum without nested stages."""
        by_stage: dict[str, float] = {}
        for record in self.stages:
            key = f"{record.stage}_ms"
            by_stage[key] = round(by_stage.get(key, 0.0) + record.milliseconds, 3)
        total = sum(record.milliseconds for record in self.stages if not record.nested)
        return {**by_stage, "total_ms": round(total, 3)}
