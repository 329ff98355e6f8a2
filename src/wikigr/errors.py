"""The base of all errors that wikigr raises deliberately.

Each has a message (what failed and why, in one short paragraph) and optionally a hint, such as the command that fixes
it. The command line maps the class to an exit code in one place (``wikigr_cli.exit_codes``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class WikigrError(Exception):
    """The root of the tree: something failed at run time (exit code 3)."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(WikigrError):
    """A wrong argument, option value, profile or configuration (exit code 2)."""


class SourceError(WikigrError):
    """The source of a build cannot be read: it is missing, truncated, corrupt or in an unknown format."""


class MissingSourceError(SourceError, UsageError):
    """The source of a build does not exist."""


class RecordError(SourceError):
    """A record of a source is bad; the others may be good (``--keep-going`` skips it).

    ``where`` names the record for the user: ``notes.jsonl, line 12``, ``docs/intro.md``, ``wiki.xml, page 'Alkane'``.
    """

    def __init__(self, where: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(f"{where}: {message}", hint=hint)
        self.where = where
        self.reason = message

    def __reduce__(self) -> tuple[type[RecordError], tuple[str, str], dict[str, str | None]]:
        # Parsing processes pickle this error. The default would call __init__ with a single argument.
        return RecordError, (self.where, self.reason), {"hint": self.hint}


class ModelError(WikigrError):
    """An encoder or its weights cannot be found, verified or run."""


class BuildError(WikigrError):
    """A build cannot continue: the disk is full, the folder is not writable, or another build is running."""


class PackError(WikigrError):
    """A pack is missing, damaged or incompatible (exit code 4)."""


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Yield ``error`` and what led to it, the last first; each once, although causes may lead back to an error."""
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and not any(cause is each for each in seen):
        yield cause
        seen.append(cause)
        # What a library hides from tracebacks (``from None``) is only the context.
        cause = cause.__cause__ or cause.__context__


@contextmanager
def panics_as(error: Callable[[str], WikigrError]) -> Iterator[None]:
    """Raise ``error(message)`` when a Rust library panics in the block.

    PyO3 raises a panic as a ``BaseException`` of a class that each library defines anew and none exports, so only its
    module identifies it.
    """
    try:
        yield
    except BaseException as failure:
        if type(failure).__module__ != "pyo3_runtime":
            raise
        raise error(" ".join(str(failure).split())) from failure
