"""Where installed packs lie, and how one version takes the place of another.

Every version has a folder ``.versions/NAME/VERSION-HASH`` of its own, and the name itself is a relative link to one of
them. A new version is made ready in a hidden folder, synced, renamed to its place, and then the link is replaced: a
kill at any moment leaves the old version in use or the new one. The version before stays, for processes that have it
open or are about to open it. What a killed process left behind is removed by the next one that writes here.
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
from wikigr.pack.layout import ORIGIN, VERSIONS
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
    """Where an installed version came from, and who vouched for it.

    ``source`` is a URL or an absolute path; ``sha256`` that of the archive (``None`` for a folder); ``pinned`` tells
    whether the user had given it. ``signer`` is a key's fingerprint. ``identity`` is a hash of the installed files.
    ``before`` names the folder of the version that was in use until then. ``installed`` is an ISO 8601 time in UTC.
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
    """Return where the installed version in ``folder`` came from; raises ``PackError`` when that is not known."""
    try:
        fields: Any = json.loads((folder / ORIGIN).read_text(encoding="utf-8"))
        return Origin(**fields)
    except (OSError, ValueError, TypeError) as error:
        raise PackError(
            f"It is not known where the pack in {folder} came from: {folder / ORIGIN} cannot be read.",
            hint="Remove it with `wikigr pack remove NAME`, then install it again.",
        ) from error


def write_origin(folder: Path, origin: Origin) -> None:
    """Keep where the version in ``folder`` comes from; only its user may read it, for a URL may hold a token."""
    write_atomic(folder / ORIGIN, json.dumps(asdict(origin), indent=2) + "\n")
    (folder / ORIGIN).chmod(0o600)


class Store:
    """The installed packs in the folder ``root``. What writes here holds the store (``held``)."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._versions = root / VERSIONS

    @contextmanager
    def held(self, progress: Progress) -> Iterator[None]:
        """Keep other processes from writing to the store, and remove what killed ones have left; raises ``OSError``."""
        self._versions.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._versions / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                progress.note("Waiting for another process that installs or removes a pack.")
                fcntl.flock(handle, fcntl.LOCK_EX)
            self.clean()
            yield
        finally:
            os.close(handle)

    def current(self, name: str) -> Path | None:
        """Return the folder of the version of ``name`` in use, or ``None``: not installed, or put there by hand."""
        link = self.root / name
        if not is_pack_name(name) or not link.is_symlink():
            return None
        target = link.readlink()
        ours = len(target.parts) == 3 and target.parts[:2] == (VERSIONS, name)
        return self.root / target if ours and (self.root / target).is_dir() else None

    def is_taken(self, name: str) -> bool:
        """Tell whether ``name`` is something that was put there by hand."""
        link = self.root / name
        ours = link.is_symlink() and link.readlink().parts[:2] == (VERSIONS, name)
        return os.path.lexists(link) and not ours

    def new_folder(self) -> Path:
        """Return a path for a version that is being made; nothing is there yet."""
        return self._versions / f"{_NEW}{os.getpid()}-{secrets.token_hex(4)}"

    def put(self, new: Path, name: str, version: str, identity: str) -> Path:
        """Make the finished folder ``new`` the version of ``name`` in use and return its place; raises ``OSError``."""
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
        """Remove ``name``, then its versions. A process that has one open keeps it until it ends."""
        (self.root / name).unlink()
        sync(self.root)
        self.clean()

    def clean(self) -> None:
        """Remove what no name leads to, but for the version before the one in use."""
        for link in self.root.glob(f"{_LINK}*"):
            link.unlink()
        for entry in sorted(self._versions.iterdir()):
            if entry.name.startswith(_NEW):
                shutil.rmtree(entry)
            elif is_pack_name(entry.name) and entry.is_dir():
                self._clean_versions(entry)

    def _clean_versions(self, versions: Path) -> None:
        current = self.current(versions.name)
        if current is None:
            shutil.rmtree(versions)
            return
        kept = {current.name, _before(current)}
        for version in sorted(versions.iterdir()):
            if version.name not in kept:
                shutil.rmtree(version)

    def _free_place(self, name: str, version: str, identity: str) -> Path:
        """Return a place for a version: the same one may lie there already, damaged or from before."""
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


def sync(path: Path) -> None:
    """Make sure that ``path``, a file or a folder, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
