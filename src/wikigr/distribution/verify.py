"""Verify a pack from somebody else: its archive, its signature, and its content.

The engine and the libraries that read the content are not safe against a maliciously crafted file, so the first process
to open one is a sandboxed child process, which has nothing to lose.
"""

from __future__ import annotations

import json
import os
import resource
import stat
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from wikigr.checks import Check, all_passed
from wikigr.distribution.archive import normalize_sha256, temporary_folder, unpack
from wikigr.distribution.signature import PublicKey, check_signature, read_signature
from wikigr.distribution.untrusted_checks import DISTRUST, LAST_CHECK, untrusted_checks
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.files import read_regular
from wikigr.graph.engine import reserved_space
from wikigr.index.lexical import link_index
from wikigr.pack import layout as parts
from wikigr.pack.layout import DATABASE, LEXICAL, Layout
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import EXTRAS, MAX_MANIFEST_BYTES, Manifest, describe_file, file_path, read_manifest
from wikigr.sandbox.process import (
    Channel,
    ProcessLimits,
    SandboxedProcess,
    SandboxError,
    SandboxStartError,
    SandboxTimeoutError,
    library_paths,
)
from wikigr.settings import cache_folder
from wikigr.validation import InvalidError, validated

_TASK = "wikigr.distribution.verify:report_checks"

# Time limit: a fixed part and one for the size. A pack of 72 MB takes 3 seconds on two cores.
_SECONDS = 120.0
_BYTES_PER_SECOND = 2_000_000
_MAX_SECONDS = 86_400.0
# Bytes of address space for Python, the encoder, the engine's buffers and the empty database of the schema, beyond what
# the engine reserves for the pack.
_ADDRESS_SPACE = 7 << 30
_PROOF = "proof"  # the check that fails if the others cannot run
# What libraries read to find out how many threads to start.
_MACHINE = (Path("/proc/cpuinfo"), Path("/proc/meminfo"), Path("/sys/devices/system/cpu"), Path("/sys/fs/cgroup"))
_ENVIRONMENT = ("HOME", "XDG_CACHE_HOME", "ORT_DISABLE_TELEMETRY")

# Exceptions that a malicious pack can cause, besides our own.
_UNREADABLE = (ArithmeticError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError)


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
    if path.is_file() and path.name != DATABASE:
        return _verify_archive(path, sha256, trust)
    if sha256 is not None:
        raise UsageError("--sha256 requires an archive, not a folder.", hint="Use the archive file.")
    layout = find_pack(location)
    manifest = read_manifest(layout.part(parts.MANIFEST))
    signature = layout.signature()
    signer = None
    if signature is not None:
        signer = check_signature(
            read_signature(signature), read_regular(layout.part(parts.MANIFEST), MAX_MANIFEST_BYTES)
        )
    checks = [_check_signer(signer, trust)]
    if signer is not None:
        fix = "Remove it, or install the pack."
        checks += [
            Check(name, False, "is not in the signed manifest", fix, required=bool(trust))
            for name in (*EXTRAS, parts.GRAPH_INDEX)
            if name not in manifest.files and file_path(layout, name).exists()
        ]
    if all_passed(checks):
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
    with temporary_folder("the archive") as folder:
        into = folder / "pack"
        unpacked = unpack(archive, into)
        if sha256 not in (None, unpacked.sha256):
            raise PackError(f"{archive} changed while it was being read.", hint="Run the same command again.")
        size = archive.stat().st_size
        manifest = unpacked.manifest
        files = f"{manifest.name} {manifest.version}, {len(manifest.files)} files that match the manifest"
        checks.append(Check("archive", True, f"{files}; {size:,} bytes, SHA-256 {unpacked.sha256}"))
        checks.append(_check_signer(unpacked.signer, trust))
        if all_passed(checks):
            checks += validate_untrusted(into)
    return Verification(checks, unpacked.manifest, unpacked.signer, size, unpacked.sha256)


