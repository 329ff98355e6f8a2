"""Install a pack under a name from an archive, a URL or a folder; update and remove installed packs.

A pack from somebody else is unpacked into a hidden folder, its signer is compared with the trusted keys, and its
content is validated in a child process, including a search. Only then does its name link to it
(``installed_versions``).
"""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from wikigr.distribution.archive import UnpackedPack, normalize_sha256, pack_file, unpack, valid_signer
from wikigr.distribution.download import discard, open_download
from wikigr.distribution.http_request import is_url, redact_url
from wikigr.distribution.installed_versions import InstalledVersions, Origin, read_origin, write_origin
from wikigr.distribution.signature import PublicKey, read_signature
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.pack.layout import MANIFEST, SIGNATURE, Layout, installed_packs, sync_tree
from wikigr.pack.locate import find_pack, installed_names, is_pack_name
from wikigr.pack.manifest import (
    EXTRAS,
    MAX_MANIFEST_BYTES,
    Manifest,
    check_file,
    file_path,
    file_sha256,
    is_lower_version,
    is_pack_file,
    parse_manifest,
    parse_version,
    read_manifest,
)
from wikigr.pack.remove import user_files
from wikigr.progress import Progress, Silent
from wikigr.settings import cache_folder
from wikigr.suggestions import did_you_mean, nearest

_MAX_DOWNLOAD_BYTES = 64 << 30
# Failed checks that an error message quotes.
_MAX_LISTED_CHECKS = 3


class InstallError(WikigrError):
    """A pack cannot be installed or removed, because its folder is not writable or the disk is full."""


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed pack. ``source`` is free of secrets; ``sha256`` is the archive's (``None`` for a folder).

    ``signer`` is the fingerprint of the signing key. ``before`` is the version that it replaced (``None`` for a new
    name). ``changed`` is false when the same pack was already installed.
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
    """Install the pack from ``source`` (an archive's path or URL, or a pack's folder) under ``name`` or its own name.

    If ``sha256`` (64 hexadecimal digits) is given, the archive must have this hash; if ``trust`` is given, one of these
    keys must have signed the pack. ``force`` permits replacing a higher version, a pack of another name, or one signed
    by another key, and permits a version that is not semantic. ``allow_private`` permits redirects to private
    addresses, and downloads over HTTP from this machine. The installed pack stays in use until the new one is complete
    and valid.

    Raises ``PackError`` for a pack that is missing, damaged, invalid or not trusted, ``UsageError`` for invalid
    arguments, ``DownloadError`` or ``AddressError`` when a download fails, and ``InstallError`` when the disk fails.
    """
    sha256 = normalize_sha256(sha256)
    if name is not None:
        _require_name(name)
    return _Installation(str(source), sha256, tuple(trust), name, force, allow_private, progress or Silent()).run()


def update_installed(name: str, *, force: bool = False, progress: Progress | None = None) -> Installed:
    """Install the latest version of the installed pack ``name`` from the source that it came from.

    If the installed version is signed, the same key must have signed the new one. ``changed`` is false when there is no
    new version. Raises like ``install``, and ``PackError`` when the pack is not installed or an update cannot be
    authenticated.
    """
    store = InstalledVersions(installed_packs())
    folder = store.current_version(name)
    if folder is None:
        raise _not_installed(store, name)
    origin = read_origin(folder)
    if origin.pinned and origin.signer is None:
        raise PackError(
            f"{name} was installed with the SHA-256 of an archive and is not signed, so an update cannot be "
            "authenticated.",
            hint=f"Install the new archive with its own SHA-256: wikigr pack install {redact_source(origin.source)} "
            f"--name {name} --sha256 HEX",
        )
    return install(origin.source, name=name, force=force, allow_private=origin.allow_private, progress=progress)


def remove(name: str) -> None:
    """Remove the installed pack ``name`` and its versions; a process that has it open can use it until it exits.

    Raises ``PackError`` when there is no such pack, ``UsageError`` when its folder contains files of the user, and
    ``InstallError`` when it cannot be removed.
    """
    require_installed(name)
    store = InstalledVersions(installed_packs())
    with _disk_errors(store, "removed"), store.lock(Silent()):
        require_installed(name)
        for version in store.versions(name):
            found = user_files(Layout(version))
            if found:
                raise UsageError(
                    f"{name} is not removed, because {version / found[0]} is not part of the pack"
                    + (f", and neither are {len(found) - 1:,} more files." if found[1:] else "."),
                    hint="Move it away, then run the same command again.",
                )
        store.remove(name)


def require_installed(name: str) -> None:
    """Raise ``PackError`` unless ``name`` was installed, which is also true if its current version is missing."""
    store = InstalledVersions(installed_packs())
    if not store.is_installed(name):
        raise _not_installed(store, name)


def redact_source(source: str) -> str:
    """Return ``source``, without the parts that may be secret if it is a URL."""
    return redact_url(source) if is_url(source) else source


