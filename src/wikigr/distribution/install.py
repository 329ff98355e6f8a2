"""Packs that are installed under a name: from an archive, a URL or a folder; removed; brought up to date.

A pack from somebody else is unpacked where nothing uses it, its publisher is compared with who may be trusted, its
content is proved, and a real question is asked through it. Only then the name leads to it (``store``).
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path

from wikigr.changes.next_version import is_lower, is_semantic
from wikigr.distribution.download import discard, open_download
from wikigr.distribution.http_request import is_url, redact_url
from wikigr.distribution.installed_versions import Origin, Store, read_origin, sync, write_origin
from wikigr.distribution.signature import PublicKey, check_signature
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.pack.layout import MANIFEST, SIGNATURE, Layout, installed_packs
from wikigr.pack.locate import find_pack, installed_names, is_pack_name
from wikigr.pack.manifest import (
    EXTRAS,
    Manifest,
    check_file,
    file_path,
    file_sha256,
    is_pack_file,
    parse_manifest,
    read_manifest,
)
from wikigr.progress import Progress, Silent
from wikigr.settings import cache_folder

_MAX_BYTES = 64 << 30
_MAX_MANIFEST = 16 << 20
_SHA256 = re.compile(r"[0-9A-Fa-f]{64}")
_SHOWN_CHECKS = 3


class InstallError(WikigrError):
    """A pack cannot be installed or removed: the folder cannot be written, or the disk is full."""


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed pack. ``source`` is shown without secrets; ``sha256`` is the archive's (``None`` for a folder).

    ``signer`` is the fingerprint of who signed it. ``before`` is the version that was in use until now, ``None`` for a
    new name. ``changed`` is false when the same pack was installed already.
    """

    name: str
    version: str
    digest: str
    folder: Path
    source: str
    sha256: str | None
    signer: str | None
    before: str | None
    changed: bool


def install(
    source: str | Path,
    *,
    sha256: str | None = None,
    trust: Sequence[PublicKey] = (),
    name: str | None = None,
    force: bool = False,
    allow_private: bool = False,
    progress: Progress | None = None,
) -> Installed:
    """Install the pack in ``source``: an archive's file or URL, or a pack's folder; under ``name`` or its own name.

    ``sha256`` (64 hexadecimal digits) is what the archive must have; with ``trust`` one of these keys must have signed
    the pack. ``force`` lets it take the place of a higher version, of another pack that has its name here, and of one
    that another key had signed; and lets it have a version that is no semantic one.
    ``allow_private`` permits a download from one's own network. Until the last moment the pack that was installed
    stays as it was.

    Raises ``PackError`` for a pack that is missing, damaged, not proved or not vouched for, ``UsageError`` for what
    must be said otherwise, ``DownloadError`` and ``AddressError`` for a download, ``InstallError`` for the disk.
    """
    if sha256 is not None and not _SHA256.fullmatch(sha256):
        raise UsageError(f"{sha256[:80]!r} is no SHA-256: that has 64 hexadecimal digits.")
    if name is not None:
        _require_name(name)
    request = _Request(
        str(source),
        sha256.lower() if sha256 is not None else None,
        tuple(trust),
        name,
        force,
        allow_private,
        progress or Silent(),
    )
    return request.run()


def update_installed(name: str, *, force: bool = False, progress: Progress | None = None) -> Installed:
    """Fetch the installed pack ``name`` from where it came from, and put the new version in its place.

    Who had signed the installed version must have signed the new one. ``changed`` is false when there is nothing new.
    Raises what ``install`` raises, and ``PackError`` when there is no such pack or nobody could vouch for a new one.
    """
    store = Store(installed_packs())
    folder = store.current(name)
    if folder is None:
        raise _not_installed(store, name)
    origin = read_origin(folder)
    if origin.pinned and origin.signer is None:
        raise PackError(
            f"{name} was installed by the SHA-256 of one archive and is not signed: nobody could vouch for another.",
            hint=f"Install the new archive with its own: wikigr pack install {shown_source(origin.source)} "
            f"--name {name} --sha256 HEX",
        )
    return install(origin.source, name=name, force=force, allow_private=origin.allow_private, progress=progress)


