"""The command line as a function, ``run``: the root of the tree, and the one place where exceptions become messages."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Annotated, Any

import typer

from wikigr.errors import causes_of
from wikigr.suggestions import did_you_mean
from wikigr.text import some_of
from wikigr_cli import options
from wikigr_cli.command_class import leaf_commands, long_name, options_of, prepare, takes_words
from wikigr_cli.command_table import HELP_OPTIONS, CommandTable, print_help
from wikigr_cli.environment import Environment, Interrupted, OutputClosed
from wikigr_cli.exit_codes import ExitStatus, report_error
from wikigr_cli.settings import default_map, origin_of

_SILENT = logging.NullHandler()

app = typer.Typer(
    name="wikigr",
    cls=CommandTable,
    help="""Build knowledge packs from Wikipedia or documentation and ask them questions. Every answer cites stored
    text, and every citation is verified.

    Examples:
      wikigr ask Who proposed matter waves --pack packs/physics
      wikigr help pack build
    """,
    pretty_exceptions_enable=False,
    # Plain help appears at once and reads the same in a pipe.
    rich_markup_mode=None,
    context_settings={"help_option_names": list(HELP_OPTIONS), "auto_envvar_prefix": "WIKIGR"},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from wikigr.version import version_line

        typer.echo(version_line())
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool,
        options.Global("--version", callback=_print_version, is_eager=True, help="Print the version and the commit."),
    ] = False,
) -> None:
    """Apply the user's settings, or print the help without a command."""
    print_help(context)
    # A mistake in the settings does not keep these from working.
    if context.invoked_subcommand not in (None, "help", "version"):
        context.default_map = default_map(context.command, context.invoked_subcommand)


@cache
def root_command() -> Any:
    """Return the command tree, made once in a process: each of its commands is made when it is first used."""
    command = typer.main.get_command(app)
    prepare(command, ())
    return command


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
    except (OutputClosed, BrokenPipeError):
        return ExitStatus.OK
    except SystemExit as ending:
        # Typer ends so when the reader of a help text leaves.
        if isinstance(ending.__context__, BrokenPipeError):
            return ExitStatus.OK
        raise
    except KeyboardInterrupt:
        environment.print_error("Interrupted.")
        return ExitStatus.INTERRUPTED
    except Exception as error:  # noqa: BLE001 -- turns an unexpected exception into a message
        # A module in C whose import Ctrl-C ends raises an ``ImportError`` instead.
        if any(isinstance(cause, Interrupted | KeyboardInterrupt | typer.Abort) for cause in causes_of(error)):
            environment.print_error("Interrupted.")
            if isinstance(error, Interrupted) and error.hint:
                environment.print_error(error.hint)
            return ExitStatus.INTERRUPTED
        usage = _usage_error(error)
        if usage is None:
            return report_error(environment, error)
        environment.print_error(usage)
        return ExitStatus.USAGE


def _usage_error(error: Any) -> str | None:
    """Return the message of a click error about the command line, or ``None`` for another error."""
    if not hasattr(error, "format_message"):
        return None
    context: Any = getattr(error, "ctx", None)
    parameter: Any = getattr(error, "param", None)
    if context is not None and hasattr(error, "possibilities"):
        return "\n".join(_unknown_option(context, str(error.option_name), error.possibilities or ()))
    origin = origin_of(context, parameter) if context is not None and parameter is not None else None
    message = f"{origin}: {error.message}" if origin is not None else str(error.format_message())
    if context is not None and takes_words(parameter) and "Missing argument" in message:
        # The last argument gets the first word, so it is the one that is missing.
        last = [p for p in context.command.params if p.param_type_name == "argument"][-1]
        message = message.replace(f"'{parameter.metavar}'", f"'{last.metavar}'")
    usage = f"\nTry '{context.command_path} --help'." if context is not None else ""
    return f"wikigr: {message}{usage}"


def _unknown_option(context: typer.Context, option: str, near: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the message for an option that a command does not have."""
    command = context.command
    shown = {spelling for parameter in options_of(command) for spelling in parameter.opts + parameter.secondary_opts}
    root, name = context.find_root().command, option.lstrip("-")
    others = [path for path, other in leaf_commands(root) if name in map(long_name, options_of(other))]
    hint = did_you_mean([spelling for spelling in near if spelling in shown][:1] if not others else [], shown=str)
    yield f"wikigr: No such option: {option}.{f' {hint}' if hint else ''}"
    if others and context.parent is None:
        yield f"{option} is an option of a command and goes after it."
    elif others:
        commands = ["`wikigr {}`".format(" ".join(path)) for path in others]
        yield f"It is an option of {some_of(commands, 2)}."
    for parameter in filter(takes_words, command.params):
        yield f"If it is a part of the {parameter.name}, quote the {parameter.name} or put -- before it."
    yield f"Try '{context.command_path} --help'."
