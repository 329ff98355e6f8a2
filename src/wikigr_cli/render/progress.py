"""Progress of a long command on stderr: bars in a terminal, otherwise a line now and then, and after each stage."""

from __future__ import annotations

import time
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Self

from wikigr.text import harmless
from wikigr_cli.environment import Environment, Interrupted
from wikigr_cli.render.output import counted

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.status import Status

_RESUME_HINT = "Run the same command again to resume."
# A rate over fewer units is not meaningful.
_MIN_UNITS = 10
# Without bars, a line says this often how far a stage has come.
_SECONDS_PER_LINE = 30.0


class TerminalProgress:
    """The ``wikigr.progress.Progress`` of a terminal.

    After Ctrl-C it ends the bars and raises ``Interrupted``. Set ``resumes`` if the same command resumes an
    interrupted run, so that the message can say so.
    """

    def __init__(self, environment: Environment, *, resumes: bool = False) -> None:
        self._environment = environment
        self._resumes = resumes
        self._bars: Progress | None = None
        self._task: TaskID | None = None
        self._stage: tuple[str, str, float, int | None, int] | None = None
        self._done = 0
        self._ended = Event()

    def __enter__(self) -> Self:
        if self._environment.can_animate():
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
                # Short enough that the line still fits 80 columns when the terminal adds "^C".
                BarColumn(bar_width=14),
                MofNCompleteColumn(),
                TextColumn("{task.fields[unit]} {task.fields[rate]}"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=self._environment.console(self._environment.stderr),
            )
            self._bars.start()
            self._environment.print_above_bars = self._bars.console.print
        elif self._environment.verbosity >= 0:
            Thread(target=self._print_lines, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._finish()
        self._ended.set()
        self._environment.print_above_bars = None
        if self._bars is not None:
            self._bars.stop()
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            raise Interrupted(_RESUME_HINT if self._resumes else "") from error

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        self._finish()
        self._stage = (stage, unit, time.monotonic(), total, done)
        self._done = 0
        if self._bars is not None:
            self._task = self._bars.add_task(stage, total=total, completed=done, unit=unit, rate="")

    def advance(self, count: int) -> None:
        if self._stage is None:
            return
        self._done += count
        if self._bars is not None and self._task is not None:
            rate = _rate(self._done, time.monotonic() - self._stage[2])
            self._bars.update(self._task, advance=count, rate=rate)

    def note(self, message: str) -> None:
        self._environment.note(message)

    def _print_lines(self) -> None:
        while not self._ended.wait(_SECONDS_PER_LINE):
            if self._stage is not None:
                stage, unit, started, total, before = self._stage
                elapsed = time.monotonic() - started
                of = f" of {total:,}" if total is not None else ""
                rate = _rate(self._done, elapsed)
                self._environment.note(
                    f"{stage}: {before + self._done:,}{of} {unit} after {elapsed:.0f} s"
                    + (f" ({rate})" if rate else "")
                )

    def _finish(self) -> None:
        if self._stage is None:
            return
        stage, unit, started, _, _ = self._stage
        elapsed = time.monotonic() - started
        if self._bars is not None and self._task is not None:
            finished = self._bars.tasks[self._task]
            self._bars.update(self._task, total=finished.completed)
        else:
            rate = _rate(self._done, elapsed)
            self._environment.note(
                f"{stage}: {counted(self._done, unit)} in {elapsed:.1f} s" + (f" ({rate})" if rate else "")
            )
        self._stage = None


class StatusLine:
    """The ``wikigr.progress.Progress`` of a terminal that shows the current stage only, until ``stop``."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._status: Status | None = None
        self._stage = ""
        self._total: int | None = None
        self._done = 0
        self._unit = ""

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        self._stage, self._total, self._unit, self._done = stage, total, unit, done
        if self._status is None:
            self._status = self._environment.console(self._environment.stderr).status("")
            self._status.start()
        self.advance(0)

    def advance(self, count: int) -> None:
        self._done += count
        if self._status is not None:
            counts = f": {self._done:,} of {self._total:,} {self._unit}" if self._total is not None else ""
            self._status.update(harmless(f"{self._stage}{counts}"))

    def note(self, message: str) -> None:
        self._environment.note(message)

    def stop(self) -> None:
        """Remove the line; the next stage shows it again."""
        if self._status is not None:
            self._status.stop()
            self._status = None


def _rate(done: int, seconds: float) -> str:
    return f"{done / max(seconds, 1e-9):,.0f}/s" if done >= _MIN_UNITS else ""
