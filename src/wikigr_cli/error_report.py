"""The one place where an exception becomes a message and an exit code."""

from __future__ import annotations

import traceback

from wikigr.errors import WikigrError
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus, exit_status


def report_error(environment: Environment, error: Exception) -> ExitStatus:
    """Print what failed on stderr, with the traceback if ``--debug`` was given; return the exit code."""
    if environment.debug:
        environment.print_error("".join(traceback.format_exception(error)), overflow="keep")
    if isinstance(error, WikigrError):
        environment.report(error)
        return exit_status(error)
    if isinstance(error, MemoryError):
        environment.print_error("wikigr: There is not enough memory.")
        environment.print_error("Free some, or raise the limit of this process (ulimit -v), then run it again.")
    elif isinstance(error, OSError):
        # A full disk or a missing permission: the system's message says it best.
        file = f": {error.filename}" if error.filename is not None else ""
        environment.print_error(f"wikigr: {error.strerror or error}{file}")
    else:
        # A bug. Python would exit with 1, which scripts read as a failed check.
        environment.print_error(f"wikigr: a bug: {type(error).__name__}: {error}")
        environment.print_error("Run it again with --debug to see where, and please report it.")
    return ExitStatus.RUNTIME