def remove(name: str) -> None:
    """Remove the installed pack ``name`` and its versions; a process that has it open keeps it until it ends.

    Raises ``PackError`` when there is no such pack, and ``InstallError`` when it cannot be removed.
    """
    store = Store(installed_packs())
    if store.current(name) is None:
        raise _not_installed(store, name)
    with _disk_errors(store, "removed"), store.held(Silent()):
        if store.current(name) is None:
            raise _not_installed(store, name)
        store.remove(name)


def shown_source(source: str) -> str:
    """Return a source as it may be printed: a URL without what may be secret in it."""
    return redact_url(source) if is_url(source) else source


@dataclass(frozen=True, slots=True)
class _Ready:
    """A pack that lies in a folder of the store and is not in use yet."""

    folder: Path
    manifest: Manifest
    signer: PublicKey | None
    sha256: str | None


@dataclass(frozen=True, slots=True)
class _Request:
    """One installation, as it was asked for."""

    source: str
    sha256: str | None
    trust: tuple[PublicKey, ...]
    name: str | None
    force: bool
    allow_private: bool
    progress: Progress

    def run(self) -> Installed:
        if is_url(self.source):
            with open_download(
                self.source,
                cache_folder() / "downloads",
                max_bytes=_MAX_BYTES,
                sha256=self.sha256,
                allow_private=self.allow_private,
                progress=self.progress,
            ) as archive:
                try:
                    installed = self._install(archive)
                except PackError:
                    # What is wrong with it stays wrong, and a second try must not go on from it.
                    discard(archive)
                    raise
                discard(archive)
                return installed
        path = Path(self.source)
        if not path.exists():
            raise PackError(
                f"There is neither an archive nor a pack at {path}.",
                hint="Give the file of an archive (made with `wikigr pack export`), its https:// URL, or a pack's "
                "folder.",
            )
        if path.is_dir() and self.sha256 is not None:
            raise UsageError("--sha256 is of an archive; a pack's folder has none.", hint="Give the archive's file.")
        if self.sha256 is not None:
            self._require_sha256(file_sha256(path))
        return self._install(path)

    def _install(self, path: Path) -> Installed:
        store = Store(installed_packs())
        with _disk_errors(store, "installed"), store.held(self.progress):
            new = store.new_folder()
            try:
                return self._put(store, self._make_ready(path, new))
            finally:
                if new.exists():
                    shutil.rmtree(new)

    def _make_ready(self, path: Path, new: Path) -> _Ready:
        """Copy or unpack the pack into the folder ``new``, and see who vouches for it."""
        self.progress.start("unpacking" if path.is_file() else "copying", 1, "pack")
        ready = _unpacked(path, new) if path.is_file() else _copied(path, new)
        self.progress.advance(1)
        if ready.sha256 is not None and self.sha256 is not None:
            # The file may have changed since it was looked at.
            self._require_sha256(ready.sha256)
        if self.trust and ready.signer not in self.trust:
            raise PackError(
                f"The pack is signed by {ready.signer.fingerprint}, which is none of the trusted keys."
                if ready.signer
                else "The pack is not signed, and --trust asks for a signature.",
                hint="Nothing was installed. Ask its publisher which key signs the pack.",
            )
        return ready

    def _require_sha256(self, found: str) -> None:
        if found != self.sha256:
            raise PackError(
                f"{shown_source(self.source)} is not the file that was asked for: its sha256 is {found}, not "
                f"{self.sha256}.",
                hint="Nothing was installed. Ask its publisher which of the two is right.",
            )

    def _put(self, store: Store, ready: _Ready) -> Installed:
        """Put a pack in the place of what has its name, if it may and if it holds."""
        name, version = self.name or ready.manifest.name, ready.manifest.version
        _require_name(name)
        if store.is_taken(name):
            raise UsageError(
                f"{store.root / name} was put there by hand, and is not replaced.",
                hint="Move it away, or install under another name with --name.",
            )
        identity = _identity(ready.folder)
        old = store.current(name)
        before = self._compare(name, ready, old, identity)
        if old is not None and before is None:
            return self._installed(name, ready, old, read_manifest(old / MANIFEST).version, changed=False)
        self._prove(ready)
        origin = Origin(
            source=self.source if is_url(self.source) else str(Path(self.source).resolve()),
            sha256=ready.sha256,
            pinned=self.sha256 is not None,
            signer=ready.signer.fingerprint if ready.signer else None,
            allow_private=self.allow_private,
            identity=identity,
            before=old.name if old is not None else None,
            installed=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        write_origin(ready.folder, origin)
        _sync_tree(ready.folder)
        place = store.put(ready.folder, name, version, identity)
        store.clean()
        if Path(name).exists():
            self.progress.note(f"Here ./{name} comes before the installed pack of that name.")
        return self._installed(name, ready, place, before, changed=True)

    def _compare(self, name: str, ready: _Ready, old: Path | None, identity: str) -> str | None:
        """Return the version that ``ready`` would replace, if it may; ``None`` if it is there already, or for none."""
        if old is None:
            self._require_version(ready.manifest.version)
            return None
        origin = read_origin(old)
        if origin.identity == identity:
            damaged = _damaged(old, ready.manifest, identity)
            if damaged is None:
                return None
            self.progress.note(f"The installed pack is damaged ({damaged}) and is put there anew.")
            return ready.manifest.version
        installed = _installed_manifest(name, old)
        signer = ready.signer.fingerprint if ready.signer else None
        if origin.signer is not None and signer != origin.signer and not self.force:
            raise PackError(
                f"{name} {installed.version} was signed by {origin.signer}; this pack is signed by "
                f"{signer or 'nobody'}.",
                hint="If you know why, --force installs it all the same.",
            )
        if ready.manifest.name != installed.name and not self.force:
            # Its publisher signs other packs too: whoever serves them must not exchange one for another.
            raise PackError(
                f"{name} is the pack {installed.name[:80]!r}, and this is {ready.manifest.name[:80]!r}.",
                hint="If it was renamed, --force installs it all the same; another pack needs another --name.",
            )
        self._require_version(ready.manifest.version)
        if is_lower(ready.manifest.version, installed.version) and not self.force:
            raise UsageError(
                f"{name} {installed.version} is installed, and this is {ready.manifest.version}, a lower version.",
                hint="--force installs it all the same.",
            )
        return installed.version

    def _require_version(self, version: str) -> None:
        if not is_semantic(version) and not self.force:
            raise PackError(
                f"The pack's version, {version[:80]!r}, is no semantic version: nobody could tell which is newer.",
                hint="Ask its publisher for one such as 1.2.0; --force installs it all the same.",
            )

    def _prove(self, ready: _Ready) -> None:
        from wikigr.distribution.validate_untrusted import SEARCH, prove

        self.progress.start("proving", 1, "pack")
        checks = prove(ready.folder)
        failed = [check for check in checks if check.required and not check.passed]
        if failed:
            more = f", and {len(failed) - _SHOWN_CHECKS} more" if len(failed) > _SHOWN_CHECKS else ""
            raise PackError(
                "The pack does not hold what it says: "
                + "; ".join(f"{check.name}: {check.detail}" for check in failed[:_SHOWN_CHECKS])
                + more
                + ".",
                hint="Nothing was installed. Fetch it again, or tell its publisher.",
            )
        for check in checks:
            if check.name == SEARCH and not check.passed:
                self.progress.note(f"No question was tried: {check.detail} {check.mend}".rstrip())
        self.progress.advance(1)

    def _installed(self, name: str, ready: _Ready, folder: Path, before: str | None, *, changed: bool) -> Installed:
        return Installed(
            name=name,
            version=ready.manifest.version,
            digest=ready.manifest.digest,
            folder=folder,
            source=shown_source(self.source),
            sha256=ready.sha256,
            signer=ready.signer.fingerprint if ready.signer else None,
            before=before,
            changed=changed,
        )


def _unpacked(archive: Path, new: Path) -> _Ready:
    from wikigr.distribution.archive import unpack

    found = unpack(archive, new)
    return _Ready(new, found.manifest, found.signer, found.sha256)


def _copied(source: Path, new: Path) -> _Ready:
    """Copy the pack in the folder ``source``: its parts, examples and gold questions, and nothing else."""
    layout = find_pack(source)
    with layout.reading():
        content = _read_manifest_file(layout)
        manifest = parse_manifest(content, f"The manifest of {source}")
        signature = _read_signature(layout)
        signer = _signer(signature, content)
        # Of a signed pack only what the signature covers.
        extras = [] if signer else [name for name in EXTRAS if file_path(layout, name).is_file()]
        new.mkdir()
        for name in sorted({*manifest.files, *extras}):
            if not is_pack_file(name):
                raise PackError(
                    f"The manifest of {source} lists {name[:80]!r}, which is no file of a pack.",
                    hint="Build the pack again with `wikigr pack build`.",
                )
            _copy(layout, name, new / name)
    (new / MANIFEST).write_bytes(content)
    if signer is not None and signature is not None:
        (new / SIGNATURE).write_bytes(signature)
    return _Ready(new, manifest, signer, None)


def _copy(layout: Layout, name: str, target: Path) -> None:
    path = file_path(layout, name)
    linked = [p for p in (path, *path.parents) if p.is_relative_to(layout.root) and p != layout.root and p.is_symlink()]
    if linked:
        raise PackError(f"{linked[0]} is a link; a pack holds files of its own.", hint="Put a copy in its place.")
    if not path.is_file():
        raise PackError(f"{path} is missing.", hint="Build the pack again with `wikigr pack build`.")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target, follow_symlinks=False)


