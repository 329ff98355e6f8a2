"""Where the parts of a pack lie, and how a finished build takes the place of the old one.

A pack's folder may also hold its sources (articles, gold questions), which a build never touches. The parts
that a build makes are prepared in ``.wikigr/new``; then a marker is written, the parts are renamed into place one
by one, and the marker is removed. Whoever opens the pack while the marker is there takes each part from
``.wikigr/new`` if it is still there: so a kill at any moment leaves the old pack or the new one.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wikigr.errors import BuildError, UsageError
from wikigr.settings import data_folder

MANIFEST = "manifest.json"
DATABASE = "pack.db"
LEXICAL = "lexical"
PAGERANK = "pagerank_cache.json"
GRAPH_INDEX = "graph_index.npz"
ENCODER = "encoder"
# In the order in which they are moved into place. The encoder is optional: the manifest says whether it counts.
PARTS = (DATABASE, LEXICAL, PAGERANK, GRAPH_INDEX, ENCODER, MANIFEST)
# Who signed the manifest, and where an installed pack came from: neither is true of another manifest.
SIGNATURE = "signature.json"
ORIGIN = ".origin.json"
# Below the folder of the installed packs: the versions that their names lead to.
VERSIONS = ".versions"

_WORK = ".wikigr"
_NEW = "new"
_MARKER = "commit"
_STAGING = "staging.sqlite"


def installed_packs() -> Path:
    """Return the folder that holds the installed packs by name; it need not exist.

    What `wikigr pack install` has put there is a link to the version that is used, in ``.versions/NAME``.
    """
    return data_folder() / "packs"


def installed_name(folder: Path) -> str | None:
    """Return the name of the installed pack whose version lies in ``folder``, or that it leads to, else ``None``."""
    versions = folder.resolve().parent.parent
    return folder.resolve().parent.name if versions == (installed_packs() / VERSIONS).resolve() else None


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of one pack folder."""

    root: Path

    @property
    def work(self) -> Path:
        return self.root / _WORK

    @property
    def new(self) -> Path:
        return self.work / _NEW

    @property
    def staging(self) -> Path:
        return self.work / _STAGING

    @property
    def _marker(self) -> Path:
        return self.work / _MARKER

    def part(self, name: str) -> Path:
        """Return where ``name`` is now; the path need not exist."""
        pending = self.new / name
        if self._marker.exists() and pending.exists():
            return pending
        return self.root / name

    def exists(self) -> bool:
        return self.part(MANIFEST).is_file()

    def signature(self) -> Path | None:
        """Return the file with the signature of the manifest; ``None`` when there is none, or a commit drops it."""
        path = self.root / SIGNATURE
        return path if path.is_file() and self.part(MANIFEST) == self.root / MANIFEST else None

    def unfinished(self) -> bool:
        """Tell whether a build was begun here and neither finished nor cleaned up."""
        return self.staging.exists()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Keep a build from moving parts while they are being opened (milliseconds).

        A folder that cannot be written has no builds, so a lock that cannot be opened is no error.
        """
        try:
            handle = os.open(self.work / "commit.lock", os.O_RDONLY)
        except OSError:
            yield
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)
            yield
        finally:
            os.close(handle)

    @contextmanager
    def building(self) -> Iterator[None]:
        """Hold the folder for what writes a pack into it.

        Raises ``BuildError`` when another process builds here or the folder cannot be written, and ``UsageError`` when
        it is that of an installed pack.
        """
        self.refuse_installed()
        try:
            self.work.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.work / "build.lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise BuildError(
                f"The folder {self.root} cannot be written: {error.strerror}.",
                hint=f"Make it writable, or change a copy: cp -RL {shlex.quote(str(self.root))} COPY"
                if self.exists()
                else "Choose another folder with -o, or change its permissions.",
            ) from error
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise BuildError(
                    f"Another process is building a pack in {self.root}.", hint="Wait until it has finished."
                ) from error
            self._refuse_foreign_files()
            self._roll_forward()
            yield
        finally:
            os.close(handle)

    def refuse_installed(self) -> None:
        """Raise ``UsageError`` when the folder is that of an installed pack, in which nothing may be written."""
        name = installed_name(self.root)
        if name is not None:
            raise UsageError(
                f"{name} is an installed pack: its content is its publisher's, and it would no longer be what was "
                "signed and proved.",
                hint=f"Change a copy: cp -RL {shlex.quote(str(self.root))} COPY, then the same command with COPY.",
            )

    def _refuse_foreign_files(self) -> None:
        """Never overwrite what is not ours: a user's own file or folder may be called like a part."""
        taken = [name for name in PARTS if (self.root / name).exists()]
        if not taken or self._marker.exists():
            return
        try:
            ours = "wikigr_version" in json.loads((self.root / MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError):
            ours = False
        if not ours:
            raise BuildError(
                f"{self.root} holds {', '.join(taken)}, which no build of wikigr has made, and the pack's files would "
                "replace it.",
                hint="Choose another folder with -o, or move it away.",
            )

    def clear_new(self) -> None:
        """Remove parts that a killed build had prepared but not committed, and make an empty place."""
        _discard(self.new)
        self.new.mkdir(parents=True)

    def commit(self, *, keep_encoder: bool) -> None:
        """Make the parts in ``.wikigr/new`` the pack, all or none, and drop the staging file.

        Without ``keep_encoder`` an encoder that an older build had bundled is removed afterwards.
        """
        self.replace_parts()
        if not keep_encoder:
            _discard(self.root / ENCODER)
        self.drop_staging()

    def drop_staging(self) -> None:
        """Remove the working store of a build that is finished or given up."""
        for leftover in self.work.glob(f"{_STAGING}*"):
            leftover.unlink()

    def replace_parts(self) -> None:
        """Put the parts in ``.wikigr/new`` in the place of the pack's, all or none; the other parts stay."""
        _sync_tree(self.new)
        _sync(self.work)
        self._marker.touch()
        _sync(self._marker)
        _sync(self.work)
        self._roll_forward()

    def _roll_forward(self) -> None:
        """Finish a commit whose marker is set; does nothing without a marker. Safe to repeat."""
        if not self._marker.exists():
            return
        lock = os.open(self.work / "commit.lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            old = self.work / "old"
            old.mkdir(exist_ok=True)
            for name in PARTS:
                pending, final = self.new / name, self.root / name
                if pending.exists():
                    if name == MANIFEST and not _same(pending, final):
                        _discard(self.root / SIGNATURE)
                        _discard(self.root / ORIGIN)
                    if final.is_dir():
                        _discard(old / name)
                        final.rename(old / name)
                    pending.replace(final)
            _sync(self.root)
            self._marker.unlink()
            _sync(self.work)
            _discard(old)
            _discard(self.new)
        finally:
            os.close(lock)


def _same(one: Path, other: Path) -> bool:
    return other.is_file() and one.read_bytes() == other.read_bytes()


def _discard(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_tree(root: Path) -> None:
    for folder, _, files in os.walk(root, topdown=False):
        for name in files:
            _sync(Path(folder) / name)
        _sync(Path(folder))
