"""The files of a pack, and how a finished build replaces them atomically.

A pack's folder may also contain its sources (articles, gold questions), which a build never touches. A build prepares
its parts in ``.wikigr/new``, writes a marker, renames the parts into place one by one, and removes the marker. While
the marker exists, readers take each part from ``.wikigr/new`` if it is still there. A kill at any moment therefore
leaves either the old pack or the new one.

The manifest lists every file that wikigr created. Files that it does not list belong to the user: a build that would
replace or delete one of them is refused.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wikigr.errors import BuildError, UsageError
from wikigr.files import locked, read_regular, sync, sync_tree
from wikigr.settings import data_folder
from wikigr.text import some_of

MANIFEST = "manifest.json"
DATABASE = "pack.db"
LEXICAL = "lexical"
PAGERANK = "pagerank_cache.json"
GRAPH_INDEX = "graph_index.npz"
VECTORS = "vectors"
ENCODER = "encoder"
# In the order in which they are moved into place. The manifest says whether the pack uses a bundled encoder.
PARTS = (DATABASE, LEXICAL, PAGERANK, GRAPH_INDEX, VECTORS, ENCODER, MANIFEST)
# The signature of the manifest, and where an installed pack came from. Both become invalid with another manifest.
SIGNATURE = "signature.json"
ORIGIN = ".origin.json"
# A signature or an origin that wikigr wrote has at least these keys.
_KEYS = {SIGNATURE: {"algorithm", "public_key", "signature"}, ORIGIN: {"source", "identity"}}
# Files of the lexical index that tantivy creates when it opens the index. The manifest does not list hidden files.
INDEX_FILES = frozenset(f"{LEXICAL}/{name}" for name in (".managed.json", ".tantivy-meta.lock", ".tantivy-writer.lock"))
# Subfolder of the installed packs that contains their versions; each pack's name links to one of them.
VERSIONS = ".versions"

# The files in the folder ``.wikigr``; the locks go last. ``source`` is the record of the folder that
# the pack was built from.
_WORKING_FILES = ("new", "old", "commit", "engine.log", "source", "commit.lock", "build.lock")
_STAGING = "staging.sqlite"


def installed_packs() -> Path:
    """Return the folder of the installed packs; it may not exist yet.

    `wikigr pack install` puts a link there for each pack, to its current version in ``.versions/NAME``.
    """
    return data_folder() / "packs"


def installed_name(folder: Path) -> str | None:
    """Return the name of the installed pack if ``folder`` is one of its versions or links to one, else ``None``."""
    versions = folder.resolve().parent.parent
    return folder.resolve().parent.name if versions == (installed_packs() / VERSIONS).resolve() else None


def readable_path(path: Path) -> Path:
    """Return ``path`` for a message: the absolute path for ``.`` and ``..``, which do not say which folder it is."""
    return path.resolve() if path.name in ("", "..") else path


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of one pack folder."""

    root: Path

    @property
    def work(self) -> Path:
        return self.root / ".wikigr"

    @property
    def new(self) -> Path:
        return self.work / "new"

    @property
    def staging(self) -> Path:
        return self.work / _STAGING

    @property
    def engine_log(self) -> Path:
        """The output of the database engine during a build."""
        return self.work / "engine.log"

    @property
    def _marker(self) -> Path:
        return self.work / "commit"

    def part(self, name: str) -> Path:
        """Return the current path of the part ``name``; it may not exist."""
        pending = self.new / name
        if self._marker.exists() and pending.exists():
            return pending
        return self.root / name

    def exists(self) -> bool:
        return self.part(MANIFEST).is_file()

    def signature(self) -> Path | None:
        """Return the manifest's signature file, or ``None`` if there is none or a pending commit removes it."""
        path = self.root / SIGNATURE
        return path if path.is_file() and self.part(MANIFEST) == self.root / MANIFEST else None

    def unfinished(self) -> bool:
        """Return whether a build was interrupted here."""
        return self.staging.exists()

    def is_building(self) -> bool:
        """Return whether a process is building a pack here now."""
        try:
            handle = os.open(self.work / "build.lock", os.O_RDONLY)
        except OSError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    @property
    def source_record(self) -> Path:
        """The record of the folder that the pack was built from (``section_urls``)."""
        return self.work / "source"

    @property
    def removed_manifest(self) -> Path:
        """The path to which `wikigr pack remove` moves the manifest before it deletes anything."""
        return self.work / "removed.json"

    def half_removed(self) -> bool:
        """Return whether a removal was interrupted here, so that what is left is not a pack any more."""
        return self.removed_manifest.exists() and not self.exists()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Prevent a build from moving parts while they are being opened (milliseconds).

        A read-only folder has no builds, so a lock file that cannot be opened is ignored.
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
    def building(self, replaced: Collection[str] = PARTS) -> Iterator[None]:
        """Lock the folder for replacing the parts ``replaced`` of its pack.

        Raises ``BuildError`` when another process is building here, the folder cannot be written or a part contains
        files of the user, and ``UsageError`` for the folder of an installed pack.
        """
        self.refuse_installed()
        self._refuse_links()
        with ExitStack() as stack:
            try:
                self.work.mkdir(parents=True, exist_ok=True)
                stack.enter_context(locked(self.work / "build.lock"))
            except BlockingIOError as error:
                raise BuildError(
                    f"Another process is building a pack in {readable_path(self.root)}.",
                    hint="Wait until it has finished.",
                ) from error
            except OSError as error:
                raise BuildError(
                    f"Cannot write to the folder {readable_path(self.root)}: {error.strerror}.",
                    hint=f"Make it writable, or work on a copy: cp -RL {shlex.quote(str(self.root))} COPY"
                    if self.exists()
                    else "Choose another folder with -o, or change its permissions.",
                ) from error
            self._roll_forward()
            self.refuse_user_files(replaced)
            yield

    def _refuse_links(self) -> None:
        """Raise ``BuildError`` if the working files have links, which a build would write through or delete."""
        link = next((entry for entry in (self.work, *entries_below(self.work)) if entry.is_symlink()), None)
        if link is not None:
            raise BuildError(
                f"{readable_path(link)} is a link, so a build would change what it leads to. Nothing was changed.",
                hint="Delete the link, then run the same command again.",
            )

    def refuse_installed(self) -> None:
        """Raise ``UsageError`` when the folder belongs to an installed pack, which must not be modified."""
        name = installed_name(self.root)
        if name is not None:
            raise UsageError(
                f"{name} is an installed pack. Modifying it would invalidate its signature and validation.",
                hint=f"Make a copy and run the same command on it: cp -RL {shlex.quote(str(self.root))} COPY",
            )

    def refuse_user_files(self, replaced: Collection[str] = PARTS) -> None:
        """Raise ``BuildError`` if the parts ``replaced`` contain files that the pack's manifest does not list."""
        if self._marker.exists():
            return  # parts of two builds until the commit is finished
        listed = listed_files(self.root / MANIFEST)
        found = [file for name in replaced for file in self._user_files(name, listed)]
        if MANIFEST in replaced:
            found += [name for name in _KEYS if os.path.lexists(self.root / name) and not self.is_own(name)]
        if not found:
            return
        named = some_of(found, 3)
        if not listed:
            raise BuildError(
                f"{readable_path(self.root)} contains {named}, which wikigr did not create and the build "
                "would overwrite.",
                hint="Choose another folder with -o, or move the files away.",
            )
        raise BuildError(
            f"The pack folder {readable_path(self.root)} contains {named}, which the pack's manifest does not list, so "
            "wikigr did not create it and does not overwrite or delete it. Nothing was changed.",
            hint="Move it out of the pack's folder, then run the same command again.",
        )

    def _user_files(self, name: str, listed: Collection[str]) -> Iterator[str]:
        """Yield the relative paths in the part ``name`` that are not ``listed``: the folder itself if no file is."""
        part = self.root / name
        if not part.is_dir():
            if os.path.lexists(part) and name not in listed:
                yield name
        elif not _lists_part(listed, name):
            yield f"{name}/"
        elif not part.is_symlink() and not (name == LEXICAL and LEXICAL in listed):
            paths = (entry.relative_to(self.root).as_posix() for entry in entries_below(part))
            yield from (p for p in paths if p not in listed and p not in INDEX_FILES and not _is_metadata(p))

    def is_own(self, name: str) -> bool:
        """Return whether wikigr wrote the signature or the origin ``name``."""
        return _KEYS[name] <= read_object(self.root / name).keys()

    def clear_new(self) -> None:
        """Create an empty ``.wikigr/new``, removing uncommitted parts of a killed build."""
        _discard(self.new)
        self.new.mkdir(parents=True)

    def drop_work(self) -> None:
        """Remove the working files of builds and of a removal, whose record goes last; other files stay."""
        self.drop_staging()
        for name in _WORKING_FILES:
            _discard(self.work / name)
        self.removed_manifest.unlink(missing_ok=True)

    def others_in_work(self) -> list[str]:
        """Return the names of what the user put into the folder of the working files."""
        entries = self.work.iterdir() if self.work.is_dir() else ()
        names = {entry.name for entry in entries if not entry.name.startswith(_STAGING)}
        return sorted(names - {*_WORKING_FILES, self.removed_manifest.name})

    def drop_staging(self) -> None:
        """Remove the staging files of a finished or abandoned build."""
        for leftover in self.work.glob(f"{_STAGING}*"):
            leftover.unlink()

    def replace_parts(self) -> None:
        """Move the parts in ``.wikigr/new`` into place atomically.

        A part that the new manifest no longer lists is removed; all others stay. Raises ``BuildError`` if the user put
        a file there since the build began.
        """
        self.refuse_user_files([name for name in PARTS if (self.new / name).exists() or self._is_obsolete(name)])
        sync_tree(self.new)
        sync(self.work)
        self._marker.touch()
        sync(self._marker)
        sync(self.work)
        self._roll_forward()

    def _is_obsolete(self, name: str) -> bool:
        """Return whether the current manifest lists the part ``name`` but the new one does not."""
        new = self.new / MANIFEST
        return (
            new.exists()
            and _lists_part(listed_files(self.root / MANIFEST), name)
            and not _lists_part(listed_files(new), name)
        )

    def _roll_forward(self) -> None:
        """Finish a commit whose marker exists, if any. Safe to repeat."""
        if not self._marker.exists():
            return
        with locked(self.work / "commit.lock", on_wait=lambda: None):
            old = self.work / "old"
            old.mkdir(exist_ok=True)
            for name in PARTS:
                pending, final = self.new / name, self.root / name
                if final.is_dir() and (pending.exists() or self._is_obsolete(name)):
                    _discard(old / name)
                    final.rename(old / name)
                if pending.exists():
                    if name == MANIFEST and not _same_content(pending, final):
                        _discard(self.root / SIGNATURE)
                        _discard(self.root / ORIGIN)
                    pending.replace(final)
            sync(self.root)
            self._marker.unlink()
            sync(self.work)
            _discard(old)
            _discard(self.new)