@dataclass(frozen=True, slots=True)
class _Installation:
    """One installation and its options."""

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
                max_bytes=_MAX_DOWNLOAD_BYTES,
                allow_private=self.allow_private,
                progress=self.progress,
            ) as archive:
                try:
                    installed = self._install_archive(archive)
                except PackError:
                    # An invalid archive stays invalid, and another attempt must not resume from it.
                    discard(archive)
                    raise
                discard(archive)
                return installed
        path = Path(self.source)
        if not path.exists():
            raise PackError(
                f"There is neither an archive nor a pack at {path}.",
                hint="Use an archive (created with `wikigr pack export`), its https:// URL, or a pack's folder.",
            )
        if path.is_dir() and self.sha256 is not None:
            raise UsageError("--sha256 requires an archive, not a pack's folder.", hint="Use the archive file.")
        return self._install(path) if path.is_dir() else self._install_archive(path)

    def _install_archive(self, path: Path) -> Installed:
        if self.sha256 is not None:
            # Before anything reads the archive.
            self._require_sha256(file_sha256(path))
        return self._install(path)

    def _install(self, path: Path) -> Installed:
        store = InstalledVersions(installed_packs())
        with _disk_errors(store, "installed"), store.lock(self.progress):
            new = store.new_folder()
            try:
                return self._activate(store, self._prepare(path, new))
            finally:
                if new.exists():
                    shutil.rmtree(new)

    def _prepare(self, path: Path, new: Path) -> UnpackedPack:
        """Copy or unpack the pack into the folder ``new``, and check its hash and its signer."""
        self.progress.start("unpacking" if path.is_file() else "copying", 1, "pack")
        ready = unpack(path, new) if path.is_file() else _copy(path, new)
        self.progress.advance(1)
        if ready.sha256 is not None and self.sha256 is not None:
            # The file may have changed since it was hashed.
            self._require_sha256(ready.sha256)
        if self.trust and ready.signer not in self.trust:
            raise PackError(
                f"The pack is signed by {ready.signer.fingerprint}, which is not a trusted key."
                if ready.signer
                else "The pack is not signed, but --trust requires a signature.",
                hint="Nothing was installed. Ask the publisher which key signs the pack.",
            )
        return ready

    def _require_sha256(self, found: str) -> None:
        if found != self.sha256:
            raise PackError(
                f"{redact_source(self.source)} is not the expected file: its SHA-256 is {found}, not {self.sha256}.",
                hint="Nothing was installed. Ask the publisher which of the two is right.",
            )

    def _activate(self, store: InstalledVersions, ready: UnpackedPack) -> Installed:
        """Make the prepared pack current under its name, if that is permitted and the pack is valid."""
        name, version = self.name or ready.manifest.name, ready.manifest.version
        _require_name(name)
        if store.is_foreign(name):
            raise UsageError(
                f"{store.root / name} was put there by hand and is not replaced.",
                hint="Move it away, or install under another name with --name.",
            )
        identity = _identity(ready.folder)
        old = store.current_version(name)
        before = self._compare(name, ready, old, identity)
        if old is not None and before is None:
            return self._installed(name, ready, old, read_manifest(old / MANIFEST).version, changed=False)
        self._validate(ready)
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
        sync_tree(ready.folder)
        place = store.activate(ready.folder, name, version, identity)
        store.remove_stale()
        if Path(name).exists():
            self.progress.note(f"In this folder, ./{name} takes precedence over the installed pack of that name.")
        return self._installed(name, ready, place, before, changed=True)

    def _compare(self, name: str, ready: UnpackedPack, old: Path | None, identity: str) -> str | None:
        """Return the version that ``ready`` replaces; ``None`` if there is none or the same pack is installed.

        Raises ``PackError`` or ``UsageError`` when ``ready`` must not replace it.
        """
        if old is None:
            self._require_version(ready.manifest.version)
            return None
        origin = read_origin(old)
        if origin.identity == identity:
            damaged = _damaged(old, ready.manifest, identity)
            if damaged is None:
                return None
            self.progress.note(f"The installed pack is damaged ({damaged}) and is installed again.")
            return ready.manifest.version
        installed = _installed_manifest(name, old)
        signer = ready.signer.fingerprint if ready.signer else None
        if origin.signer is not None and signer != origin.signer and not self.force:
            raise PackError(
                f"{name} {installed.version} was signed by {origin.signer}, but this pack is "
                + (f"signed by {signer}." if signer else "not signed."),
                hint="If you know why, install it anyway with --force.",
            )
        if ready.manifest.name != installed.name and not self.force:
            # A publisher may sign several packs, and a server must not be able to substitute one for another.
            raise PackError(
                f"{name} is the pack {installed.name[:80]!r}, but this is {ready.manifest.name[:80]!r}.",
                hint="If the pack was renamed, install it with --force. For another pack, choose another --name.",
            )
        self._require_version(ready.manifest.version)
        if is_lower_version(ready.manifest.version, installed.version) and not self.force:
            raise UsageError(
                f"{name} {installed.version} is installed, but this is {ready.manifest.version}, a lower version.",
                hint="Install it anyway with --force.",
            )
        return installed.version

    def _require_version(self, version: str) -> None:
        if parse_version(version) is None and not self.force:
            raise PackError(
                f"The pack's version {version[:80]!r} is not a semantic version, so it cannot be compared with others.",
                hint="Ask the publisher for one such as 1.2.0, or install it anyway with --force.",
            )

    def _validate(self, ready: UnpackedPack) -> None:
        from wikigr.distribution.untrusted_checks import SEARCH
        from wikigr.distribution.validate_untrusted import validate_untrusted

        self.progress.start("validating", 1, "pack")
        checks = validate_untrusted(ready.folder)
        failed = [check for check in checks if check.required and not check.passed]
        if failed:
            listed = "; ".join(f"{check.name}: {check.detail}" for check in failed[:_MAX_LISTED_CHECKS])
            more = len(failed) - _MAX_LISTED_CHECKS
            raise PackError(
                f"The pack is invalid: {listed}{f', and {more} more' if more > 0 else ''}.",
                hint="Nothing was installed. Get the pack again, or tell its publisher.",
            )
        for check in checks:
            if check.name == SEARCH and not check.passed:
                self.progress.note(f"The search was not tested: {check.detail} {check.fix}".rstrip())
        self.progress.advance(1)

    def _installed(
        self, name: str, ready: UnpackedPack, folder: Path, before: str | None, *, changed: bool
    ) -> Installed:
        return Installed(
            name=name,
            version=ready.manifest.version,
            digest=ready.manifest.digest,
            folder=folder,
            source=redact_source(self.source),
            sha256=ready.sha256,
            signer=ready.signer.fingerprint if ready.signer else None,
            before=before,
            changed=changed,
        )


