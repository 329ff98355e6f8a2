"""Arguments and options that several commands share, with their shell completion and checks."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from wikigr.errors import UsageError

DEFAULT_PROFILE = "enhanced"
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def complete_packs(incomplete: str) -> list[str]:
    """Return the installed packs whose names begin with ``incomplete``, for completion after Tab.

    An unreadable folder gives no names: a shell would print an error into the line that the user types. Without names
    the shell completes files, which packs and profiles may be.
    """
    from wikigr.pack.locate import installed_names

    try:
        return [name for name in installed_names() if name.startswith(incomplete)]
    except OSError:
        return []


def complete_profiles(incomplete: str) -> list[str]:
    """Return the built-in and user profiles whose names begin with ``incomplete``; see ``complete_packs``."""
    from wikigr.profiles.names import profile_names

    try:
        return [name for name in profile_names() if name.startswith(incomplete)]
    except OSError:
        return []


def pack_option(command: str) -> Any:
    """Return ``--pack`` for ``command``, whose own environment variable precedes WIKIGR_PACK."""
    return typer.Option(
        "--pack",
        "-p",
        metavar="PACK",
        envvar=[f"WIKIGR_{command.upper()}_PACK", "WIKIGR_PACK"],
        show_envvar=False,
        help="The pack: a folder, a .db file or the name of an installed pack. Defaults to WIKIGR_PACK.",
        autocompletion=complete_packs,
    )


def packs_option(command: str) -> Any:
    """Return ``--pack`` for ``command`` as an option that can be repeated; see ``pack_option``."""
    return typer.Option(
        "--pack",
        "-p",
        metavar="PACK",
        envvar=[f"WIKIGR_{command.upper()}_PACK", "WIKIGR_PACK"],
        show_envvar=False,
        callback=_split_variable,
        help="The pack: a folder, a .db file or the name of an installed pack. Repeatable. Defaults to WIKIGR_PACK, "
        f"where {os.pathsep!r} separates several packs.",
        autocompletion=complete_packs,
    )


def _split_variable(context: typer.Context, parameter: typer.CallbackParam, values: list[str]) -> list[str]:
    """Split the value of a variable as PATH is split. Click splits it at spaces, which folders may contain."""
    source = context.get_parameter_source(parameter.name or "")
    raw = parameter.resolve_envvar_value(context)
    if source is None or source.name != "ENVIRONMENT" or raw is None:
        return values
    return [part for part in raw.split(os.pathsep) if part]


def require_packs(packs: list[str] | None) -> list[str]:
    """Return the packs; raises ``UsageError`` if none or an empty one was given."""
    return [require_pack(pack) for pack in packs or [""]]


def require_pack(pack: str | None, given_with: str = "--pack") -> str:
    """Return the pack; raises ``UsageError`` if none or an empty one was given."""
    if not pack:
        raise UsageError("No pack was given.", hint=f"Give {given_with}, or set WIKIGR_PACK.")
    return pack


def check_version(version: str | None) -> str | None:
    """Return the value of ``--pack-version``; raises ``UsageError`` unless it is a semantic version."""
    from wikigr.pack.manifest import parse_version

    if version is not None and parse_version(version) is None:
        raise UsageError(
            f"--pack-version {version[:80]!r} is not a semantic version.",
            hint="Give three numbers, such as 1.2.0, or a pre-release, such as 1.2.0-rc.1; see semver.org.",
        )
    return version


PackArgument = Annotated[
    str | None,
    typer.Argument(
        help="The pack: a folder, a .db file or the name of an installed pack. Defaults to WIKIGR_PACK.",
        envvar="WIKIGR_PACK",
        autocompletion=complete_packs,
    ),
]
PackArguments = Annotated[
    list[str],
    typer.Argument(
        metavar="PACK...",
        help="The packs: folders, .db files or names of installed packs.",
        autocompletion=complete_packs,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Batch = Annotated[
    str | None,
    typer.Option(
        "--batch",
        metavar="FILE",
        help="Read questions from FILE, or from standard input if it is -: one per line, or JSON Lines with id and "
        "question. Prints JSON Lines in the same order.",
    ),
]
EncoderModel = Annotated[
    str | None,
    typer.Option(
        "--embedding-model", metavar="ID", help="Load the pack's encoder from this model id or folder instead."
    ),
]
ProfileName = Annotated[
    str,
    typer.Option(
        "--profile",
        metavar="NAME",
        help="The profile: baseline, enhanced, fast, precise, recall, multi-strategy, a custom profile or a YAML file.",
        autocompletion=complete_profiles,
    ),
]
Offline = Annotated[
    bool, typer.Option("--offline", help="Call no model and download nothing. Nothing leaves this machine.")
]
KeepGoing = Annotated[bool, typer.Option("--keep-going", help="Skip unreadable records instead of stopping.")]
Trust = Annotated[
    list[str] | None,
    typer.Option(
        "--trust",
        metavar="KEY",
        help="Require a signature by this Ed25519 public key: a file or the key itself. Repeatable.",
    ),
]
Sha256 = Annotated[str | None, typer.Option("--sha256", metavar="HEX", help="Require this SHA-256 of the archive.")]