def entries_below(folder: Path) -> Iterator[Path]:
    """Yield the files and the links below ``folder``, whose links are not followed."""
    for place, folders, files in os.walk(folder):
        links = (name for name in folders if Path(place, name).is_symlink())
        yield from (Path(place, name) for name in sorted([*files, *links]))


def listed_files(manifest: Path) -> frozenset[str]:
    """Return the manifest's own name and the files it lists; nothing if it is missing or not a pack's."""
    fields = read_object(manifest)
    if "wikigr_version" not in fields:
        return frozenset()
    files = fields.get("files")
    if not isinstance(files, dict):
        # A damaged manifest. The parts of a build belong to wikigr; only an encoder may be the user's.
        return frozenset(PARTS) - {ENCODER}
    return frozenset([MANIFEST, *files])


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; an empty one if there is none."""
    try:
        fields = json.loads(read_regular(path, 64 << 20))
    except (OSError, ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _lists_part(listed: Collection[str], name: str) -> bool:
    """Return whether ``listed`` has the file ``name`` or a file in the folder ``name``."""
    return any(file == name or file.startswith(f"{name}/") for file in listed)


def _is_metadata(path: str) -> bool:
    """Return whether a file manager or a network file system, not the user, created the file."""
    name = path.rpartition("/")[2]
    return name in (".DS_Store", "Thumbs.db", "desktop.ini") or name.startswith(("._", ".nfs"))


def _same_content(one: Path, other: Path) -> bool:
    return other.is_file() and one.read_bytes() == other.read_bytes()


def _discard(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
