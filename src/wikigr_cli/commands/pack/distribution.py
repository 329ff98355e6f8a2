"""``wikigr pack export``, ``verify`` and ``install``: hand packs to others, and take theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wikigr.errors import PackError, UsageError
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.render.output import all_passed, checks_document, print_checks, print_result
from wikigr_cli.render.packs import (
    export_document,
    installed_document,
    print_export,
    print_installed,
    print_pins,
    verify_document,
)


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
        options.Metadata(
            "--sign",
            metavar="KEY",
            help="Sign with this Ed25519 private key (PEM or OpenSSH). WIKIGR_KEY_PASSPHRASE decrypts it.",
        ),
    ] = None,
    force: Annotated[bool, options.Run("--force", help="Replace an existing file.")] = False,
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


def validate(context: typer.Context, pack: options.PackArgument = None, json_output: options.Json = False) -> None:
    """Check that the parts of a pack agree.

    These are the counts, offsets, vectors, index, encoder, anchors and version.

    Exits with 4 if a check fails.

    \b
    Examples:
      wikigr pack validate packs/physics
      wikigr pack validate --pack packs/notes --json
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack, "its folder")

    from wikigr.pack.validate import validate_pack

    checks = validate_pack(pack)
    print_result(environment, checks_document(checks), print_checks, as_json=json_output)
    if not all_passed(checks):
        raise typer.Exit(ExitStatus.PACK)


def verify(
    context: typer.Context,
    pack: Annotated[str | None, options.Pack(metavar="FILE|PACK", help="An archive or a pack.")] = None,
    sha256: options.Sha256 = None,
    trust: options.Trust = None,
    json_output: options.Json = False,
) -> None:
    """Check an untrusted pack before it is used.

    It checks the archive, the signature, the database and the digest.

    The database is first opened in a process with limited resources. Exits with 4 if a check fails.

    \b
    Examples:
      wikigr pack verify physics.wikigr
      wikigr pack verify signed.wikigr --trust key.pub
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack, "an archive or a folder")

    from wikigr.distribution.signature import read_public_key
    from wikigr.distribution.verify import verify as verify_pack

    verified = verify_pack(pack, sha256=sha256, trust=[read_public_key(key) for key in trust or ()])
    print_result(environment, verify_document(verified), print_checks, as_json=json_output)
    if not all_passed(verified.checks):
        raise typer.Exit(ExitStatus.PACK)


def install(
    context: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="An archive (FILE.wikigr), its https:// URL, or a pack's folder.")
    ],
    sha256: options.Sha256 = None,
    trust: options.Trust = None,
    name: Annotated[
        str | None,
        options.Metadata("--name", metavar="NAME", help="Install the pack under this name. Default: its own name."),
    ] = None,
    force: Annotated[
        bool,
        options.Run("--force", help="Replace a newer version or a pack signed by another key, and accept any version."),
    ] = False,
    allow_private: options.AllowPrivate = False,
    json_output: options.Json = False,
) -> None:
    """Install a pack under a name. Every part is verified before anything uses it.

    The installed version stays in use until the new one is complete. Downloads use no proxy.

    \b
    Examples:
      wikigr pack install physics.wikigr
      wikigr pack install signed.wikigr --trust key.pub --name signed
    """
    environment = context.ensure_object(Environment)

    from wikigr.distribution.install import install as install_pack
    from wikigr.distribution.signature import read_public_key
    from wikigr_cli.render.progress import TerminalProgress

    keys = [read_public_key(key) for key in trust or ()]
    with TerminalProgress(environment) as progress:
        installed = install_pack(
            source, sha256=sha256, trust=keys, name=name, force=force, allow_private=allow_private, progress=progress
        )
    if installed.changed and sha256 is None and not keys:
        print_pins(environment, installed)
    print_result(environment, installed_document(installed), print_installed, as_json=json_output)
