"""``wikigr pack info`` and ``wikigr pack list``: describe packs from their manifests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wikigr.errors import PackError, UsageError
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import SCHEMA_VERSION, print_json, print_result
from wikigr_cli.render.pack import manifest_document, print_manifest, print_packs


def info(context: typer.Context, pack: options.PackArgument = None, json_output: options.Json = False) -> None:
    """Describe a pack from its manifest."""
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack, "its folder")

    from wikigr.pack.layout import MANIFEST
    from wikigr.pack.locate import find_pack
    from wikigr.pack.manifest import read_manifest

    layout = find_pack(pack)
    document = manifest_document(read_manifest(layout.part(MANIFEST)), layout)
    print_result(environment, document, print_manifest, as_json=json_output)


def list_packs(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="The folder to list. Default: the installed packs and ./packs."),
    ] = None,
    json_output: options.Json = False,
) -> None:
    """List the packs in a folder. An installed pack shows the name to use, then its own name if it differs."""
    environment = context.ensure_object(Environment)

    from wikigr.pack.layout import MANIFEST, Layout, installed_packs
    from wikigr.pack.manifest import read_manifest

    if folder is not None and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder.")
    folders = [folder] if folder else [installed_packs(), Path("packs")]
    packs = []
    for root in folders:
        for candidate in sorted(root.iterdir()) if root.is_dir() else []:
            layout = Layout(candidate)
            if not candidate.is_dir() or not layout.exists():
                continue
            try:
                document = manifest_document(read_manifest(layout.part(MANIFEST)), layout)
            except PackError as error:
                environment.note(f"Left out: {error.message}")
                continue
            installed_as = candidate.name if root.resolve() == installed_packs().resolve() else None
            packs.append({**document, "installed_as": installed_as})
    if json_output:
        print_json(environment, {"schema_version": SCHEMA_VERSION, "packs": packs})
    else:
        print_packs(environment, packs, folders)
