"""The exit codes of every command, and the one that each error class leads to."""

from __future__ import annotations

from enum import IntEnum

from wikigr.errors import PackError, UsageError, WikigrError


class ExitStatus(IntEnum):
    """The exit codes of every command. Scripts rely on them."""

    OK = 0
    """Success."""
    FAILED_CHECK = 1
    """A gate or check failed, or --strict was given and the pack does not cover the question."""
    USAGE = 2
    """Wrong usage, profile or configuration."""
    RUNTIME = 3
    """A failure at run time: input, network, model or database."""
    PACK = 4
    """The pack is missing, damaged or incompatible."""
    INTERRUPTED = 130
    """Interrupted (Ctrl-C)."""


# docs/generate splits this text at " · " for the man page.
EXIT_CODES_HELP = (
    "Exit codes: 0 success · 1 a check failed, or --strict and no answer · 2 wrong usage or configuration · "
    "3 failed at run time · 4 pack missing, damaged or incompatible · 130 interrupted"
)


def exit_status(error: WikigrError) -> ExitStatus:
    """Return the exit code for a library error."""
    if isinstance(error, UsageError):
        return ExitStatus.USAGE
    if isinstance(error, PackError):
        return ExitStatus.PACK
    return ExitStatus.RUNTIME
