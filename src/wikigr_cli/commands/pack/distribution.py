"""``wikigr pack export``, ``verify`` and ``install``: hand packs to others, and take theirs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from wikigr.checks import all_passed
from wikigr.errors import PackError, UsageError
from wikigr_cli.command import command
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.options import PACK_ARGUMENT, Argument, Metadata, Output, Pack, Run
from wikigr_cli.render.output import Document, checks_document, print_checks

if TYPE_CHECKING:
    from wikigr.distribution.install import Installed


def _print_export(environment: Environment, document: Document) -> None:
    environment.print(f"{document['file']}: {document['name']} {document['version']}")
    for label, text in (
        ("size", f"{document['size']:,} bytes, {document['files']} files"),
        ("sha256", document["sha256"]),
        ("digest", document["digest"]),
        ("signer", document["signer"] or "nobody"),
    ):
        environment.print(f"  {label:<7} {text}")


def installed_document(installed: Installed) -> dict[str, Any]:
    """Return what ``wikigr pack install --json`` prints."""
    fields = {key: value for key, value in asdict(installed).items() if key != "folder"}
    return {**fields, "path": str(installed.folder)}


def print_installed(environment: Environment, document: Document) -> None:
    """Print an installed pack with its source, signer and digest."""
    label = f"{document['name']} {document['version']}"
    if not document["changed"]:
        environment.print(f"{label} is already installed.")
        return
    replaced = f" and replaced {document['before']}" if document["before"] else ""
    environment.print(f"{label} was installed{replaced}.", style="bold")
    signer = document["signer"] or "nobody"
    for key, value in {"from": document["source"], "signed by": signer, "digest": document["digest"]}.items():
        environment.print(f"  {key:<10} {value}")


@command(
    _print_export,
    pack=PACK_ARGUMENT,
    output=Output(
        *("-o", "--output"),
        metavar="FILE",
        help="The archive, or a folder for it; a trailing slash creates the folder. Default: ./NAME-VERSION.wikigr.",
    ),
    sign=Metadata(metavar="KEY", help="Sign with this Ed25519 private key of OpenSSH, which has no passphrase."),
    force=Run(help="Replace an existing file."),
)
def export(
    pack: str,
    # A Path would lose the trailing slash that marks a folder.
    output: str | None = None,
    sign: Path | None = None,
    force: bool = False,
) -> Document:
    """Write a pack as one file that others can verify and install. The same pack gives the same bytes.

    Examples:
      wikigr pack export packs/physics -o physics.wikigr
      wikigr pack export packs/physics --sign key -o signed.wikigr
    """
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
    exported = export_pack(pack, file, key=key)
    manifest = exported.manifest
    return {
        "file": str(exported.file),
        "size": exported.size,
        "sha256": exported.sha256,
        "name": manifest.name,
        "version": manifest.version,
        "digest": manifest.digest,
        "files": len(manifest.files),
        "signer": exported.signer.fingerprint if exported.signer else None,
    }


@command(print_checks, pack=PACK_ARGUMENT)
def validate(pack: str) -> Iterator[Document]:
    """Check that the parts of a pack agree.

    These are the counts, offsets, vectors, index, encoder, anchors and version.

    Exits with 4 if a check fails.

    Examples:
      wikigr pack validate packs/physics
      wikigr pack validate --pack packs/notes --json
    """
    from wikigr.pack.validate import validate_pack

    checks = validate_pack(pack)
    yield checks_document(checks)
    if not all_passed(checks):
        raise typer.Exit(ExitStatus.PACK)


@command(print_checks, pack=Pack(metavar="FILE|PACK", help="An archive or a pack."))
def verify(pack: str, sha256: str | None = None, trust: list[str] | None = None) -> Iterator[Document]:
    """Check an untrusted pack before it is used.

    It checks the archive, the signature, the database and the digest.

    The database is first opened in a process with limited resources. Exits with 4 if a check fails.

    Examples:
      wikigr pack verify physics.wikigr
      wikigr pack verify signed.wikigr --trust key.pub
    """
    from wikigr.distribution.signature import read_public_key
    from wikigr.distribution.verify import verify as verify_pack

    verified = verify_pack(pack, sha256=sha256, trust=[read_public_key(key) for key in trust or ()])
    yield {
        **checks_document(verified.checks),
        **{name: getattr(verified.manifest, name, None) for name in ("name", "version", "digest")},
        "size": verified.size,
        "sha256": verified.sha256,
        "signer": verified.signer.fingerprint if verified.signer else None,
    }
    if not all_passed(verified.checks):
        raise typer.Exit(ExitStatus.PACK)


@command(
    print_installed,
    source=Argument(metavar="SOURCE", help="An archive (FILE.wikigr), its https:// URL, or a pack's folder."),
    name=Metadata(metavar="NAME", help="Install the pack under this name. Default: its own name."),
    force=Run(help="Replace a newer version or a pack signed by another key, and accept any version."),
)
def install(
    environment: Environment,
    source: str,
    sha256: str | None = None,
    trust: list[str] | None = None,
    name: str | None = None,
    force: bool = False,
    allow_private: bool = False,
) -> Document:
    """Install a pack under a name. Every part is verified before anything uses it.

    The installed version stays in use until the new one is complete. Downloads use no proxy.

    Examples:
      wikigr pack install physics.wikigr
      wikigr pack install signed.wikigr --trust key.pub --name signed
    """
    from wikigr.distribution.install import install as install_pack
    from wikigr.distribution.signature import read_public_key
    from wikigr_cli.render.progress import TerminalProgress

    keys = [read_public_key(key) for key in trust or ()]
    with TerminalProgress(environment) as progress:
        installed = install_pack(
            source, sha256=sha256, trust=keys, name=name, force=force, allow_private=allow_private, progress=progress
        )
    if installed.changed and sha256 is None and not keys:
        environment.note("The source of this pack was not verified. To require the same one the next time:")
        if installed.sha256 is not None:
            environment.note(f"  --sha256 {installed.sha256}")
        known = f"--trust KEY, where KEY has the fingerprint {installed.signer}"
        environment.note(f"  {known if installed.signer else '--trust cannot be used: the pack is not signed'}")
    return installed_document(installed)
