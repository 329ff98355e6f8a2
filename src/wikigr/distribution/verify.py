"""Everything about a pack from somebody else: its archive, who signed it, and the proof of what is in it."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wikigr.checks import Check
from wikigr.distribution.archive import unpack
from wikigr.distribution.signature import PublicKey, check_signature
from wikigr.distribution.validate_untrusted import DISTRUST, prove
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import EXTRAS, Manifest, describe_file, file_path, read_manifest
from wikigr.settings import cache_folder

_LEFT_BEHIND_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Verified:
    """What ``verify`` found; ``size`` (bytes) and ``sha256`` are those of an archive, ``None`` for a folder.

    Without a manifest the pack was not even unpacked.
    """

    checks: list[Check]
    manifest: Manifest | None
    signer: PublicKey | None
    size: int | None
    sha256: str | None


def verify(location: str | Path, *, sha256: str | None = None, trust: Sequence[PublicKey] = ()) -> Verified:
    """Prove the archive or the pack at ``location``, unpacked into a temporary folder of the user's cache.

    An archive must have the SHA-256 ``sha256`` (64 hexadecimal digits), else it is not even unpacked; with ``trust``
    the pack must be signed by one of these keys, else its database is not opened. Raises ``PackError`` when the pack is
    missing or the archive damaged, and ``UsageError`` for a ``sha256`` that is none, or of a folder.
    """
    if sha256 is not None and not re.fullmatch(r"[0-9A-Fa-f]{64}", sha256):
        raise UsageError(f"{sha256[:80]!r} is no SHA-256: that has 64 hexadecimal digits.")
    path = Path(location)
    if path.is_file() and path.name != parts.DATABASE:
        return _verify_archive(path, sha256.lower() if sha256 else None, trust)
    if sha256 is not None:
        raise UsageError("--sha256 is of an archive; a folder has none.", hint="Give the archive's file.")
    layout = find_pack(location)
    manifest = read_manifest(layout.part(parts.MANIFEST))
    signer = _signer_of(layout)
    checks = [check_signer(signer, trust)]
    if signer is not None:
        checks += _not_signed(layout, manifest, trust)
    if _all_passed(checks):
        checks += prove(layout.root)
    return Verified(checks, manifest, signer, None, None)


def _verify_archive(archive: Path, sha256: str | None, trust: Sequence[PublicKey]) -> Verified:
    checks = []
    if sha256 is not None:
        record = describe_file(archive)
        same = record.sha256 == sha256
        detail = "as asked for" if same else f"is {record.sha256}, not what was asked for"
        checks.append(Check("sha256", same, detail, DISTRUST))
        if not same:
            return Verified(checks, None, None, record.size, record.sha256)
    with _temporary_folder() as folder:
        into = folder / "pack"
        unpacked = unpack(archive, into)
        if sha256 not in (None, unpacked.sha256):
            raise PackError(f"{archive} was changed while it was read.", hint="Run the same command again.")
        size = archive.stat().st_size
        manifest = unpacked.manifest
        called = f"{manifest.name} {manifest.version}, {len(manifest.files)} files as its manifest says"
        checks.append(Check("archive", True, f"{called}; {size:,} bytes, SHA-256 {unpacked.sha256}"))
        checks.append(check_signer(unpacked.signer, trust))
        if _all_passed(checks):
            checks += prove(into)
    return Verified(checks, unpacked.manifest, unpacked.signer, size, unpacked.sha256)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Make a folder of the cache for as long as an archive is proved; raises ``WikigrError`` where that cannot be."""
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        _clear_leftovers()
        folder = tempfile.TemporaryDirectory(prefix="verify-", dir=cache_folder())
    except OSError as error:
        raise WikigrError(
            f"The archive is unpacked into {cache_folder()} to be proved, which cannot be written: "
            f"{error.strerror or error}.",
            hint="Make it writable, or set XDG_CACHE_HOME to another folder.",
        ) from error
    with folder as path:
        yield Path(path)


def _clear_leftovers() -> None:
    """Remove what a killed process had unpacked; a day is more than any proof takes."""
    for folder in cache_folder().glob("verify-*"):
        if time.time() - folder.lstat().st_mtime > _LEFT_BEHIND_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def _all_passed(checks: Sequence[Check]) -> bool:
    return all(check.passed or not check.required for check in checks)


def check_signer(signer: PublicKey | None, trust: Sequence[PublicKey]) -> Check:
    """Check that ``signer`` is one of ``trust``; without any, who signed is only worth knowing."""
    if signer is None:
        mend = "Ask for a pack that is signed." if trust else "Compare its SHA-256 with one from somebody you trust."
        return Check("signature", False, "nobody has signed this pack", mend, required=bool(trust))
    if not trust:
        return Check("signature", True, f"by {signer.fingerprint}; --trust KEY says whose it must be")
    if signer in trust:
        return Check("signature", True, f"by {signer.fingerprint}, which is trusted")
    return Check("signature", False, f"by {signer.fingerprint}, which is none of the trusted keys", DISTRUST)


def _not_signed(layout: Layout, manifest: Manifest, trust: Sequence[PublicKey]) -> list[Check]:
    """Return a check that fails for each file that is used with the pack and that its signature does not cover."""
    return [
        Check(name, False, "is not in the signed manifest", "Remove it, or install the pack.", required=bool(trust))
        for name in (*EXTRAS, parts.GRAPH_INDEX)
        if name not in manifest.files and file_path(layout, name).exists()
    ]


def _signer_of(layout: Layout) -> PublicKey | None:
    """Return who signed the pack in a folder, ``None`` for nobody; raises ``PackError`` when it fits no longer."""
    path = layout.signature()
    return check_signature(path.read_bytes(), layout.part(parts.MANIFEST).read_bytes()) if path is not None else None
