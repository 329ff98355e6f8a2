"""Every error that wikigr raises on purpose.

Each carries a message of one short paragraph (what failed and why) and, where one exists, the command that
mends it. The terminal turns the class into an exit code in one place (``wikigr_cli.exit_codes``).
"""

from __future__ import annotations


class WikigrError(Exception):
    """Root of the tree: something failed at run time (exit code 3)."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(WikigrError):
    """A wrong argument, option value, profile or configuration (exit code 2)."""


class SourceError(WikigrError):
    """The input of a build cannot be read: missing, truncated, corrupt or of an unknown format."""


class RecordError(SourceError):
    """One record of a source is bad; the rest may be fine (``--keep-going`` skips it).

    ``where`` names the record for a person: ``line 12``, ``docs/intro.md``, ``page 'Alkane'``.
    """

    def __init__(self, where: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(f"{where}: {message}", hint=hint)
        self.where = where
        self.reason = message

    def __reduce__(self) -> tuple[type[RecordError], tuple[str, str], dict[str, str | None]]:
        # Parsing processes send these back; the default would call __init__ with one argument.
        return RecordError, (self.where, self.reason), {"hint": self.hint}


class ModelError(WikigrError):
    """An encoder or its weights cannot be found, verified or run."""


class BuildError(WikigrError):
    """A build cannot go on (disk full, folder not writable, another build in progress)."""


class PackError(WikigrError):
    """A pack is missing, damaged or of an incompatible version (exit code 4)."""


class EncoderMismatchError(PackError):
    """A pack is asked with another encoder than the one that made its vectors."""
