"""Arguments and options that several commands share, with their shell completion and checks."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Literal

import typer

from wikigr.errors import UsageError
from wikigr_cli.environment import Environment

DEFAULT_PROFILE = "enhanced"
# The pack of every command that has no variable or settings of its own.
PACK_VARIABLE = "WIKIGR_PACK"
# The headings of options in help texts, in this order, and ``typer.Option`` under each of them.
PANELS = (
    "Input",
    "Pack",
    "Retrieval",
    "Model and cost",
    "Running",
    "Checks",
    "Server",
    "Output",
    "Options of every command",
)
Input, Metadata, Retrieval, Model, Run, Check, Server, Output, Global = (
    partial(typer.Option, rich_help_panel=panel) for panel in PANELS
)
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def complete_packs(incomplete: str) -> list[str]:
    """Return the names of packs that begin with ``incomplete``, for completion after Tab.

    An unreadable folder gives no names: a shell would print an error into the line that the user types. Without names
    the shell completes files, which packs and profiles may be.
    """
    from wikigr.pack.locate import named_packs

    with suppress(OSError):
        return sorted({pack.name for pack in named_packs() if pack.name.startswith(incomplete)})
    return []


def complete_profiles(incomplete: str) -> list[str]:
    """Return the built-in and user profiles whose names begin with ``incomplete``; see ``complete_packs``."""
    from wikigr.pipeline.profile import profile_names

    with suppress(OSError):
        return [name for name in profile_names() if name.startswith(incomplete)]
    return []


def note_other_packs(environment: Environment, pack: str) -> None:
    """Print a note if several packs have the name ``pack``."""
    from wikigr.pack.locate import packs_named

    found = [named.path for named in packs_named(pack)]
    paths = [str(path) if len(path.parts) > 1 else f"./{path}" for path in found]
    if len(paths) > 1:
        environment.note(f"{pack} is {paths[0]}. Another pack has the same name: {' and '.join(paths[1:])}")


def _note_ambiguous(context: typer.Context, value: Any) -> Any:
    """Return the pack or packs, and say which one an ambiguous name means."""
    if not context.resilient_parsing:
        for pack in dict.fromkeys([value] if isinstance(value, str) else value or ()):
            note_other_packs(context.ensure_object(Environment), pack)
    return value


def _require(context: typer.Context, value: str | None) -> Any:
    """Return the pack as ``_note_ambiguous`` does; raises ``UsageError`` if none or an empty one was given."""
    return _note_ambiguous(context, value if context.resilient_parsing else require_pack(value))


def packs_of_variable(value: str | None) -> list[str] | None:
    """Return the packs that a variable names: it is split as PATH is, unless the whole value is a pack."""
    if value is None or os.pathsep not in value:
        return [value] if value else None
    from wikigr.pack.locate import packs_named

    is_one = os.path.lexists(value) or packs_named(value)
    return [value] if is_one else [part for part in value.split(os.pathsep) if part]


def require_packs(packs: list[str] | None) -> list[str]:
    """Return the packs; raises ``UsageError`` if none or an empty one was given."""
    return [require_pack(pack) for pack in packs or [""]]


def require_pack(pack: str | None, given_with: str = "--pack") -> str:
    """Return the pack; raises ``UsageError`` if none or an empty one was given."""
    if not pack:
        raise no_pack(given_with)
    return pack


def no_pack(given_with: str, *, default_applies: bool = True) -> UsageError:
    """Return the error for a missing pack; ``default_applies`` unless the command takes no default."""
    default = ", set WIKIGR_PACK, or choose a default pack: wikigr pack use NAME" if default_applies else ""
    return UsageError("No pack was given.", hint=f"Give {given_with}{default}.")


def check_version(version: str | None) -> str | None:
    """Return the value of ``--pack-version``; raises ``UsageError`` unless it is a semantic version."""
    from wikigr.pack.manifest import parse_version

    if version is not None and parse_version(version) is None:
        raise UsageError(
            f"--pack-version {version[:80]!r} is not a semantic version.",
            hint="Give three numbers, such as 1.2.0, or a pre-release, such as 1.2.0-rc.1; see semver.org.",
        )
    return version


Engine = Literal["local", "ray"]

RayAddress = Annotated[
    str | None,
    Run(
        "--ray-address",
        metavar="HOST:PORT",
        help="The Ray cluster of --engine ray. Default: start one on this machine.",
    ),
]
Workers = Annotated[
    int | None,
    Run(
        "--workers",
        min=1,
        help="The maximum number of worker processes of --engine ray. Default: one per CPU, or per GPU for encoding.",
    ),
]


def require_ray(engine: Engine, **given: object) -> None:
    """Raise ``UsageError`` for an option that only --engine ray uses."""
    for name, value in given.items():
        if engine != "ray" and value is not None:
            raise UsageError(f"--{name} needs --engine ray.", hint="Add --engine ray.")


# Arguments that are packs or profiles.
Pack = partial(typer.Argument, callback=_note_ambiguous, autocompletion=complete_packs)
Profile = partial(typer.Argument, autocompletion=complete_profiles)
# Every option also has the variable of its command and name, see ``command_class``.
_PACK_HELP = "The pack: a folder, a .db file or a name from `wikigr pack list`."
_pack = partial(Input, "--pack", "-p", metavar="PACK", autocompletion=complete_packs)
PackName = Annotated[str | None, _pack(help=_PACK_HELP, callback=_note_ambiguous)]
RequiredPack = Annotated[str, _pack(help=_PACK_HELP, callback=_require)]
PackNames = Annotated[list[str] | None, _pack(help=f"{_PACK_HELP} Repeatable.", callback=_note_ambiguous)]
_top_k = partial(Retrieval, "--top-k", "-k", min=1, max=100_000)
TopK = Annotated[int, _top_k(help="The maximum number of results.")]
TopKOrAll = Annotated[int | None, _top_k(help="The maximum number of results. Default: all.")]
_QUESTION = "The question; it needs no quotes unless the shell would change it. - reads standard input."
RequiredQuestion = Annotated[str, typer.Argument(metavar="QUESTION...", help=_QUESTION)]
Question = Annotated[str | None, typer.Argument(metavar="QUESTION...", help=_QUESTION, show_default=False)]
PackArgument = Annotated[str | None, Pack(metavar="PACK", help=_PACK_HELP)]
PackArguments = Annotated[
    list[str], Pack(metavar="PACK...", help="The packs: folders, .db files or names from `wikigr pack list`.")
]
Json = Annotated[bool, Output("--json", help="Print one JSON document instead of text.")]
Batch = Annotated[
    str | None,
    Input(
        "--batch",
        metavar="FILE",
        help="Read questions from FILE, or from standard input if it is -: one per line, or JSON Lines with id and "
        "question. Prints JSON Lines in the same order.",
    ),
]
EncoderModel = Annotated[
    str | None,
    Retrieval("--embedding-model", metavar="ID", help="Load the pack's encoder from this model id or folder instead."),
]
ProfileName = Annotated[
    str,
    Retrieval(
        "--profile",
        metavar="NAME",
        help="The profile: baseline, enhanced, fast, precise, recall, multi-strategy, a custom profile or a YAML file.",
        autocompletion=complete_profiles,
    ),
]
Offline = Annotated[
    bool,
    Model(
        "--offline",
        help="Call no server and download nothing: nothing leaves this machine. A model file may still answer.",
    ),
]
Exact = Annotated[
    bool, Retrieval("--exact", help="Compare the question with every vector, even if the pack has quantized vectors.")
]
KeepGoing = Annotated[bool, Run("--keep-going", help="Skip unreadable records instead of stopping.")]
FollowLinks = Annotated[
    bool, Input("--follow-links", help="Also read what links lead to that leave the folder of the source.")
]
Resume = Annotated[bool, Run("--resume/--no-resume", help="Resume an interrupted build, or start over.")]
Jobs = Annotated[
    int,
    Run(
        min=0,
        help="The number of parser processes, which limit the time and memory of a record; 0 parses without them.",
        show_default="the number of processors",
    ),
]
Language = Annotated[
    str | None,
    Metadata(
        metavar="CODE", help="The language of the text, such as de. Default: what the source states, or detected."
    ),
]
AllowPrivate = Annotated[
    bool,
    Input(
        "--allow-private", help="Also follow redirects to private addresses, and download over http from this machine."
    ),
]
Trust = Annotated[
    list[str] | None,
    Check(
        "--trust",
        metavar="KEY",
        help="Require a signature by this Ed25519 public key: a file or the key itself. Repeatable.",
    ),
]
Sha256 = Annotated[str | None, Check("--sha256", metavar="HEX", help="Require this SHA-256 of the archive.")]
