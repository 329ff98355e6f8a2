"""Options that several commands share, declared once so that they read the same everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

from wikigr.errors import UsageError
from wikigr_cli import completion


def pack_option(command: str) -> typer.models.OptionInfo:
    """Return ``--pack`` for ``command``: its own environment variable comes before the common one."""
    option: typer.models.OptionInfo = typer.Option(
        "--pack",
        "-p",
        metavar="PACK",
        envvar=[f"WIKIGR_{command.upper()}_PACK", "WIKIGR_PACK"],
        show_envvar=False,
        help="The pack: its folder, its .db file or an installed pack's name. WIKIGR_PACK is the default.",
        autocompletion=completion.packs,
    )
    return option


def named(pack: str | None) -> str:
    """Return the pack that was named; raises ``UsageError`` when none was."""
    if pack is None:
        raise UsageError("No pack was named.", hint="Give --pack, or set WIKIGR_PACK.")
    return pack


def semantic(version: str | None) -> str | None:
    """Return the version given with ``--pack-version``; raises ``UsageError`` for one that is no semantic version."""
    from wikigr.pack.manifest import parse_version

    if version is not None and parse_version(version) is None:
        raise UsageError(
            f"--pack-version {version[:80]!r} is no semantic version.",
            hint="It has three numbers, such as 1.2.0, and perhaps more, such as 1.2.0-rc.1; see semver.org.",
        )
    return version


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Batch = Annotated[
    str | None,
    typer.Option(
        "--batch",
        metavar="FILE",
        help="Read questions from FILE or - (one a line, or JSON Lines with id and question) and print JSON Lines "
        "in the same order.",
    ),
]
EncoderModel = Annotated[
    str | None,
    typer.Option("--embedding-model", metavar="ID", help="Use this encoder instead of the pack's (must be the same)."),
]
ProfileName = Annotated[
    str,
    typer.Option(
        "--profile",
        metavar="NAME",
        help="A profile: baseline, enhanced, fast, precise, recall, multi-strategy, one of your own, or a YAML file.",
        autocompletion=completion.profiles,
    ),
]
DEFAULT_PROFILE = "enhanced"
Offline = Annotated[bool, typer.Option("--offline", help="Ask no model: nothing leaves this machine.")]
