"""Verify a pack from somebody else: its archive, its signature, and its content."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wikigr.checks import Check
from wikigr.distribution.archive import normalize_sha256, unpack
from wikigr.distribution.signature import PublicKey, check_signature, read_signature
from wikigr.distribution.untrusted_checks import DISTRUST
from wikigr.distribution.validate_untrusted import validate_untrusted
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import EXTRAS, Manifest, describe_file, file_path, read_manifest
from wikigr.settings import cache_folder

_LEFT_BEHIND_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of ``verify``. ``size`` (bytes) and ``sha256`` describe the archive and are ``None`` for a folder.

    ``manifest`` is ``None`` when the archive was not unpacked.
    """

    checks: list[Check]
    manifest: Manifest | None
    signer: PublicKey | None
    size: int | None
    sha256: str | None


def verify(location: str | Path, *, sha256: str | None = None, trust: Sequence[PublicKey] = ()) -> Verification:
    """Verify the pack or archive at ``location``; an archive is unpacked into a temporary folder of the user's cache.

    If ``sha256`` (64 hexadecimal digits) is given, an archive with another hash is not unpacked. If ``trust`` is given
    and none of these keys signed the pack, its database is not opened. Raises ``PackError`` when the pack is missing or
    the archive is damaged, and ``UsageError`` for a malformed ``sha256`` or one given with a folder.
    """
    sha256 = normalize_sha256(sha256)
    path = Path(location)
    if path.is_file() and path.name != parts.DATABASE:
        return _verify_archive(path, sha256, trust)
    if sha256 is not None:
        raise UsageError("--sha256 requires an archive, not a folder.", hint="Use the archive file.")
    layout = find_pack(location)
    manifest = read_manifest(layout.part(parts.MANIFEST))
    signer = _signer_of(layout)
    checks = [check_signer(signer, trust)]
    if signer is not None:
        checks += _unsigned_files(layout, manifest, trust)
    if _all_passed(checks):
        checks += validate_untrusted(layout.root)
    return Verification(checks, manifest, signer, None, None)


def _verify_archive(archive: Path, sha256: str | None, trust: Sequence[PublicKey]) -> Verification:
    checks = []
    if sha256 is not None:
        record = describe_file(archive)
        same = record.sha256 == sha256
        detail = "as expected" if same else f"is {record.sha256}, not the expected one"
        checks.append(Check("sha256", same, detail, DISTRUST))
        if not same:
            return Verification(checks, None, None, record.size, record.sha256)
    with _temporary_folder() as folder:
        into = folder / "pack"
        unpacked = unpack(archive, into)
        if sha256 not in (None, unpacked.sha256):
            raise PackError(f"{archive} changed while it was being read.", hint="Run the same command again.")
        size = archive.stat().st_size
        manifest = unpacked.manifest
        files = f"{manifest.name} {manifest.version}, {len(manifest.files)} files that match the manifest"
        checks.append(Check("archive", True, f"{files}; {size:,} bytes, SHA-256 {unpacked.sha256}"))
        checks.append(check_signer(unpacked.signer, trust))
        if _all_passed(checks):
            checks += validate_untrusted(into)
    return Verification(checks, unpacked.manifest, unpacked.signer, size, unpacked.sha256)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Create a temporary folder in the cache; raises ``WikigrError`` when that fails."""
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        _clear_leftovers()
        folder = tempfile.TemporaryDirectory(prefix="verify-", dir=cache_folder())
    except OSError as error:
        raise WikigrError(
            f"Cannot unpack the archive into {cache_folder()} for verification: {error.strerror or error}.",
            hint="Make it writable, or set XDG_CACHE_HOME to another folder.",
        ) from error
    with folder as path:
        yield Path(path)


def _clear_leftovers() -> None:
    """Remove temporary folders of killed processes; no verification takes a day."""
    for folder in cache_folder().glob("verify-*"):
        if time.time() - folder.lstat().st_mtime > _LEFT_BEHIND_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def _all_passed(checks: Sequence[Check]) -> bool:
    return all(check.passed or not check.required for check in checks)


def check_signer(signer: PublicKey | None, trust: Sequence[PublicKey]) -> Check:
    """Check that ``signer`` is one of the keys in ``trust``; without such keys, the check is not required to pass."""
    if signer is None:
        fix = "Ask for a signed pack." if trust else "Compare its SHA-256 with one from a source that you trust."
        return Check("signature", False, "this pack is not signed", fix, required=bool(trust))
    if not trust:
        return Check("signature", True, f"by {signer.fingerprint}; use --trust KEY to require a specific key")
    if signer in trust:
        return Check("signature", True, f"by {signer.fingerprint}, which is trusted")
    return Check("signature", False, f"by {signer.fingerprint}, which is not a trusted key", DISTRUST)


def _unsigned_files(layout: Layout, manifest: Manifest, trust: Sequence[PublicKey]) -> list[Check]:
    """Return a failed check for each file of the pack that its signature does not cover."""
    return [
        Check(name, False, "is not in the signed manifest", "Remove it, or install the pack.", required=bool(trust))
        for name in (*EXTRAS, parts.GRAPH_INDEX)
        if name not in manifest.files and file_path(layout, name).exists()
    ]


def _signer_of(layout: Layout) -> PublicKey | None:
    """Return the signer of the pack in a folder, or ``None``; raises ``PackError`` when the signature is invalid."""
    path = layout.signature()
    return check_signature(read_signature(path), layout.part(parts.MANIFEST).read_bytes()) if path is not None else None
