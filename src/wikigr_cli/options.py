"""Arguments and options that several commands share, with their shell completion and checks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from functools import partial
from inspect import Parameter
from typing import Any

import typer

from wikigr.errors import UsageError
from wikigr_cli.environment import Environment

DEFAULT_PROFILE = "enhanced"
# The pack of every command that has no variable or settings of its own.
PACK_VARIABLE = "WIKIGR_PACK"
# The value of --pack that stands for all installed packs.
ALL = "all"
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
Argument = typer.Argument
# The options that the help of a command leaves out first if it does not fit a screen.
RARE = frozenset((
    "ablate", "allow_private", "attribution", "batch", "bundle_encoder", "context", "description",
    "embedding_model", "engine", "explain_limit", "extract_max_cost", "extract_model", "fail_on", "fields",
    "follow_links", "fresh", "jobs", "judge", "judge_max_cost", "judge_model", "keep_going",
    "license", "limit", "log", "margin", "max_cost", "max_errors", "max_sentences", "pack_version", "ray_address",
    "receipt", "repeat", "seed", "sha256", "show_prompt", "split", "stream", "threads",
    "workers",
))  # fmt: skip
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
    """Return the packs, or all installed ones for ``ALL`` or if none was given; raises ``UsageError`` without any."""
    if packs and ALL not in packs:
        return [require_pack(pack) for pack in packs]
    from wikigr.pack.locate import installed_names

    names = installed_names()
    if not names and not packs:
        raise no_pack("--pack")
    if not names:
        raise UsageError("No pack is installed.", hint="`wikigr pack list` lists all packs.")
    return [*(pack for pack in packs or () if pack != ALL), *names]


def require_pack(pack: str | None) -> str:
    """Return the pack; raises ``UsageError`` if none or an empty one was given."""
    if not pack:
        raise no_pack("--pack")
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


# Arguments that are packs or profiles.
Pack = partial(Argument, callback=_note_ambiguous, autocompletion=complete_packs)
Profile = partial(Argument, autocompletion=complete_profiles)
_PACK_HELP = "The pack: a folder, a .db file or a name from `wikigr pack list`."
_PACK_OPTION = partial(Input, "--pack", "-p", metavar="PACK", autocompletion=complete_packs)
PACK_ARGUMENT = Pack(metavar="PACK", help=_PACK_HELP)
PACK_ARGUMENTS = Pack(metavar="PACK...", help="The packs: folders, .db files or names from `wikigr pack list`.")
TOP_K = partial(Retrieval, "--top-k", "-k", min=1, max=100_000)
# The arguments and options that several commands share, by the names of their parameters. Every option also has the
# variable of its command and name, see ``command_class``.
SHARED: dict[str, Any] = {
    "question": Argument(
        metavar="QUESTION...",
        help="The question; it needs no quotes unless the shell would change it. - reads standard input.",
        show_default=False,
    ),
    "batch": Input(
        metavar="FILE",
        help="Read questions from FILE, or from standard input if it is -: one per line, or JSON Lines with id and "
        "question. Prints JSON Lines in the same order.",
    ),
    "follow_links": Input(help="Also read what links lead to that leave the folder of the source."),
    "allow_private": Input(
        help="Also follow redirects to private addresses, and download over http from this machine."
    ),
    "language": Metadata(
        metavar="CODE", help="The language of the text, such as de. Default: what the source states, or detected."
    ),
    "top_k": TOP_K(help="The maximum number of results."),
    "embedding_model": Retrieval(metavar="ID", help="Load the pack's encoder from this model id or folder instead."),
    "profile": Retrieval(
        metavar="NAME",
        help="How to search: enhanced (usual), fast (reads less), recall (reads more), precise (the reader chooses), "
        "multi-strategy (follows a graph), baseline (to compare with), or a file; see `wikigr profile list`.",
        autocompletion=complete_profiles,
    ),
    "offline": Model(
        help="Call no server and download nothing: nothing leaves this machine. A model file may still answer."
    ),
    "keep_going": Run(help="Skip unreadable records instead of stopping."),
    "jobs": Run(
        min=0,
        help="The number of parser processes, which limit the time and memory of a record; 0 parses without them.",
        show_default="the number of processors",
    ),
    "ray_address": Run(
        metavar="HOST:PORT", help="The Ray cluster of --engine ray. Default: start one on this machine."
    ),
    "workers": Run(
        min=1,
        help="The maximum number of worker processes of --engine ray. Default: one per CPU, or per GPU for encoding.",
    ),
    "sha256": Check(metavar="HEX", help="Require this SHA-256 of the archive."),
    "trust": Check(
        metavar="KEY", help="Require a signature by this Ed25519 public key: a file or the key itself. Repeatable."
    ),
    "json_output": Output("--json", help="Print one JSON document instead of text."),
    # Of the commands of `wikigr eval`.
    "folder": Argument(metavar="RUN", help="The folder of a run."),
    "questions": Input(
        metavar="FILE", help="Test questions with their right answers; by default the pack's eval/questions.jsonl."
    ),
    "split": Input(metavar="NAME", help="Use only the questions of this split."),
    "judged": Retrieval(
        "--profile",
        metavar="NAME",
        help="The profile to judge; by default the last one or, of an ablation, the full one.",
    ),
    "primary": Check(metavar="METRIC", help="The metric that decides; by default the declared one."),
    "floors": Check("--min", metavar="METRIC=VALUE", help="A floor, such as accuracy=0.8. Repeatable."),
    "baseline": Check(metavar="FILE", help="A file of `wikigr eval bless`; the run must not be worse."),
    "fail_on": Check(help="The verdict against the baseline that fails the gate; regression by default."),
    "max_flips": Check(metavar="N", min=0, help="Answers that may get worse. Default: by a test."),
    "junit": Output(metavar="FILE", help="Also write the gate as JUnit XML."),
    "max_errors": Check(metavar="SHARE", min=0.0, max=1.0, help="The share of samples that may fail; 0 by default."),
    "show_all": Output("--all", help="Print all figures, not only those that matter most."),
}


def declared(parameter: Parameter, own: Mapping[str, Any]) -> Any:
    """Return the declaration of a command's parameter: its ``own`` or the shared one. A flag has no ``--no-`` form."""
    name, hint = parameter.name, parameter.annotation
    if name == "pack" and name not in own:
        several = " Repeatable; `all` are the installed ones." if hint == list[str] | None else ""
        callback = _require if hint is str else _note_ambiguous
        return _PACK_OPTION(help=_PACK_HELP + several, callback=callback)
    found = copy(own[name] if name in own else SHARED[name])
    if hint is bool and found.default is ...:
        found.param_decls = (f"--{name.replace('_', '-')}",)
    return found
