"""``wikigr pack info``, ``list`` and ``use``: describe packs, and choose the default pack."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.command import Result, command
from wikigr_cli.environment import Environment
from wikigr_cli.options import PACK_ARGUMENT, Argument, Run
from wikigr_cli.render.output import Document
from wikigr_cli.render.pack import manifest_document, print_manifest


@command(print_manifest, pack=PACK_ARGUMENT)
def info(pack: str) -> Document:
    """Describe a pack from its manifest.

    Examples:
      wikigr pack info packs/physics
      wikigr pack info packs/physics --json
    """
    from wikigr.pack.layout import MANIFEST
    from wikigr.pack.locate import find_pack
    from wikigr.pack.manifest import read_manifest
    from wikigr.pack.models import encoder_source
    from wikigr.reader.base import ready_readers

    layout = find_pack(pack)
    manifest = read_manifest(layout.part(MANIFEST))
    readers = ready_readers(encoder_source(layout, manifest), is_bundled=manifest.bundled_encoder)
    return manifest_document(manifest, layout, readers)


@command(
    folder=Argument(
        help="The folder to list. Default: the installed packs, the project's packs folder and this folder."
    ),
)
def list_packs(environment: Environment, folder: Path | None = None) -> Result:
    """List packs with the names that --pack accepts. A pack that cannot be used is listed with the reason.

    A name refers to a pack in this folder first, then to an installed pack, then to a pack in the folder packs of the
    project. An asterisk marks the default pack. If a pack has another name of its own, that is in parentheses.

    Examples:
      wikigr pack list
      wikigr pack list packs --json
    """
    from wikigr.pack import listing
    from wikigr.pack.layout import installed_packs
    from wikigr.pack.locate import PACKS, project_packs
    from wikigr_cli.default_pack import applying_packs
    from wikigr_cli.render.packs import list_document, print_list

    if folder is not None and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder.")
    folders = [folder] if folder else [installed_packs(), project_packs() or Path(PACKS)]
    document = list_document(listing.list_packs(folder), applying_packs(environment.variables))
    return document, partial(print_list, folders=folders)


@command(
    pack=Argument(
        metavar="PACK",
        help="A name from `wikigr pack list`, or a folder. Without it, the default pack is shown.",
        autocompletion=options.complete_packs,
    ),
    unset=Run(help="Remove the setting."),
)
def use(environment: Environment, pack: str | None = None, unset: bool = False) -> Result:
    """Set or show the default pack of every command.

    It is the line `pack: NAME` of your settings file. The option --pack and its environment variables precede it.

    Examples:
      wikigr pack use physics
      wikigr pack use --json
    """
    from wikigr.pack.layout import MANIFEST
    from wikigr.pack.locate import find_pack
    from wikigr.pack.manifest import read_manifest
    from wikigr_cli.default_pack import applying_packs, portable_name, unset_default, write_default
    from wikigr_cli.render.packs import default_document, print_default
    from wikigr_cli.settings import user_file

    if unset and pack is not None:
        raise UsageError("--unset takes no pack.", hint="wikigr pack use --unset")
    file = user_file()
    changed = False
    if pack is not None:
        layout = find_pack(pack)
        options.note_other_packs(environment, pack)
        read_manifest(layout.part(MANIFEST))
        write_default(portable_name(layout))
        changed = True
    elif unset:
        changed = unset_default()
        environment.note(f"Removed from {file}." if changed else f"{file} sets no default pack.")
    defaults = applying_packs(environment.variables)
    if defaults and (pack is not None or unset) and defaults[0].file is None:
        environment.note(
            f"{defaults[0].origin} precedes {file}." if pack is not None else "Another setting applies now."
        )
    return default_document(defaults, changed=changed), print_default