def _copy(source: Path, new: Path) -> UnpackedPack:
    """Copy the pack in the folder ``source``: only its parts, worked examples and gold questions."""
    layout = find_pack(source)
    with layout.reading():
        content = _read_manifest_file(layout)
        manifest = parse_manifest(content, f"The manifest of {source}")
        signature = _read_signature(layout)
        signer = valid_signer(signature, content)
        # From a signed pack, only the files that the signature covers.
        extras = [] if signer else [name for name in EXTRAS if file_path(layout, name).is_file()]
        new.mkdir()
        for name in sorted({*manifest.files, *extras}):
            if not is_pack_file(name):
                raise PackError(
                    f"The manifest of {source} lists {name[:80]!r}, which is not a file of a pack.",
                    hint="Build the pack again with `wikigr pack build`.",
                )
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(pack_file(layout, name), new / name, follow_symlinks=False)
    (new / MANIFEST).write_bytes(content)
    if signer is not None and signature is not None:
        (new / SIGNATURE).write_bytes(signature)
    return UnpackedPack(new, manifest, signer, None)


def _read_manifest_file(layout: Layout) -> bytes:
    path = layout.part(MANIFEST)
    if path.is_symlink() or path.stat().st_size > MAX_MANIFEST_BYTES:
        raise PackError(f"{path} is a link or too large for a manifest.", hint="Build the pack again.")
    return path.read_bytes()


def _read_signature(layout: Layout) -> bytes | None:
    path = layout.signature()
    return read_signature(path) if path is not None and not path.is_symlink() else None


def _identity(folder: Path) -> str:
    """Return a hash that covers a pack's folder: its manifest, and the files that the manifest may not list."""
    digest = hashlib.sha256()
    for name in (MANIFEST, SIGNATURE, *EXTRAS):
        path = folder / name
        digest.update(f"{name}\0{file_sha256(path) if path.is_file() else ''}\n".encode())
    return digest.hexdigest()


def _damaged(folder: Path, manifest: Manifest, identity: str) -> str | None:
    """Return which part of the installed pack in ``folder`` has changed since the installation, or ``None``."""
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
            f"{name[:80]!r} is not a valid pack name. A name consists of at most 100 letters, digits, dots, dashes and "
            "underscores, and starts with a letter, a digit or an underscore.",
            hint="Choose another one with --name.",
        )


def _not_installed(store: InstalledVersions, name: str) -> PackError:
    if store.is_foreign(name) and is_pack_name(name):
        return PackError(
            f"{store.root / name} was put there by hand, not by `wikigr pack install`.", hint="Remove it by hand."
        )
    names = [known for known in installed_names() if store.current_version(known) is not None]
    hint = did_you_mean(nearest(name, names), "`wikigr pack list` lists the installed packs.", shown=str)
    return PackError(f"No pack {name[:80]!r} is installed.", hint=hint)


@contextmanager
def _disk_errors(store: InstalledVersions, done: str) -> Iterator[None]:
    """Raise ``InstallError`` with a hint for an ``OSError``."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = "Free some disk space, then run the same command again."
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            hint = f"Make {store.root} writable, or set XDG_DATA_HOME to another folder."
        else:
            hint = "Fix that, then run the same command again. The packs installed before are unchanged."
        where = f" ({error.filename})" if error.filename is not None else ""
        raise InstallError(f"The pack was not {done}: {error.strerror or error}{where}.", hint=hint) from error
