"""Progress of a long command on stderr: bars in a terminal, otherwise a line now and then, and after each stage."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
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


@dataclass(slots=True)
class _Stage:
    """A stage that runs: how many of ``total`` units are done, after ``before`` by an earlier run."""

    name: str
    total: int | None
    unit: str
    before: int = 0
    done: int = 0
    started: float = field(default_factory=time.monotonic)
    task: TaskID | None = None

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def rate(self, form: str = "{}") -> str:
        """Return the rate in ``form``, or nothing if too few units are done."""
        return form.format(f"{self.done / max(self.seconds, 1e-9):,.0f}/s") if self.done >= _MIN_UNITS else ""


class TerminalProgress:
    """The ``wikigr.progress.Progress`` of a terminal.

    After Ctrl-C it ends the bars and raises ``Interrupted``. Set ``resumes`` if the same command resumes an
    interrupted run, so that the message can say so.
    """

    def __init__(self, environment: Environment, *, resumes: bool = False) -> None:
        self._environment = environment
        self._resumes = resumes
        self._bars: Progress | None = None
        self._stage: _Stage | None = None
        self._ended = Event()

    def __enter__(self) -> Self:
        if self._environment.can_animate():
            from rich import progress as rich

            self._bars = rich.Progress(
                rich.SpinnerColumn(),
                rich.TextColumn("{task.description:<11}"),
                # Short enough that the line still fits 80 columns when the terminal adds "^C".
                rich.BarColumn(bar_width=14),
                rich.MofNCompleteColumn(),
                rich.TextColumn("{task.fields[unit]} {task.fields[rate]}"),
                rich.TimeElapsedColumn(),
                rich.TimeRemainingColumn(),
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
        self._stage = _Stage(stage, total, unit, done)
        if self._bars is not None:
            self._stage.task = self._bars.add_task(stage, total=total, completed=done, unit=unit, rate="")

    def advance(self, count: int) -> None:
        stage = self._stage
        if stage is not None:
            stage.done += count
            if self._bars is not None and stage.task is not None:
                self._bars.update(stage.task, advance=count, rate=stage.rate())

    def note(self, message: str) -> None:
        self._environment.note(message)

    def _print_lines(self) -> None:
        while not self._ended.wait(_SECONDS_PER_LINE):
            if (stage := self._stage) is not None:
                of = f" of {stage.total:,}" if stage.total is not None else ""
                done = f"{stage.before + stage.done:,}{of} {stage.unit}"
                self.note(f"{stage.name}: {done} after {stage.seconds:.0f} s{stage.rate(' ({})')}")

    def _finish(self) -> None:
        stage, self._stage = self._stage, None
        if stage is not None and self._bars is not None and stage.task is not None:
            self._bars.update(stage.task, total=self._bars.tasks[stage.task].completed)
        elif stage is not None:
            self.note(f"{stage.name}: {counted(stage.done, stage.unit)} in {stage.seconds:.1f} s{stage.rate(' ({})')}")


class StatusLine:
    """The ``wikigr.progress.Progress`` of a terminal that shows the current stage only, until ``stop``."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._status: Status | None = None
        self._stage = _Stage("", None, "")

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        self._stage = _Stage(stage, total, unit, done)
        if self._status is None:
            self._status = self._environment.console(self._environment.stderr).status("")
            self._status.start()
        self.advance(0)

    def advance(self, count: int) -> None:
        stage = self._stage
        stage.done += count
        if self._status is not None:
            done = f": {stage.before + stage.done:,} of {stage.total:,} {stage.unit}" if stage.total is not None else ""
            self._status.update(harmless(f"{stage.name}{done}"))

    def note(self, message: str) -> None:
        self._environment.note(message)

    def stop(self) -> None:
        """Remove the line; the next stage shows it again."""
        if self._status is not None:
            self._status.stop()
            self._status = None
