"""Install a pack under a name from an archive, a URL or a folder; update and remove installed packs.

A pack from somebody else is unpacked into a hidden folder, its signer is compared with the trusted keys, and its
content is validated in a child process, including a search. Only then is it synced and renamed to
``.versions/NAME/VERSION-…``, the relative link ``NAME`` is switched to it, and the version before is removed.
A kill at any moment leaves either the old or the new version in use. Leftovers of a killed process are removed by the
next process that writes here.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wikigr.distribution.archive import UnpackedPack, export_pack, normalize_sha256, temporary_folder, unpack
from wikigr.distribution.download import is_url, open_download, redact_url
from wikigr.distribution.signature import PublicKey
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.files import locked, read_regular, sync, sync_tree, write_atomic
from wikigr.pack.layout import MANIFEST, ORIGIN, SIGNATURE, VERSIONS, Layout, installed_packs
from wikigr.pack.locate import installed_names, is_pack_name
from wikigr.pack.manifest import (
    EXTRAS,
    Manifest,
    check_file,
    file_sha256,
    is_lower_version,
    parse_version,
    read_manifest,
)
from wikigr.pack.remove import user_files
from wikigr.progress import Progress, Silent
from wikigr.settings import cache_folder
from wikigr.suggestions import did_you_mean, nearest

_MAX_DOWNLOAD_BYTES = 64 << 30
_NEW = ".new-"
_LINK = ".link-"


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


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an installed pack came from.

    ``source`` is a URL or an absolute path. ``sha256`` is the hash of the archive (``None`` for a folder), and
    ``pinned`` whether the user specified it. ``signer`` is a key's fingerprint. ``identity`` is a hash of the installed
    files. ``installed`` is an ISO 8601 time in UTC.
    """

    source: str
    sha256: str | None
    pinned: bool
    signer: str | None
    allow_private: bool
    identity: str
    installed: str


def read_origin(folder: Path) -> Origin:
    """Return where the installed pack in ``folder`` came from; raises ``PackError`` when that is unknown."""
    try:
        fields: Any = json.loads(read_regular(folder / ORIGIN, 1 << 20))
        return Origin(**{name: fields[name] for name in Origin.__slots__})
    except (OSError, ValueError, TypeError, LookupError) as error:
        raise PackError(
            f"The origin of the pack in {folder} is unknown: cannot read {folder / ORIGIN}.",
            hint="Remove the pack with `wikigr pack remove NAME`, then install it again.",
        ) from error