def _check_signer(signer: PublicKey | None, trust: Sequence[PublicKey]) -> Check:
    """Check that ``signer`` is one of the keys in ``trust``; without such keys, the check is not required to pass."""
    if signer is None:
        fix = "Ask for a signed pack." if trust else "Compare its SHA-256 with one from a source that you trust."
        return Check("signature", False, "this pack is not signed", fix, required=bool(trust))
    if not trust:
        return Check("signature", True, f"by {signer.fingerprint}; use --trust KEY to require a specific key")
    if signer in trust:
        return Check("signature", True, f"by {signer.fingerprint}, which is trusted")
    return Check("signature", False, f"by {signer.fingerprint}, which is not a trusted key", DISTRUST)


# -- the content


def validate_untrusted(folder: Path, *, seconds: float | None = None) -> list[Check]:
    """Run all checks on the pack in ``folder``: those of ``validate_pack``, and the database's schema and digest.

    They run in a sandboxed process for at most ``seconds`` (default: depends on the pack's size). A crash, a timeout or
    excessive memory use there is reported as a failed check. An encoder that is missing on this machine is reported,
    but is not a failure.
    """
    size = sum(map(_plausible_size, folder.rglob("*")))
    allowed = seconds if seconds is not None else min(_SECONDS + size / _BYTES_PER_SECOND, _MAX_SECONDS)
    reserve = reserved_space(size)
    with tempfile.TemporaryDirectory(prefix="wikigr-verify-") as links:
        lexical = Layout(folder).part(LEXICAL)
        if lexical.is_dir():
            link_index(lexical, Path(links))
        return _run(folder, reserve, Path(links), size, allowed)


def _plausible_size(path: Path) -> int:
    """Return the size of a regular file in bytes, that of a sparse one by the space that it takes."""
    found = path.lstat()
    # A file system that compresses takes less space than the size says, by up to about 8 times.
    return min(found.st_size, 8 * 512 * found.st_blocks) if stat.S_ISREG(found.st_mode) else 0


def _run(folder: Path, reserve: int, links: Path, size: int, allowed: float) -> list[Check]:
    limits = ProcessLimits(
        readable=(folder, cache_folder() / "models", *_MACHINE, *library_paths()),
        address_space=reserve + size + _ADDRESS_SPACE,
        cpu_seconds=int(allowed * (os.cpu_count() or 1)) + 1,
        message_bytes=1 << 14,
        scratch=links,
    )
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    arguments = {"folder": str(folder), "reserve": reserve, "links": str(links)}
    deadline = time.monotonic() + allowed
    advice = _memory_advice(limits.address_space)
    checks: list[Check] = []
    try:
        with SandboxedProcess(_TASK, arguments, limits, environment=environment) as process:
            while (message := process.receive(deadline)) is not None and len(checks) < 200:
                checks.append(validated(Check, json.dumps(message)))
            if checks and (checks[-1].name == LAST_CHECK or not all_passed(checks)):
                return [replace(c, fix=advice) if c.name == _PROOF else c for c in checks]
            why = "did not run all checks"
    except SandboxStartError as error:
        why, advice = error.message, "Run `wikigr doctor`: this says nothing about the pack."
    except SandboxTimeoutError:
        why = f"took more than {allowed:,.0f} seconds and was stopped"
    except SandboxError as error:
        why = error.message
    except InvalidError:
        why = "sent an invalid message"
    return [*checks, Check(_PROOF, False, f"The validation process {why}.", advice)]


def _memory_advice(address_space: int) -> str:
    """Return what to do about a failed validation: the pack may be good if this process has too little memory."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= address_space:
        return DISTRUST
    return (
        f"This process is limited to {limit / 2**30:,.1f} GiB of virtual memory (ulimit -v), which may be the cause. "
        "Remove the limit with `ulimit -v unlimited`, then verify the pack again."
    )


def report_checks(channel: Channel, folder: str, reserve: int, links: str) -> None:
    """Send every check, then ``null``. Runs in the sandboxed process."""
    try:
        for check in untrusted_checks(Path(folder), reserve, Path(links)):
            _send(channel, check)
    except WikigrError as error:
        _send(channel, Check(_PROOF, False, error.message, DISTRUST))
    except _UNREADABLE as error:
        _send(channel, Check(_PROOF, False, f"Cannot read the pack: {type(error).__name__}: {error}", DISTRUST))
    channel.send(None)


def _send(channel: Channel, check: Check) -> None:
    detail = check.detail if len(check.detail) <= 500 else check.detail[:500] + "…"
    channel.send(asdict(replace(check, detail=detail)))
