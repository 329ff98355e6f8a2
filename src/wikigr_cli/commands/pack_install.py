"""``wikigr pack install`` and ``wikigr pack remove``: packs that are used by their name."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wikigr_cli import completion, options
from wikigr_cli.environment import Environment, plain
from wikigr_cli.exit_codes import EXIT_CODES_HELP
from wikigr_cli.render import output as render

if TYPE_CHECKING:
    from wikigr.distribution.install import Installed


def register(app: typer.Typer) -> None:
    """Add the commands of this file to ``wikigr pack``."""
    app.command("install", epilog=EXIT_CODES_HELP)(install)
    app.command("remove", epilog=EXIT_CODES_HELP)(remove)


def install(
    context: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="An archive (FILE.wikigr), its https:// URL, or a pack's folder.")
    ],
    sha256: Annotated[
        str | None, typer.Option("--sha256", metavar="HEX", help="Install the archive with this SHA-256 only.")
    ] = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(
            "--trust",
            metavar="KEY",
            help="Install only what this Ed25519 key has signed: a file or the key's text. May be repeated.",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Install it as this; its own name when left out.")] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Replace a higher version, or a pack that another key has signed; take any version."
        ),
    ] = False,
    allow_private: Annotated[
        bool,
        typer.Option(
            "--allow-private", help="Download from addresses of your own network too, and over http from this machine."
        ),
    ] = False,
    json_output: options.Json = False,
) -> None:
    """Install a pack, so that it is found by its name. It is checked in every part before anything uses it.

    The version that was installed stays in use until the last moment. Downloads go on where they were interrupted, and
    use no proxy.
    """
    environment = context.ensure_object(Environment)

    from wikigr.distribution.install import install as install_pack
    from wikigr.distribution.signature import read_public_key
    from wikigr_cli.render.progress import TerminalProgress

    keys = [read_public_key(key) for key in trust or ()]
    with TerminalProgress(environment) as progress:
        installed = install_pack(
            source, sha256=sha256, trust=keys, name=name, force=force, allow_private=allow_private, progress=progress
        )
    if installed.changed and sha256 is None and not keys:
        _tell_nobody_vouches(environment, installed)
    document = installed_document(installed)
    if json_output:
        render.json_document(environment, document)
    else:
        print_installed(environment, document)


def remove(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The installed pack.", autocompletion=completion.packs)],
    json_output: options.Json = False,
) -> None:
    """Remove an installed pack. A process that uses it keeps it until it ends."""
    environment = context.ensure_object(Environment)

    from wikigr.distribution.install import remove as remove_pack

    remove_pack(name)
    if json_output:
        render.json_document(environment, {"schema_version": render.SCHEMA_VERSION, "removed": name})
    else:
        environment.print(f"{plain(name)} was removed.")


def installed_document(installed: Installed) -> dict[str, Any]:
    """Return what ``wikigr pack install --json`` prints."""
    fields = {key: value for key, value in asdict(installed).items() if key != "folder"}
    return {"schema_version": render.SCHEMA_VERSION, **fields, "path": str(installed.folder)}


def print_installed(environment: Environment, document: dict[str, Any]) -> None:
    """Print what was installed for a person."""
    label = plain(f"{document['name']} {document['version']}")
    if not document["changed"]:
        environment.print(f"{label} is installed already.")
        return
    replaced = f", in the place of {plain(document['before'])}" if document["before"] else ""
    environment.print(f"{label} was installed{replaced}.", style="bold")
    signed = document["signer"] or "nobody"
    for key, value in {"from": document["source"], "signed by": signed, "digest": document["digest"]}.items():
        environment.print(f"  {key:<10} {plain(value)}")


def _tell_nobody_vouches(environment: Environment, installed: Installed) -> None:
    """Say what a careful person would pin the next time."""
    environment.note("Nothing said who this pack must come from. To hold the next installation to the same:")
    if installed.sha256 is not None:
        environment.note(f"  --sha256 {installed.sha256}")
    environment.note(
        f"  --trust KEY, the key with the fingerprint {installed.signer}"
        if installed.signer
        else "  it is not signed, so there is no key to --trust"
    )