class PackStore:
    """The installed packs in the folder ``root``. Methods that write require ``lock``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._versions = root / VERSIONS

    @contextmanager
    def lock(self, progress: Progress) -> Iterator[None]:
        """Lock the folder for writing and remove leftovers of killed processes; raises ``OSError``."""
        self._versions.mkdir(parents=True, exist_ok=True)
        waiting = "Waiting for another process that is installing or removing a pack."
        with locked(self._versions / ".lock", on_wait=lambda: progress.note(waiting)):
            self.remove_stale()
            yield

    def current(self, name: str) -> Path | None:
        """Return the folder to which the name links, or ``None`` if the pack was not installed here."""
        folder = self.root / name
        return folder.parent / folder.readlink() if self.is_installed(name) and folder.is_dir() else None

    def is_installed(self, name: str) -> bool:
        """Return whether ``name`` was installed here, even if the folder to which it links is missing."""
        return is_pack_name(name) and os.path.lexists(self.root / name) and not self.is_foreign(name)

    def is_foreign(self, name: str) -> bool:
        """Return whether ``name`` exists but was put there by hand."""
        link = self.root / name
        target = link.readlink().parts if link.is_symlink() else ()
        return os.path.lexists(link) and not (len(target) == 3 and target[:2] == (VERSIONS, name))

    def new_folder(self) -> Path:
        """Return an unused path in which to prepare a pack."""
        return self._versions / f"{_NEW}{secrets.token_hex(8)}"

    def activate(self, new: Path, name: str, version: str) -> Path:
        """Make the prepared folder ``new`` the installed pack ``name``; returns its path, raises ``OSError``."""
        label = re.sub(r"[^A-Za-z0-9._+-]|^\.", "_", version)[:60]
        place = self._versions / name / f"{label}-{secrets.token_hex(6)}"
        place.parent.mkdir(exist_ok=True)
        new.rename(place)
        sync(place.parent)
        sync(self._versions)
        link = self.root / f"{_LINK}{secrets.token_hex(8)}"
        link.symlink_to(place.relative_to(self.root))
        link.replace(self.root / name)
        sync(self.root)
        self.remove_stale()
        return place

    def remove(self, name: str) -> None:
        """Remove ``name`` and its folder, unless that contains files of the user, which raises ``UsageError``."""
        folder = self.current(name)
        found = user_files(Layout(folder)) if folder is not None else []
        if folder is not None and found:
            raise UsageError(
                f"{name} is not removed, because {folder / found[0]} is not part of the pack"
                + (f", and neither are {len(found) - 1:,} more files." if found[1:] else "."),
                hint="Move it away, then run the same command again.",
            )
        (self.root / name).unlink()
        sync(self.root)
        self.remove_stale()

    def remove_stale(self) -> None:
        """Remove everything to which no name links."""
        for link in self.root.glob(f"{_LINK}*"):
            link.unlink()
        for entry in sorted(self._versions.iterdir()):
            if entry.name.startswith(_NEW):
                shutil.rmtree(entry)
            elif is_pack_name(entry.name) and entry.is_dir():
                current = self.current(entry.name)
                for version in entry.iterdir():
                    if version != current:
                        shutil.rmtree(version)
                if current is None:
                    entry.rmdir()


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
    arguments, and ``WikigrError`` when a download or the disk fails.
    """
    source, sha256, progress = str(source), normalize_sha256(sha256), progress or Silent()
    if name is not None:
        _require_name(name)
    installation = _Installation(source, sha256, tuple(trust), name, force, allow_private, progress)
    if is_url(source):
        downloads = cache_folder() / "downloads"
        with open_download(
            source, downloads, max_bytes=_MAX_DOWNLOAD_BYTES, allow_private=allow_private, progress=progress
        ) as archive:
            return installation.run(archive)
    if Path(source).is_dir():
        if sha256 is not None:
            raise UsageError("--sha256 requires an archive, not a pack's folder.", hint="Use the archive file.")
        with temporary_folder("a copy of the pack") as folder:
            archive = export_pack(source, folder / "pack.wikigr").file
            return replace(installation.run(archive), sha256=None)
    return installation.run(Path(source))


def update_installed(name: str, *, force: bool = False, progress: Progress | None = None) -> Installed:
    """Install the latest version of the installed pack ``name`` from the source that it came from.

    If the installed version is signed, the same key must have signed the new one. ``changed`` is false when there is no
    new version. Raises like ``install``, and ``PackError`` when the pack is not installed or an update cannot be
    authenticated.
    """
    store = PackStore(installed_packs())
    folder = store.current(name)
    if folder is None:
        raise _not_installed(store, name)
    origin = read_origin(folder)
    if origin.pinned and origin.signer is None:
        raise PackError(
            f"{name} was installed with the SHA-256 of an archive and is not signed, so an update cannot be "
            "authenticated.",
            hint=f"Install the new archive with its own SHA-256: wikigr pack install {_redacted(origin.source)} "
            f"--name {name} --sha256 HEX",
        )
    return install(origin.source, name=name, force=force, allow_private=origin.allow_private, progress=progress)


def remove(name: str) -> None:
    """Remove the installed pack ``name``; a process that has its files open can use them until it exits.

    Raises ``PackError`` when there is no such pack, ``UsageError`` when its folder contains files of the user, and
    ``WikigrError`` when it cannot be removed.
    """
    require_installed(name)
    store = PackStore(installed_packs())
    with _disk_errors(store, "removed"), store.lock(Silent()):
        require_installed(name)
        store.remove(name)


def require_installed(name: str) -> None:
    """Raise ``PackError`` unless ``name`` was installed, which is also true if its folder is missing."""
    store = PackStore(installed_packs())
    if not store.is_installed(name):
        raise _not_installed(store, name)


