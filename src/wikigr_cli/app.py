"""The entry point: one command tree, and the one place where errors become messages and exit codes."""

from __future__ import annotations

import gc
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from wikigr.errors import WikigrError
from wikigr_cli.command_table import HELP_OPTIONS, CommandTable
from wikigr_cli.commands import config
from wikigr_cli.environment import Environment, Interrupted, ReaderGone, plain
from wikigr_cli.exit_codes import EXIT_CODES_HELP, ExitStatus, status_of

app = typer.Typer(
    name="wikigr",
    cls=CommandTable,
    help="Build knowledge packs from Wikipedia or documentation, and ask them: answers come with citations "
    "that point to stored text and are verified.",
    epilog=EXIT_CODES_HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain help: it draws at once, and reads the same in a pipe.
    rich_markup_mode=None,
    context_settings={"help_option_names": list(HELP_OPTIONS), "auto_envvar_prefix": "WIKIGR"},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from wikigr.version import version_line

        typer.echo(version_line())
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress and no notes; errors still show.")] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Add the trace of what was done, on stderr.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print version and commit."),
    ] = False,
) -> None:
    """Set what every command shares."""
    del version
    environment = context.ensure_object(Environment)
    environment.verbosity = -1 if quiet else 1 if verbose else 0
    environment.debug = debug
    context.default_map = config.defaults(Path.cwd(), context.command)


_SILENT = logging.NullHandler()


def run(arguments: Sequence[str], environment: Environment) -> int:
    """Run one command line in ``environment`` and return its exit code; never raises on a user's mistake."""
    # What the library logs is in the trace too, from which the commands print it.
    logging.getLogger("wikigr").addHandler(_SILENT)
    command = typer.main.get_command(app)
    try:
        status = command.main(args=list(arguments), prog_name="wikigr", standalone_mode=False, obj=environment)
        status = int(status) if isinstance(status, int) else ExitStatus.OK
        if status == ExitStatus.INTERRUPTED:
            # Typer has made a status of the interruption. The terminal's own ^C stands on a line of its own.
            environment.complain("\nInterrupted." if environment.stderr.isatty() else "Interrupted.")
        return status
    except typer.Exit as leaving:
        return int(leaving.exit_code)
    except (Interrupted, KeyboardInterrupt, typer.Abort) as stopped:
        environment.complain("Interrupted.")
        if isinstance(stopped, Interrupted) and stopped.hint:
            environment.complain(stopped.hint)
        return ExitStatus.INTERRUPTED
    except (ReaderGone, BrokenPipeError):
        return ExitStatus.OK
    except WikigrError as error:
        if environment.debug:
            environment.complain("".join(traceback.format_exception(error)), overflow="keep")
        environment.complain(f"wikigr: {plain(error.message)}")
        if error.hint:
            environment.complain(plain(error.hint))
        return status_of(error)
    except OSError as error:
        # A full disk, a folder without permission: the machine's own words say it best.
        if environment.debug:
            environment.complain("".join(traceback.format_exception(error)), overflow="keep")
        environment.complain(f"wikigr: {plain(str(error.strerror or error))}" + _file_of(error))
        return ExitStatus.RUNTIME
    except Exception as error:  # noqa: BLE001 -- the one place where what nobody foresaw becomes a message
        usage = _usage_error(error)
        if usage is not None:
            environment.complain(usage)
            return ExitStatus.USAGE
        # A bug of ours. Python's own exit code for it, 1, would read as a gate that failed.
        if environment.debug:
            environment.complain("".join(traceback.format_exception(error)), overflow="keep")
        environment.complain(f"wikigr: a bug: {type(error).__name__}: {plain(str(error))}")
        environment.complain("--debug shows where. Please report it.")
        return ExitStatus.RUNTIME


def _file_of(error: OSError) -> str:
    return f": {plain(str(error.filename))}" if error.filename is not None else ""


def _usage_error(error: Exception) -> str | None:
    """Return the message of an error about the command line itself, else ``None``."""
    show = getattr(error, "format_message", None)
    if show is None:
        return None
    context = getattr(error, "ctx", None)
    lines = [f"wikigr: {show()}"]
    if context is not None:
        lines.append(f"Try '{context.command_path} --help'.")
    return "\n".join(lines)


def main() -> None:
    """Run as the console script."""
    _fill_closed_streams()
    _leave_out_what_is_not_used()
    status = int(run(sys.argv[1:], Environment()))
    with suppress(OSError, AttributeError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    # Every command has closed what it opened. Python's own end would free the model piece by piece, which takes a
    # seventh of a question's time.
    os._exit(status)


def _leave_out_what_is_not_used() -> None:
    """Spare a cold question a tenth of its time; only here, where the whole process is ours.

    No command multiplies large matrices with numpy, so its BLAS starts no threads. No command uses the engine's
    asynchronous connection, for which alone the engine imports asyncio and ssl. What imports make stays, so that the
    collector of cycles looks at it seldom.
    """
    gc.set_threshold(100_000, 50, 50)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    absent = ModuleType("real_ladybug.async_connection")
    vars(absent)["AsyncConnection"] = None
    sys.modules.setdefault(absent.__name__, absent)


def _fill_closed_streams() -> None:
    """Open the null device where the caller closed a standard stream (``2>&-``), or a file of ours takes its number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Inheritable, as standard streams are: the same holds for the processes that a build starts.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
