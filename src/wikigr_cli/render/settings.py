"""What ``wikigr config``, ``wikigr profile`` and ``wikigr model`` print."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wikigr_cli.environment import Environment
from wikigr_cli.render.output import Document, counted
from wikigr_cli.render.terminal import cells

if TYPE_CHECKING:
    from wikigr.embeddings.prepared import PreparedModel
    from wikigr.reader.prepared import PreparedReader

# A value that more commands share is printed with their number instead of their names.
_MAX_NAMED = 2


def print_settings(environment: Environment, document: Document, *, origin: bool) -> None:
    """Print the settings that something sets, with their origins if ``origin``."""
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
            _print_setting(environment, f"{name} = {value}".rstrip(), ", ".join(notes))
    environment.print("All other options have their default; --json shows them too.", style="dim")


def _print_setting(environment: Environment, line: str, note: str) -> None:
    """Print a setting and a ``note`` beside it, or below it in a terminal that is too narrow for both."""
    beside = f"{line}{' ' * max(32 - cells(line), 2)}{note}".rstrip()
    width = environment.width(environment.stdout)
    if width is None or cells(beside) <= width:
        environment.print(beside)
    else:
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
    # A width of 68: YAML breaks a line after the word that reaches it.
    environment.write(yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=68))


def model_document(
    prepared: PreparedModel, reader: PreparedReader | None, base: PreparedReader | None = None
) -> dict[str, Any]:
    """Return what ``wikigr model prepare --json`` prints; the readers are named by their adapters."""
    fingerprint, fingerprint_of_base = (r.adapter_sha256 if r is not None else None for r in (reader, base))
    return {
        "folder": str(prepared.folder),
        **asdict(prepared.identity),
        "reader": fingerprint,
        "base_reader": fingerprint_of_base,
    }


def print_model(environment: Environment, document: Document) -> None:
    """Print a prepared model with its dimension and its folder."""
    reader = "with a reader" if document["reader"] else "without a reader"
    line = f"{document['model_id']}: {document['dimension']} dimensions, {reader}, in {document['folder']}"
    environment.print(line, hang=2)
    if document["base_reader"]:
        environment.print("The reader base is ready: `reader: base` in a profile chooses it.", hang=2)
