"""What a command's exit status means, and which error gives which."""

from __future__ import annotations

from enum import IntEnum

from wikigr.errors import PackError, UsageError, WikigrError


class ExitStatus(IntEnum):
    """The exit codes of every command. Scripts rely on them."""

    OK = 0
    """Done."""
    FAILED_CHECK = 1
    """A gate failed, or --strict was given and the pack does not cover the question."""
    USAGE = 2
    """Wrong usage, profile or configuration."""
    RUNTIME = 3
    """Failed at run time: input, network, model, database."""
    PACK = 4
    """The pack is missing, damaged or incompatible."""
    INTERRUPTED = 130
    """Interrupted (Ctrl-C)."""


EXIT_CODES_HELP = (
    "Exit codes: 0 done · 1 a check failed, or --strict and no answer · 2 wrong usage or configuration · "
    "3 failed at run time · 4 pack missing, damaged or incompatible · 130 interrupted"
)


def status_of(error: WikigrError) -> ExitStatus:
    """Return the exit code for an error of ours."""
    if isinstance(error, UsageError):
        return ExitStatus.USAGE
    if isinstance(error, PackError):
        return ExitStatus.PACK
    return ExitStatus.RUNTIME
