"""How a build tells how far it is. The library reports; a front end draws."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        """Begin a stage of ``total`` units (``None``: not known), ``done`` of them from an earlier run."""
        ...

    def advance(self, count: int) -> None:
        """Count ``count`` more units of the present stage."""
        ...

    def note(self, message: str) -> None:
        """Say something that a person should know but that stops nothing."""
        ...


class Silent:
    """A progress that nobody watches."""

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        del stage, total, unit, done

    def advance(self, count: int) -> None:
        del count

    def note(self, message: str) -> None:
        del message
