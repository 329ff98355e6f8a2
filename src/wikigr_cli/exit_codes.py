"""The exit codes of every command, and the one place where an exception becomes a message and an exit code."""

from __future__ import annotations

import traceback
from enum import IntEnum

from wikigr.errors import PackError, UsageError, WikigrError
from wikigr_cli.environment import Environment


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


# What the loader of libraries, the runtime of C++ and the system say when there is no memory left.
_NO_MEMORY = ("failed to map segment", "std::bad_alloc", "cannot allocate memory")
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


def report_error(environment: Environment, error: Exception) -> ExitStatus:
    """Print what failed on stderr, with the traceback if ``--debug`` was given; return the exit code."""
    if environment.debug:
        environment.print_error("".join(traceback.format_exception(error)), overflow="keep")
    if isinstance(error, MemoryError) or any(words in str(error).lower() for words in _NO_MEMORY):
        environment.print_error("wikigr: There is not enough memory.")
        environment.print_error("Free some, or raise the limit of this process (ulimit -v), then run it again.")
    elif isinstance(error, WikigrError):
        environment.report(error)
        return exit_status(error)
    elif isinstance(error, OSError):
        # A full disk or a missing permission: the system's message says it best.
        file = f": {error.filename}" if error.filename is not None else ""
        environment.print_error(f"wikigr: {error.strerror or error}{file}")
    else:
        # A bug. Python would exit with 1, which scripts read as a failed check.
        environment.print_error(f"wikigr: a bug: {type(error).__name__}: {error}")
        environment.print_error("Run it again with --debug to see where, and please report it.")
    return ExitStatus.RUNTIME
