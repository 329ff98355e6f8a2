"""``wikigr pack info``: describe a pack from its manifest."""

from __future__ import annotations

import typer

from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import print_result
from wikigr_cli.render.pack import manifest_document, print_manifest


def info(context: typer.Context, pack: options.PackArgument = None, json_output: options.Json = False) -> None:
    """Describe a pack from its manifest.

    \b
    Examples:
      wikigr pack info packs/physics
      wikigr pack info packs/physics --json
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack, "its folder")

    from wikigr.pack.layout import MANIFEST
    from wikigr.pack.locate import find_pack
    from wikigr.pack.manifest import read_manifest
    from wikigr.pack.open import encoder_source
    from wikigr.reader.prepared import ready_readers

    layout = find_pack(pack)
    manifest = read_manifest(layout.part(MANIFEST))
    readers = ready_readers(encoder_source(layout, manifest), is_bundled=manifest.bundled_encoder)
    document = manifest_document(manifest, layout, readers)
    print_result(environment, document, print_manifest, as_json=json_output)
