"""``wikigr pack export`` and ``wikigr pack verify``: a pack as one file, and the proof of one from somebody else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wikigr.errors import PackError, UsageError
from wikigr_cli import completion, options
from wikigr_cli.environment import Environment, plain
from wikigr_cli.exit_codes import EXIT_CODES_HELP, ExitStatus
from wikigr_cli.render import output as render

if TYPE_CHECKING:
    from wikigr.distribution.archive import ExportedArchive
    from wikigr.distribution.verify import Verification


def register(app: typer.Typer) -> None:
    """Add the commands of this file to ``wikigr pack``."""
    app.command("export", epilog=EXIT_CODES_HELP)(export)
    app.command("verify", epilog=EXIT_CODES_HELP)(verify)


def export(
    context: typer.Context,
    pack: Annotated[
        str | None,
        typer.Argument(
            help="The pack; WIKIGR_PACK when left out.", envvar="WIKIGR_PACK", autocompletion=completion.packs
        ),
    ] = None,
    # A path would lose the slash that makes it a folder.
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The archive, or a folder for it (with a slash at its end it is made); ./NAME-VERSION.wikigr when "
            "left out.",
        ),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(
            "--sign",
            metavar="KEY",
            help="Sign with this Ed25519 key (PEM or OpenSSH; WIKIGR_KEY_PASSPHRASE opens an encrypted one).",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    json_output: options.Json = False,
) -> None:
    """Write a pack as one file that others can verify and install. The same pack gives the same bytes."""
    environment = context.ensure_object(Environment)
    if pack is None:
        raise UsageError("No pack was named.", hint="Give its folder, or set WIKIGR_PACK.")

    from wikigr.distribution.archive import archive_path, export_pack
    from wikigr.distribution.signature import read_private_key
    from wikigr.pack.layout import MANIFEST
    from wikigr.pack.locate import find_pack
    from wikigr.pack.manifest import parse_version, read_manifest

    version = read_manifest(find_pack(pack).part(MANIFEST)).version
    if parse_version(version) is None:
        raise PackError(
            f"The pack's version, {version[:80]!r}, is not a semantic version, so it could not be installed.",
            hint="Build the pack again with --pack-version, such as 1.2.0.",
        )

    key = read_private_key(sign) if sign is not None else None
    file = archive_path(pack, output)
    if file.exists() and not force:
        raise UsageError(f"{file} exists already.", hint="Choose another file with -o, or replace it with --force.")
    document = _export_document(export_pack(pack, file, key=key))
    if json_output:
        render.json_document(environment, document)
        return
    environment.print(f"{document['file']}: {plain(document['name'])} {plain(document['version'])}")
    for label, text in (
        ("size", f"{document['size']:,} bytes, {document['files']} files"),
        ("sha256", document["sha256"]),
        ("digest", document["digest"]),
        ("signer", document["signer"] or "nobody"),
    ):
        environment.print(f"  {label:<7} {text}")


def verify(
    context: typer.Context,
    pack: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|PACK",
            help="An archive, or a pack; WIKIGR_PACK when left out.",
            envvar="WIKIGR_PACK",
            autocompletion=completion.packs,
        ),
    ] = None,
    sha256: Annotated[
        str | None, typer.Option("--sha256", metavar="HEX", help="The SHA-256 that the archive must have.")
    ] = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(
            "--trust",
            metavar="KEY",
            help="The pack must be signed by this public key: a file, or its text. May be repeated.",
        ),
    ] = None,
    json_output: options.Json = False,
) -> None:
    """Check everything about a pack from somebody else before it is used: archive, signature, database, digest.

    The database is first opened in a process with limits. Exit 4 if a check fails.
    """
    environment = context.ensure_object(Environment)
    if pack is None:
        raise UsageError("No archive and no pack was named.", hint="Give its file or folder, or set WIKIGR_PACK.")

    from wikigr.distribution.signature import read_public_key
    from wikigr.distribution.verify import verify as verify_pack

    found = verify_pack(pack, sha256=sha256, trust=[read_public_key(key) for key in trust or ()])
    if json_output:
        render.json_document(environment, _verify_document(found))
    else:
        render.checks_list(environment, found.checks)
    if not all(check.passed or not check.required for check in found.checks):
        raise typer.Exit(ExitStatus.PACK)


def _export_document(exported: ExportedArchive) -> dict[str, Any]:
    """Return what ``wikigr pack export --json`` prints."""
    return {
        "schema_version": render.SCHEMA_VERSION,
        "file": str(exported.file),
        "size": exported.size,
        "sha256": exported.sha256,
        "name": exported.manifest.name,
        "version": exported.manifest.version,
        "digest": exported.manifest.digest,
        "files": len(exported.manifest.files),
        "signer": exported.signer.fingerprint if exported.signer else None,
    }


def _verify_document(found: Verification) -> dict[str, Any]:
    """Return what ``wikigr pack verify --json`` prints: the checks, and what they are of."""
    return {
        **render.checks_document(found.checks),
        "name": found.manifest.name if found.manifest else None,
        "version": found.manifest.version if found.manifest else None,
        "digest": found.manifest.digest if found.manifest else None,
        "size": found.size,
        "sha256": found.sha256,
        "signer": found.signer.fingerprint if found.signer else None,
    }
