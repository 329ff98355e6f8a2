"""What ``wikigr pack export``, ``verify`` and ``install`` print."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wikigr_cli.environment import Environment
from wikigr_cli.render.output import SCHEMA_VERSION, Document, checks_document

if TYPE_CHECKING:
    from wikigr.distribution.archive import ExportedArchive
    from wikigr.distribution.install import Installed
    from wikigr.distribution.verify import Verification


def export_document(exported: ExportedArchive) -> dict[str, Any]:
    """Return what ``wikigr pack export --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "file": str(exported.file),
        "size": exported.size,
        "sha256": exported.sha256,
        "name": exported.manifest.name,
        "version": exported.manifest.version,
        "digest": exported.manifest.digest,
        "files": len(exported.manifest.files),
        "signer": exported.signer.fingerprint if exported.signer else None,
    }


def print_export(environment: Environment, document: Document) -> None:
    """Print an exported archive with what a recipient can verify."""
    environment.print(f"{document['file']}: {document['name']} {document['version']}")
    for label, text in (
        ("size", f"{document['size']:,} bytes, {document['files']} files"),
        ("sha256", document["sha256"]),
        ("digest", document["digest"]),
        ("signer", document["signer"] or "nobody"),
    ):
        environment.print(f"  {label:<7} {text}")


def verify_document(verified: Verification) -> dict[str, Any]:
    """Return what ``wikigr pack verify --json`` prints: the checks, and the pack that they describe."""
    manifest = verified.manifest
    return {
        **checks_document(verified.checks),
        "name": manifest.name if manifest else None,
        "version": manifest.version if manifest else None,
        "digest": manifest.digest if manifest else None,
        "size": verified.size,
        "sha256": verified.sha256,
        "signer": verified.signer.fingerprint if verified.signer else None,
    }


def installed_document(installed: Installed) -> dict[str, Any]:
    """Return what ``wikigr pack install --json`` prints."""
    fields = {key: value for key, value in asdict(installed).items() if key != "folder"}
    return {"schema_version": SCHEMA_VERSION, **fields, "path": str(installed.folder)}


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


def print_pins(environment: Environment, installed: Installed) -> None:
    """Print on stderr how to pin the source of a pack that was installed without --sha256 and --trust."""
    environment.note("The source of this pack was not verified. To require the same one the next time:")
    if installed.sha256 is not None:
        environment.note(f"  --sha256 {installed.sha256}")
    environment.note(
        f"  --trust KEY, where KEY has the fingerprint {installed.signer}"
        if installed.signer
        else "  --trust cannot be used: the pack is not signed"
    )