def _read_manifest_file(layout: Layout) -> bytes:
    path = layout.part(MANIFEST)
    if path.is_symlink() or path.stat().st_size > _MAX_MANIFEST:
        raise PackError(f"{path} is a link, or too large for a manifest.", hint="Build the pack again.")
    return path.read_bytes()


def _read_signature(layout: Layout) -> bytes | None:
    path = layout.signature()
    return path.read_bytes() if path is not None and not path.is_symlink() else None


def _signer(signature: bytes | None, manifest: bytes) -> PublicKey | None:
    """Return who signed a folder's manifest; a signature that fits no longer is none, as in `wikigr pack export`."""
    try:
        return check_signature(signature, manifest) if signature is not None else None
    except PackError:
        return None


def _identity(folder: Path) -> str:
    """Return a hash of all that a pack's folder holds: its manifest, and what the manifest may not list."""
    digest = hashlib.sha256()
    for name in (MANIFEST, SIGNATURE, *EXTRAS):
        path = folder / name
        digest.update(f"{name}\0{file_sha256(path) if path.is_file() else ''}\n".encode())
    return digest.hexdigest()


def _damaged(folder: Path, manifest: Manifest, identity: str) -> str | None:
    """Return what of the installed pack in ``folder`` is not as it was when it was installed."""
    if _identity(folder) != identity:
        return "its manifest, signature, examples or questions"
    return next((name for name, record in manifest.files.items() if check_file(folder / name, record)), None)


