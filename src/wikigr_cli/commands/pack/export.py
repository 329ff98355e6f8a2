"""``wikigr pack export``: write a pack as one file for distribution."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wikigr.errors import PackError, UsageError
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.render.distribution import export_document, print_export
from wikigr_cli.render.output import print_result


def export(
    context: typer.Context,
    pack: options.PackArgument = None,
    # A Path would lose the trailing slash that marks a folder.
    output: Annotated[
        str | None,
        options.Output(
            "-o",
            "--output",
            metavar="FILE",
            help="The archive, or a folder for it; a trailing slash creates the folder. Default: "
            "./NAME-VERSION.wikigr.",
        ),
    ] = None,
    sign: Annotated[
        Path | None,
        options.Build(
            "--sign",
            metavar="KEY",
            help="Sign with this Ed25519 private key (PEM or OpenSSH). WIKIGR_KEY_PASSPHRASE decrypts it.",
        ),
    ] = None,
    force: Annotated[bool, options.Build("--force", help="Replace an existing file.")] = False,
    json_output: options.Json = False,
) -> None:
    """Write a pack as one file that others can verify and install. The same pack gives the same bytes.

    \b
    Examples:
      wikigr pack export packs/physics -o physics.wikigr
      wikigr pack export packs/physics --sign key -o signed.wikigr
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack, "its folder")
    from wikigr.distribution.archive import archive_path, export_pack
    from wikigr.distribution.signature import read_private_key
    from wikigr.pack.layout import MANIFEST
    from wikigr.pack.locate import find_pack
    from wikigr.pack.manifest import parse_version, read_manifest

    version = read_manifest(find_pack(pack).part(MANIFEST)).version
    if parse_version(version) is None:
        raise PackError(
            f"The pack's version, {version[:80]!r}, is not a semantic version, so nobody could install it.",
            hint="Rebuild the pack with --pack-version, such as 1.2.0.",
        )

    key = read_private_key(sign) if sign is not None else None
    file = archive_path(pack, output)
    if file.exists() and not force:
        raise UsageError(f"{file} already exists.", hint="Choose another file with -o, or replace it with --force.")
    print_result(environment, export_document(export_pack(pack, file, key=key)), print_export, as_json=json_output)
