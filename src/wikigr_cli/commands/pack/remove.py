"""``wikigr pack remove``: remove an installed pack, or a pack from its folder."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from wikigr.errors import UsageError
from wikigr.text import some_of
from wikigr_cli import options
from wikigr_cli.command import Result, command
from wikigr_cli.environment import Environment
from wikigr_cli.options import Argument, Run
from wikigr_cli.render.output import Document, counted, one_line

if TYPE_CHECKING:
    from wikigr_cli.default_pack import DefaultPack


# Of a line with paths: the system allows no longer ones than 4,096 characters.
_MAX_LINE = 50_000


def _kept_note(folder: Path | str, kept: Sequence[str], verb: str) -> str:
    return one_line(f"Not part of the pack, so {verb} in {folder}: {some_of(list(kept), 8)}", _MAX_LINE)


def _print_removed(environment: Environment, document: Document) -> None:
    environment.print(one_line(f"{document['removed']} was removed.", _MAX_LINE))
    if document["kept"]:
        environment.note(_kept_note(document["path"], document["kept"], "still"))


@command(
    pack=Argument(
        metavar="PACK", help="A name from `wikigr pack list`, or a folder.", autocompletion=options.complete_packs
    ),
    yes=Run("--yes", "-y", help="Do not ask. Needed without a terminal."),
)
def remove(environment: Environment, pack: str, yes: bool = False) -> Result:
    """Remove a pack. Files in its folder that are not part of the pack stay.

    A process that is using an installed pack can continue to use it. If the pack is the default pack, that setting is
    removed too.

    Examples:
      wikigr pack remove physics --yes
      wikigr pack remove signed --yes --json
    """
    options.note_other_packs(environment, pack)
    name = _installed_link(pack)
    folder = _folder(pack) if name is None else None

    from wikigr.pack.layout import installed_name, installed_packs
    from wikigr_cli.default_pack import default_packs

    if folder is not None:
        name = installed_name(folder)
    place = installed_packs() / name if name is not None else folder or Path()
    defaults = [default for default in default_packs(environment.variables) if default.folder() == realpath(place)]
    kept: tuple[str, ...] = ()
    if name is not None:
        from wikigr.distribution.install import remove as remove_installed

        _confirm(environment, [f"The installed pack {name} in {place}."], defaults, yes=yes)
        remove_installed(name)
    else:
        from rich.filesize import decimal

        from wikigr.pack.layout import Layout
        from wikigr.pack.remove import plan_removal, remove_pack

        plan = plan_removal(Layout(place))
        lines = [f"The pack {pack} in {place}: {counted(len(plan.files), 'files')}, {decimal(plan.size)}."]
        _confirm(environment, lines + [_kept_note(place, plan.kept, "kept")] * bool(plan.kept), defaults, yes=yes)
        kept = remove_pack(plan.layout).kept
    unset = _unset(environment, defaults)
    return {"removed": name or pack, "path": str(place), "kept": list(kept), "unset": unset}, _print_removed


def _installed_link(pack: str) -> str | None:
    """Return the name of the installed pack that ``pack`` refers to, even if its folder is damaged or missing.

    Raises ``PackError`` for a pack that was put among the installed packs by hand.
    """
    from wikigr.distribution.install import PackStore, require_installed
    from wikigr.pack.layout import installed_packs
    from wikigr.pack.locate import Place, packs_named

    named = packs_named(pack)
    if named and named[0].place is Place.INSTALLED:
        require_installed(pack)
        return pack
    return pack if not named and PackStore(installed_packs()).is_installed(pack) else None


def _folder(pack: str) -> Path:
    """Return the folder of a pack that may be half removed; raises ``UsageError`` for a link put there by hand."""
    from wikigr.pack.layout import Layout, installed_name, readable_path
    from wikigr.pack.locate import find_pack, packs_named

    named = packs_named(pack)
    path = readable_path(named[0].path if named else Path(pack))
    if path.is_symlink() and installed_name(path) is None:
        raise UsageError(
            f"{path} is a link to {realpath(path)}, so it is not removed.",
            hint="Remove the link yourself, or give the path of the folder.",
        )
    return path if Layout(path).half_removed() else readable_path(find_pack(pack).root)


def _confirm(environment: Environment, lines: Sequence[str], defaults: Sequence[DefaultPack], *, yes: bool) -> None:
    """Ask on a terminal; ends the command unless the user agrees, and raises ``UsageError`` without a terminal."""
    if yes:
        return
    if not (environment.stdin.isatty() and environment.stderr.isatty()):
        raise UsageError("Without a terminal, a pack is only removed with --yes.", hint="Nothing was removed.")
    for line in [*lines, *(f"It is the default pack ({default.origin})." for default in defaults)]:
        environment.print_error(one_line(line, _MAX_LINE))
    environment.stderr.write("Remove it? [y/N] ")
    environment.stderr.flush()
    if environment.stdin.readline().strip().casefold() not in ("y", "yes"):
        environment.print_error("Nothing was removed.")
        raise typer.Exit


def _unset(environment: Environment, defaults: Sequence[DefaultPack]) -> list[str]:
    """Remove the settings that made the removed pack the default; return the files from which they were removed.

    A setting stays if it refers to another pack of the same name now.
    """
    from wikigr_cli.default_pack import default_packs, unset_default

    changed = []
    files = [default.file for default in default_packs(environment.variables)]
    for default in defaults:
        if default.folder() is not None:
            continue
        if default.file is None:
            environment.note(f"{options.PACK_VARIABLE} still names it.")
            continue
        if files.count(default.file) > 1:
            environment.note(f"{default.file} still names it among the default packs.")
            continue
        try:
            unset_default()
        except UsageError as error:
            environment.note(f"It was the default pack. {error.message} {error.hint or ''}".rstrip())
            continue
        environment.note(f"It was the default pack; {default.file} does not name it any more.")
        changed.append(str(default.file))
    return changed
