"""Progress of a build on stderr: a bar in a terminal, a line a stage elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from wikigr_cli.environment import Environment

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class TerminalProgress:
    """Draws ``wikigr.build.progress.Progress`` for a person."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._bars: Progress | None = None
        self._task: TaskID | None = None
        self._stage: tuple[str, str, float, int] | None = None

    def __enter__(self) -> Self:
        if self._environment.animates():
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                SpinnerColumn,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )

            self._bars = Progress(
                SpinnerColumn(),
                TextColumn("{task.description:<11}"),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.fields[unit]}  {task.fields[rate]}"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=self._environment.console(self._environment.stderr),
            )
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._finish()
        if self._bars is not None:
            self._bars.stop()

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        self._finish()
        self._stage = (stage, unit, time.monotonic(), 0)
        if self._bars is not None:
            self._task = self._bars.add_task(stage, total=total, completed=done, unit=unit, rate="")

    def advance(self, count: int) -> None:
        if self._stage is None:
            return
        stage, unit, begun, done = self._stage
        done += count
        self._stage = (stage, unit, begun, done)
        if self._bars is not None and self._task is not None:
            rate = done / max(time.monotonic() - begun, 1e-9)
            self._bars.update(self._task, advance=count, rate=f"{rate:,.0f}/s")

    def note(self, message: str) -> None:
        self._environment.note(message)

    def _finish(self) -> None:
        if self._stage is None:
            return
        stage, unit, begun, done = self._stage
        elapsed = time.monotonic() - begun
        if self._bars is not None and self._task is not None:
            finished = self._bars.tasks[self._task]
            self._bars.update(self._task, total=finished.completed)
        else:
            self._environment.note(f"{stage}: {done:,} {unit} in {elapsed:.1f} s ({done / max(elapsed, 1e-9):,.0f}/s)")
        self._stage = None