def _installed_manifest(name: str, folder: Path) -> Manifest:
    try:
        return read_manifest(folder / MANIFEST)
    except PackError as error:
        raise PackError(
            error.message, hint=f"Remove it with `wikigr pack remove {name}`, then install it again."
        ) from error


def _require_name(name: str) -> None:
    if not is_pack_name(name):
        raise UsageError(
            f"A pack cannot be installed as {name[:80]!r}: a name has letters, digits, dots, dashes and underscores, "
            "at most 100, and begins with a letter or digit.",
            hint="Give it another one with --name.",
        )


def _not_installed(store: Store, name: str) -> PackError:
    if store.is_taken(name) and is_pack_name(name):
        return PackError(
            f"{store.root / name} was put there by hand, not by `wikigr pack install`.", hint="Remove it by hand."
        )
    names = [known for known in installed_names() if store.current(known) is not None]
    near = get_close_matches(name, names, n=1)
    return PackError(
        f"No pack {name[:80]!r} is installed.",
        hint=f"Did you mean {near[0]}?" if near else "`wikigr pack list` shows those that are.",
    )


@contextmanager
def _disk_errors(store: Store, done: str) -> Iterator[None]:
    """Turn what the disk says into words, with the mend."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = "Free some disk space, then run the same command again."
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            hint = f"Make {store.root} writable, or set XDG_DATA_HOME to another folder."
        else:
            hint = "Mend that, then run the same command again; what was installed before is untouched."
        where = f" ({error.filename})" if error.filename is not None else ""
        raise InstallError(f"The pack was not {done}: {error.strerror or error}{where}.", hint=hint) from error


def _sync_tree(root: Path) -> None:
    for folder, _, files in os.walk(root, topdown=False):
        for name in files:
            sync(Path(folder) / name)
        sync(Path(folder))
