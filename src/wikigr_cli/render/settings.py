"""What ``wikigr config``, ``wikigr profile`` and ``wikigr model`` print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wikigr.text import harmless
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import Document, counted
from wikigr_cli.render.terminal import cells

if TYPE_CHECKING:
    from wikigr.embeddings.prepared import PreparedModel
    from wikigr.reader.prepared import PreparedReader

# YAML breaks a line after the word that reaches this column.
_YAML_WIDTH = 68
_DEFAULT = "default"
# The column of the origins of settings.
_ORIGIN_COLUMN = 32
# A value that more commands share is printed with their number instead of their names.
_MAX_NAMED = 2


def print_settings(environment: Environment, rows: Sequence[Document], *, origin: bool, show_all: bool) -> None:
    """Print the settings that something sets (``show_all``: all), with their origins if ``origin``."""
    if show_all:
        for row in rows:
            line = f"{row['command']} --{row['option']} = {_setting_value(row)}"
            environment.print(f"{line:<60} {row['origin']}" if origin else line.rstrip(), hang=4)
        return
    shared: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        if row["origin"] != _DEFAULT:
            shared.setdefault((row["option"], _setting_value(row), row["origin"]), []).append(row["command"])
    for (option, value, place), commands in shared.items():
        if len(commands) > _MAX_NAMED:
            line, reach = f"{option} = {value}", f"for {counted(len(commands), 'commands')}"
            _print_setting(environment, line, f"{harmless(place)}, {reach}" if origin else reach)
        else:
            for command in commands:
                _print_setting(environment, f"{command} --{option} = {value}", harmless(place) if origin else "")
    defaults = sum(row["origin"] == _DEFAULT for row in rows)
    verb, what = ("has its", "it") if defaults == 1 else ("have their", "them")
    if defaults:
        environment.print(f"{counted(defaults, 'options')} {verb} default; --all shows {what}.", style="dim")


def _setting_value(row: Document) -> str:
    return "" if row["value"] is None else harmless(str(row["value"]))


def _print_setting(environment: Environment, line: str, note: str) -> None:
    """Print a setting with ``note`` beside it, or below it in a terminal that is too narrow for both."""
    beside = f"{line}{' ' * max(_ORIGIN_COLUMN - cells(line), 2)}{note}".rstrip()
    width = environment.width(environment.stdout)
    if width is None or cells(beside) <= width:
        environment.print(beside)
        return
    environment.print(line, hang=4)
    environment.print(f"    {note}", hang=4)


def print_profiles(environment: Environment, document: Document) -> None:
    """Print the profiles, one per line, with their descriptions."""
    for profile in document["profiles"]:
        environment.print(f"{profile['name']:<14} ", style="bold", end="")
        environment.print(profile["description"], hang=15)


def print_profile(environment: Environment, document: Document) -> None:
    """Print a profile as YAML that can be saved to a file; a profile file does not hold its own name."""
    import yaml

    values = {key: value for key, value in document["profile"].items() if key != "name"}
    environment.write(yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=_YAML_WIDTH))


def print_differences(environment: Environment, document: Document, *, first: str, second: str) -> None:
    """Print the keys in which the profiles ``first`` and ``second`` differ, one per line, with both values."""
    for row in document["differences"]:
        environment.print(f"{row['key']:<32} {_yaml_value(row[first])} → {_yaml_value(row[second])}", hang=33)
    if not document["differences"]:
        environment.note("The profiles do not differ.")


def _yaml_value(value: object) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def model_document(prepared: PreparedModel, reader: PreparedReader | None) -> dict[str, Any]:
    """Return what ``wikigr model prepare --json`` prints."""
    return {
        "folder": str(prepared.folder),
        **asdict(prepared.identity),
        "reader": reader.adapter_sha256 if reader is not None else None,
    }


def print_model(environment: Environment, document: Document) -> None:
    """Print a prepared model with its dimension and its folder."""
    reader = "with a reader" if document["reader"] else "without a reader"
    line = f"{document['model_id']}: {document['dimension']} dimensions, {reader}, in {document['folder']}"
    environment.print(line, hang=2)
