"""The entry point of the command line, and the one place where exceptions become messages and exit codes."""

from __future__ import annotations

import gc
import logging
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from wikigr.errors import causes_of
from wikigr.suggestions import did_you_mean, nearest
from wikigr_cli import options
from wikigr_cli.command_class import GLOBAL_OPTIONS, in_words, is_option, options_of, print_all_help, takes_words
from wikigr_cli.command_table import HELP_OPTIONS, CommandTable, print_help
from wikigr_cli.entry import end_at_once, interrupt_command
from wikigr_cli.environment import Environment, Interrupted, OutputClosed
from wikigr_cli.exit_codes import ExitStatus, report_error
from wikigr_cli.settings import place_of, read_defaults

_SILENT = logging.NullHandler()
# A mistake in a settings file does not keep these from working.
_WITHOUT_SETTINGS = (None, "help", "version")

app = typer.Typer(
    name="wikigr",
    cls=CommandTable,
    help="""Build knowledge packs from Wikipedia or documentation and ask them questions. Every answer cites stored
    text, and every citation is verified.

    \b
    Examples:
      wikigr ask Who proposed matter waves --pack packs/physics
      wikigr help pack build
    """,
    pretty_exceptions_enable=False,
    # Plain help appears at once and reads the same in a pipe.
    rich_markup_mode=None,
    context_settings={"help_option_names": list(HELP_OPTIONS)},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from wikigr.version import version_line

        typer.echo(version_line())
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    quiet: Annotated[
        bool, options.Global("-q", "--quiet", envvar="WIKIGR_QUIET", show_envvar=False, help=GLOBAL_OPTIONS["quiet"][1])
    ] = False,
    verbose: Annotated[
        bool,
        options.Global(
            "-v", "--verbose", envvar="WIKIGR_VERBOSE", show_envvar=False, help=GLOBAL_OPTIONS["verbose"][1]
        ),
    ] = False,
    debug: Annotated[
        bool, options.Global("--debug", envvar="WIKIGR_DEBUG", show_envvar=False, help=GLOBAL_OPTIONS["debug"][1])
    ] = False,
    version: Annotated[
        bool,
        options.Global("--version", callback=_print_version, is_eager=True, help="Print the version and the commit."),
    ] = False,
    help_all: Annotated[
        bool, options.Global("--help-all", is_eager=True, callback=print_all_help, help=GLOBAL_OPTIONS["help-all"][1])
    ] = False,
) -> None:
    """Apply the global options and the settings files."""
    del version, help_all
    environment = context.ensure_object(Environment)
    environment.verbosity = -1 if quiet else 1 if verbose else 0
    environment.debug = debug
    print_help(context)
    if context.invoked_subcommand not in _WITHOUT_SETTINGS:
        context.default_map = read_defaults(Path.cwd(), context.command, context.invoked_subcommand, environment.note)


@cache
def root_command() -> Any:
    """Return the command tree, made once in a process: each of its commands is made when it is first used."""
    return typer.main.get_command(app)


def run(arguments: Sequence[str], environment: Environment) -> int:
    """Run a command line in ``environment`` and return its exit code; no error of the command is raised."""
    # The commands print the library's log messages from the trace.
    logging.getLogger("wikigr").addHandler(_SILENT)
    try:
        status = root_command().main(args=list(arguments), prog_name="wikigr", standalone_mode=False, obj=environment)
        status = int(status) if isinstance(status, int) else ExitStatus.OK
        if status == ExitStatus.INTERRUPTED:
            # Typer turned the interruption into a status. The line break ends the line with the terminal's "^C".
            environment.print_error("\nInterrupted." if environment.stderr.isatty() else "Interrupted.")
        return status
    except typer.Exit as ending:
        return int(ending.exit_code)
    except (Interrupted, KeyboardInterrupt, typer.Abort) as interruption:
        environment.print_error("Interrupted.")
        if isinstance(interruption, Interrupted) and interruption.hint:
            environment.print_error(interruption.hint)
        return ExitStatus.INTERRUPTED
    except (OutputClosed, BrokenPipeError):
        return ExitStatus.OK
    except Exception as error:  # noqa: BLE001 -- turns an unexpected exception into a message
        # A module in C whose import Ctrl-C ends raises an ``ImportError`` instead.
        if any(isinstance(cause, KeyboardInterrupt) for cause in causes_of(error)):
            environment.print_error("Interrupted.")
            return ExitStatus.INTERRUPTED
        usage = _usage_error(error)
        if usage is not None:
            environment.print_error(usage)
            return ExitStatus.USAGE
        return report_error(environment, error)


