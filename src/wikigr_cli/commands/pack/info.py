"""``wikigr pack info``: describe a pack from its manifest."""

from __future__ import annotations

import typer

from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import print_result
from wikigr_cli.render.pack import manifest_document, print_manifest


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
