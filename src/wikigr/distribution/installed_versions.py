"""The versions of the installed packs, and how to switch a pack atomically from one version to another.

Each version has its own folder ``.versions/NAME/VERSION-HASH``, and the name is a relative link to one of them. A new
version is prepared in a hidden folder, synced and renamed into place; then the link is replaced. A kill at any moment
leaves either the old or the new version current. The previous version stays, because other processes may have it open.
Leftovers of a killed process are removed by the next process that writes here.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wikigr.atomic import write_atomic
from wikigr.errors import PackError
from wikigr.pack.layout import ORIGIN, VERSIONS, sync
from wikigr.pack.locate import is_pack_name
from wikigr.progress import Progress

_LOCK = ".lock"
_NEW = ".new-"
_LINK = ".link-"
_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]|^\.")
_MAX_VERSION_LENGTH = 60
_HASH_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an installed version came from.

    ``source`` is a URL or an absolute path. ``sha256`` is the hash of the archive (``None`` for a folder), and
    ``pinned`` whether the user specified it. ``signer`` is a key's fingerprint. ``identity`` is a hash of the installed
    files. ``before`` is the name of the previous version's folder. ``installed`` is an ISO 8601 time in UTC.
    """

    source: str
    sha256: str | None
    pinned: bool
    signer: str | None
    allow_private: bool
    identity: str
    before: str | None
    installed: str


def read_origin(folder: Path) -> Origin:
    """Return where the installed version in ``folder`` came from; raises ``PackError`` when that is unknown."""
    try:
        fields: Any = json.loads((folder / ORIGIN).read_text(encoding="utf-8"))
        return Origin(**fields)
    except (OSError, ValueError, TypeError) as error:
        raise PackError(
            f"The origin of the pack in {folder} is unknown: cannot read {folder / ORIGIN}.",
            hint="Remove the pack with `wikigr pack remove NAME`, then install it again.",
        ) from error


def write_origin(folder: Path, origin: Origin) -> None:
    """Store the origin of the version in ``folder``, readable by its owner only because a URL may contain a token."""
    write_atomic(folder / ORIGIN, json.dumps(asdict(origin), indent=2) + "\n")
    (folder / ORIGIN).chmod(0o600)


class InstalledVersions:
    """The installed packs in the folder ``root``. Methods that write require ``lock``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._versions = root / VERSIONS

    @contextmanager
    def lock(self, progress: Progress) -> Iterator[None]:
        """Lock the folder for writing and remove leftovers of killed processes; raises ``OSError``."""
        self._versions.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._versions / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                progress.note("Waiting for another process that is installing or removing a pack.")
                fcntl.flock(handle, fcntl.LOCK_EX)
            self.remove_stale()
            yield
        finally:
            os.close(handle)

    def current_version(self, name: str) -> Path | None:
        """Return the folder of the current version of ``name``, or ``None`` if it was not installed here."""
        link = self.root / name
        if not is_pack_name(name) or not link.is_symlink():
            return None
        target = link.readlink()
        ours = len(target.parts) == 3 and target.parts[:2] == (VERSIONS, name)
        return self.root / target if ours and (self.root / target).is_dir() else None

    def is_installed(self, name: str) -> bool:
        """Return whether ``name`` was installed here, even if its current version is missing."""
        return is_pack_name(name) and os.path.lexists(self.root / name) and not self.is_foreign(name)

    def versions(self, name: str) -> list[Path]:
        """Return the folders of the versions of ``name``."""
        folder = self._versions / name
        return sorted(folder.iterdir()) if is_pack_name(name) and folder.is_dir() else []

    def is_foreign(self, name: str) -> bool:
        """Return whether ``name`` exists but was put there by hand."""
        link = self.root / name
        ours = link.is_symlink() and link.readlink().parts[:2] == (VERSIONS, name)
        return os.path.lexists(link) and not ours

    def new_folder(self) -> Path:
        """Return an unused path in which to prepare a version."""
        return self._versions / f"{_NEW}{os.getpid()}-{secrets.token_hex(4)}"

    def activate(self, new: Path, name: str, version: str, identity: str) -> Path:
        """Make the prepared folder ``new`` the current version of ``name``; returns its path, raises ``OSError``."""
        place = self._free_place(name, version, identity)
        place.parent.mkdir(exist_ok=True)
        new.rename(place)
        sync(place.parent)
        sync(self._versions)
        link = self.root / f"{_LINK}{os.getpid()}-{secrets.token_hex(4)}"
        link.symlink_to(place.relative_to(self.root))
        link.replace(self.root / name)
        sync(self.root)
        return place

    def remove(self, name: str) -> None:
        """Remove ``name`` and its versions. A process that has one open can use it until it exits."""
        (self.root / name).unlink()
        sync(self.root)
        self.remove_stale()

    def remove_stale(self) -> None:
        """Remove everything that is neither a current version nor the one before it."""
        for link in self.root.glob(f"{_LINK}*"):
            link.unlink()
        for entry in sorted(self._versions.iterdir()):
            if entry.name.startswith(_NEW):
                shutil.rmtree(entry)
            elif is_pack_name(entry.name) and entry.is_dir():
                self._remove_stale_versions(entry)

    def _remove_stale_versions(self, versions: Path) -> None:
        current = self.current_version(versions.name)
        if current is None:
            shutil.rmtree(versions)
            return
        kept = {current.name, _before(current)}
        for version in sorted(versions.iterdir()):
            if version.name not in kept:
                shutil.rmtree(version)

    def _free_place(self, name: str, version: str, identity: str) -> Path:
        """Return an unused path for a version; the same version may already exist, damaged or as the previous one."""
        label = f"{_UNSAFE.sub('_', version)[:_MAX_VERSION_LENGTH]}-{identity[:_HASH_DIGITS]}"
        place, count = self._versions / name / label, 1
        while place.exists():
            count += 1
            place = self._versions / name / f"{label}-{count}"
        return place


def _before(folder: Path) -> str | None:
    try:
        return read_origin(folder).before
    except PackError:
        return None