@dataclass(frozen=True, slots=True)
class _Installation:
    """One installation and its options; ``source`` is what the user gave."""

    source: str
    sha256: str | None
    trust: tuple[PublicKey, ...]
    name: str | None
    force: bool
    allow_private: bool
    progress: Progress

    def run(self, path: Path) -> Installed:
        """Install the archive at ``path``."""
        if not path.is_file():
            raise PackError(
                f"There is neither an archive nor a pack at {path}.",
                hint="Use an archive (created with `wikigr pack export`), its https:// URL, or a pack's folder.",
            )
        if self.sha256 is not None:
            # Before anything else reads the archive.
            self._require_sha256(file_sha256(path))
        store = PackStore(installed_packs())
        with _disk_errors(store, "installed"), store.lock(self.progress):
            new = store.new_folder()
            try:
                self.progress.start("unpacking", 1, "pack")
                ready = unpack(path, new)
                self.progress.advance(1)
                # The file may have changed since it was hashed.
                self._require_sha256(ready.sha256)
                if self.trust and ready.signer not in self.trust:
                    raise PackError(
                        f"The pack is signed by {ready.signer.fingerprint}, which is not a trusted key."
                        if ready.signer
                        else "The pack is not signed, but --trust requires a signature.",
                        hint="Nothing was installed. Ask the publisher which key signs the pack.",
                    )
                return self._activate(store, ready)
            finally:
                if new.exists():
                    shutil.rmtree(new)

    def _require_sha256(self, found: str) -> None:
        if self.sha256 not in (None, found):
            raise PackError(
                f"{_redacted(self.source)} is not the expected file: its SHA-256 is {found}, not {self.sha256}.",
                hint="Nothing was installed. Ask the publisher which of the two is right.",
            )

    def _activate(self, store: PackStore, ready: UnpackedPack) -> Installed:
        """Make the prepared pack the installed one of its name, if that is permitted and the pack is valid."""
        manifest, name = ready.manifest, self.name or ready.manifest.name
        signer = ready.signer.fingerprint if ready.signer else None
        _require_name(name)
        if store.is_foreign(name):
            raise UsageError(
                f"{store.root / name} was put there by hand and is not replaced.",
                hint="Move it away, or install under another name with --name.",
            )
        identity = _identity(ready.folder)
        result = Installed(
            name, manifest.version, manifest.digest, ready.folder, _redacted(self.source), ready.sha256, signer,
            before=manifest.version, changed=False,
        )  # fmt: skip
        old = store.current(name)
        if old is not None and read_origin(old).identity == identity:
            damage = _damage(old, manifest, identity)
            if damage is None:
                return replace(result, folder=old)
            self.progress.note(f"The installed pack is damaged ({damage}) and is installed again.")
        else:
            result = replace(result, before=self._require_successor(name, ready, old))
        self._validate(ready)
        origin = Origin(
            source=self.source if is_url(self.source) else str(Path(self.source).resolve()),
            sha256=ready.sha256,
            pinned=self.sha256 is not None,
            signer=signer,
            allow_private=self.allow_private,
            identity=identity,
            installed=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        write_atomic(ready.folder / ORIGIN, json.dumps(asdict(origin), indent=2) + "\n")
        # A URL may contain a token.
        (ready.folder / ORIGIN).chmod(0o600)
        sync_tree(ready.folder)
        place = store.activate(ready.folder, name, manifest.version)
        if Path(name).exists():
            self.progress.note(f"In this folder, ./{name} takes precedence over the installed pack of that name.")
        return replace(result, folder=place, changed=True)

    def _require_successor(self, name: str, ready: UnpackedPack, old: Path | None) -> str | None:
        """Return the version that ``ready`` replaces, ``None`` if there is none.

        Raises ``PackError`` or ``UsageError`` when ``ready`` must not replace it, unless ``force`` is set.
        """
        new = ready.manifest
        unversioned = PackError(
            f"The pack's version {new.version[:80]!r} is not a semantic version, so it cannot be compared with others.",
            hint="Ask the publisher for one such as 1.2.0, or install it anyway with --force.",
        )
        if old is None:
            if parse_version(new.version) is None and not self.force:
                raise unversioned
            return None
        try:
            installed = read_manifest(old / MANIFEST)
        except PackError as error:
            hint = f"Remove it with `wikigr pack remove {name}`, then install it again."
            raise PackError(error.message, hint=hint) from error
        if self.force:
            return installed.version
        known, signer = read_origin(old).signer, ready.signer.fingerprint if ready.signer else None
        if known not in (None, signer):
            raise PackError(
                f"{name} {installed.version} was signed by {known}, but this pack is "
                + (f"signed by {signer}." if signer else "not signed."),
                hint="If you know why, install it anyway with --force.",
            )
        if new.name != installed.name:
            # A publisher may sign several packs, and a server must not be able to substitute one for another.
            raise PackError(
                f"{name} is the pack {installed.name[:80]!r}, but this is {new.name[:80]!r}.",
                hint="If the pack was renamed, install it with --force. For another pack, choose another --name.",
            )
        if parse_version(new.version) is None:
            raise unversioned
        if is_lower_version(new.version, installed.version):
            raise UsageError(
                f"{name} {installed.version} is installed, but this is {new.version}, a lower version.",
                hint="Install it anyway with --force.",
            )
        return installed.version

    def _validate(self, ready: UnpackedPack) -> None:
        from wikigr.distribution.untrusted_checks import SEARCH
        from wikigr.distribution.verify import validate_untrusted

        self.progress.start("validating", 1, "pack")
        checks = validate_untrusted(ready.folder)
        failed = [f"{check.name}: {check.detail}" for check in checks if check.required and not check.passed]
        if failed:
            more = f", and {len(failed) - 3} more" if len(failed) > 3 else ""
            raise PackError(
                f"The pack is invalid: {'; '.join(failed[:3])}{more}.",
                hint="Nothing was installed. Get the pack again, or tell its publisher.",
            )
        for check in checks:
            if check.name == SEARCH and not check.passed:
                self.progress.note(f"The search was not tested: {check.detail} {check.fix}".rstrip())
        self.progress.advance(1)


def _identity(folder: Path) -> str:
    """Return a hash that covers a pack's folder: its manifest, and the files that the manifest may not list."""
    digest = hashlib.sha256()
    for name in (MANIFEST, SIGNATURE, *EXTRAS):
        path = folder / name
        digest.update(f"{name}\0{file_sha256(path) if path.is_file() else ''}\n".encode())
    return digest.hexdigest()


def _damage(folder: Path, manifest: Manifest, identity: str) -> str | None:
    """Return which part of the installed pack in ``folder`` has changed since the installation, or ``None``."""
    if _identity(folder) != identity:
        return "its manifest, signature, examples or questions"
    return next((name for name, record in manifest.files.items() if check_file(folder / name, record)), None)


def _redacted(source: str) -> str:
    """Return ``source``, without the parts that may be secret if it is a URL."""
    return redact_url(source) if is_url(source) else source


def _require_name(name: str) -> None:
    if not is_pack_name(name):
        raise UsageError(
            f"{name[:80]!r} is not a valid pack name. A name consists of at most 100 letters, digits, dots, dashes and "
            "underscores, and starts with a letter, a digit or an underscore.",
            hint="Choose another one with --name.",
        )


def _not_installed(store: PackStore, name: str) -> PackError:
    if is_pack_name(name) and store.is_foreign(name):
        return PackError(
            f"{store.root / name} was put there by hand, not by `wikigr pack install`.", hint="Remove it by hand."
        )
    names = [known for known in installed_names() if store.current(known) is not None]
    hint = did_you_mean(nearest(name, names), "`wikigr pack list` lists the installed packs.", shown=str)
    return PackError(f"No pack {name[:80]!r} is installed.", hint=hint)


@contextmanager
def _disk_errors(store: PackStore, done: str) -> Iterator[None]:
    """Raise ``WikigrError`` with a hint for an ``OSError``."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = "Free some disk space, then run the same command again."
        else:
            hint = f"Make {store.root} a writable folder, or set XDG_DATA_HOME to another one."
        where = f" ({error.filename})" if error.filename is not None else ""
        raise WikigrError(f"The pack was not {done}: {error.strerror or error}{where}.", hint=hint) from error