def _usage_error(error: Exception) -> str | None:
    """Return the message of a click error about the command line, or ``None`` for another error."""
    show = getattr(error, "format_message", None)
    if show is None:
        return None
    context = getattr(error, "ctx", None)
    option = getattr(error, "option_name", None)
    if context is not None and hasattr(error, "possibilities"):
        return "\n".join(_unknown_option(context, str(option), error.possibilities or ()))
    message = in_words(_settings_mistake(context, error) or str(show()))
    missing = getattr(error, "param", None)
    if context is not None and missing is not None and takes_words(missing) and "Missing argument" in message:
        # The last argument gets the first word, so it is the one that is missing.
        last = [p for p in context.command.params if p.param_type_name == "argument"][-1]
        message = message.replace(f"'{missing.metavar}'", f"'{last.metavar}'")
    lines = [f"wikigr: {message}{_meant_choice(error)}"]
    if context is not None:
        lines.append(f"Try '{context.command_path} --help'.")
    return "\n".join(lines)


def _settings_mistake(context: typer.Context | None, error: Exception) -> str | None:
    """Return the message for a wrong value that a settings file gives an option, or ``None``."""
    parameter = getattr(error, "param", None)
    source = context.get_parameter_source(parameter.name) if context is not None and parameter is not None else None
    if context is None or parameter is None or source is None or source.name != "DEFAULT_MAP":
        return None
    path: tuple[str, ...] = getattr(context.command, "path", ())
    return f"{place_of(Path.cwd(), context.find_root().command, path, parameter)}: {getattr(error, 'message', error)}"


def _meant_choice(error: Exception) -> str:
    """Return a suggestion, after a space, if the error is about a value that is not one of the choices."""
    choices = getattr(getattr(getattr(error, "param", None), "type", None), "choices", ())
    # Click does not keep the value.
    given = re.match(r"'(.*)' is not one of ", str(getattr(error, "message", "")))
    hint = did_you_mean(nearest(given[1], map(str, choices))) if given else None
    return f" {hint}" if hint else ""


def _unknown_option(context: typer.Context, option: str, near: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the message for an option that a command does not have."""
    command = context.command
    shown = {spelling for parameter in options_of(command) for spelling in parameter.opts + parameter.secondary_opts}
    hint = did_you_mean([spelling for spelling in near if spelling in shown][:1], shown=str)
    yield f"wikigr: No such option: {option}.{f' {hint}' if hint else ''}"
    if context.parent is None and is_option(command, option.lstrip("-")):
        yield f"{option} is an option of a command and goes after it."
    for parameter in filter(takes_words, command.params):
        yield f"If it is a part of the {parameter.name}, quote the {parameter.name} or put -- before it."
    yield f"Try '{context.command_path} --help'."


def main() -> None:
    """Run as the console script, after ``entry.main``."""
    # No child process imports modules from the working directory, where a stranger's documents may lie.
    os.environ["PYTHONSAFEPATH"] = "1"
    _fill_closed_streams()
    _skip_unused_parts()
    status = _run_interruptibly()
    with suppress(OSError, AttributeError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    # Every command has closed its files. Python's normal exit would free the model piece by piece, which takes a
    # seventh of a question's time.
    os._exit(status)


def _run_interruptibly() -> int:
    """Run the command; Ctrl-C raises ``KeyboardInterrupt`` in it, and ends the process at once elsewhere."""
    environment = Environment()
    before = signal.getsignal(signal.SIGINT)
    try:
        if before is end_at_once:
            signal.signal(signal.SIGINT, interrupt_command)
        status = int(run(sys.argv[1:], environment))
    except KeyboardInterrupt:
        # Just before the command, or while its error was printed.
        status = ExitStatus.INTERRUPTED
    finally:
        if before is end_at_once:
            signal.signal(signal.SIGINT, end_at_once)
    return status


def _skip_unused_parts() -> None:
    """Make a cold question a tenth faster. Only the console script does this, because it owns the process.

    No command multiplies large matrices with numpy, so OpenBLAS needs no threads. No command uses the asynchronous
    connection of the engine, which is the only reason why the engine imports asyncio and ssl. Imported objects live
    until the end, so the garbage collector can look at them rarely.
    """
    gc.set_threshold(100_000, 50, 50)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for engine in ("real_ladybug", "ladybug"):
        absent = ModuleType(f"{engine}.async_connection")
        vars(absent)["AsyncConnection"] = None
        sys.modules.setdefault(absent.__name__, absent)


def _fill_closed_streams() -> None:
    """Open the null device for every standard stream that the caller closed (``2>&-``).

    Otherwise the next file that is opened would take the descriptor of that stream.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Inheritable like standard streams, because a build starts processes.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
