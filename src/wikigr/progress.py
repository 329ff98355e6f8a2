"""The interface through which long operations report progress; a front end displays it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        """Begin a stage of ``total`` units (``None`` if unknown), of which ``done`` were finished by an earlier run."""
        ...

    def advance(self, count: int) -> None:
        """Report ``count`` more finished units of the current stage."""
        ...

    def note(self, message: str) -> None:
        """Report something that the user should know but that does not stop the operation."""
        ...


class Silent:
    """A progress that displays nothing."""

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        del stage, total, unit, done

    def advance(self, count: int) -> None:
        del count

    def note(self, message: str) -> None:
        del message
