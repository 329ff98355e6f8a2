"""Get the documents of a recipe: from the disk, or by a download whose SHA-256 is checked.

Downloads are kept in the cache folder, in a folder named after their SHA-256, so that the next build needs no network
and citations can open the documents.
"""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from wikigr.distribution.archive import normalize_sha256
from wikigr.distribution.download import is_url, open_download, redact_url
from wikigr.distribution.recipes.recipe import Recipe, recipe_argument
from wikigr.distribution.recipes.unpack import unpack_archive
from wikigr.errors import SourceError, UsageError
from wikigr.pack.manifest import file_sha256
from wikigr.progress import Progress, Silent
from wikigr.settings import cache_folder

_MAX_DOWNLOAD_BYTES = 256 << 30
_UNPACKED = "unpacked"


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user chose in place of the recipe's ``source`` (a path or a URL) and of its ``sha256``."""

    source: str | None = None
    sha256: str | None = None
    allow_private: bool = False


@dataclass(frozen=True, slots=True)
class Documents:
    """The ``location`` of documents, and where they come from, in the words of the manifest's ``source``."""

    location: Path
    provenance: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """What ``fetch`` would do: ``steps`` for the user. ``problem`` is why it would fail, ``""`` if it would not."""

    steps: tuple[str, ...]
    problem: str = ""
    hint: str = ""


def plan_fetch(recipe: Recipe, choice: Choice) -> FetchPlan:
    """Return what ``fetch`` would do, without a download. Raises ``UsageError`` for a choice that does not apply."""
    target = _Target.of(recipe, choice)
    if target is None:
        try:
            return FetchPlan((f"Read {_local_path(recipe, choice)}",))
        except SourceError as error:
            return FetchPlan((f"Read {recipe.local_path}",), error.message, error.hint or "")
    place = redact_url(target.place) if target.is_remote else target.place
    if not target.is_remote:
        steps = [f"Check the SHA-256 of {place}" if target.sha256 else f"Read {place}"]
    elif target.sha256 is None:
        return FetchPlan(
            (f"Download {place}", "Print its SHA-256 and stop"),
            "the recipe pins no SHA-256",
            f"Give the one that the publisher states: wikigr pack make {recipe_argument(recipe)} --sha256 HEX",
        )
    elif target.kept(target.sha256).is_file():
        steps = [f"Check the SHA-256 of {target.kept(target.sha256)}"]
    else:
        steps = [f"Download {place}", f"Check that its SHA-256 is {target.sha256}"]
    is_unpacked = target.sha256 is not None and (_store(target.sha256) / _UNPACKED).is_dir()
    return FetchPlan((*steps, "Unpack it") if target.is_archive and not is_unpacked else tuple(steps))


def fetch(recipe: Recipe, choice: Choice, progress: Progress | None = None) -> Documents:
    """Return the documents of ``recipe``, downloaded and unpacked if necessary.

    Raises ``SourceError`` if they are missing, damaged or not those that the recipe means, ``UsageError`` for a choice
    that does not apply or if nothing says which SHA-256 a download must have (the message says which one it has), and
    ``WikigrError`` if a download fails.
    """
    progress = progress or Silent()
    target = _Target.of(recipe, choice)
    if target is None:
        return Documents(_local_path(recipe, choice), {})
    try:
        if target.is_remote and target.sha256 is None:
            raise _unpinned(recipe, target, choice, progress)
        sha256 = target.sha256 or file_sha256(Path(target.place))
        with _locked(_store(sha256)):
            file = target.kept(sha256) if target.is_remote else Path(target.place)
            if not (file.is_file() and file_sha256(file) == sha256):
                if not target.is_remote:
                    raise _wrong_file(target, file)
                with _downloaded(target, choice, progress) as found:
                    if file_sha256(found) != sha256:
                        raise _wrong_file(target, found)
                    found.replace(file)
            return target.documents(file, sha256, progress)
    except OSError as error:
        raise SourceError(
            f"Cannot store the source of {recipe.name}: {error.strerror or error}"
            + (f" ({error.filename})." if error.filename is not None else "."),
            hint="Free some disk space, or set XDG_CACHE_HOME to another folder, then run the same command again.",
        ) from error


@dataclass(frozen=True, slots=True)
class _Target:
    """The file to get: at a URL or a local path, with the SHA-256 that it must have, and the folder to read in it."""

    place: str
    sha256: str | None
    is_archive: bool
    folder: str

    @classmethod
    def of(cls, recipe: Recipe, choice: Choice) -> _Target | None:
        """Return the file of the recipe and the choice; ``None`` if the source is a folder or a path of the recipe."""
        archive, remote = recipe.source.archive, recipe.source.file
        file = archive or remote
        sha256 = normalize_sha256(choice.sha256)
        if file is None if choice.source is None else Path(choice.source).is_dir():
            if sha256 is not None:
                raise UsageError("--sha256 needs a source that is a file.", hint="Leave --sha256 out.")
            return None
        pinned = sha256 or (file.sha256 if file is not None else None)
        folder = archive.folder or "" if archive is not None else ""
        place = choice.source if choice.source is not None else file.url if file is not None else ""
        if not is_url(place) and not Path(place).is_file():
            raise SourceError(f"{place} does not exist.", hint="Give --source a folder, a file or an https:// URL.")
        return cls(place, pinned, archive is not None, folder)

    @property
    def is_remote(self) -> bool:
        return is_url(self.place)

    def kept(self, sha256: str) -> Path:
        """Return where the cache keeps the downloaded file."""
        name = re.sub(r"[^A-Za-z0-9._-]", "_", PurePosixPath(urlsplit(self.place).path).name).lstrip(".")
        return _store(sha256) / ("source" if name.lower() in ("", _UNPACKED) else name[-200:])

    def documents(self, file: Path, sha256: str, progress: Progress) -> Documents:
        """Return the documents in ``file``, which is unpacked if it is an archive."""
        provenance = {**({"url": redact_url(self.place)} if self.is_remote else {}), "sha256": sha256}
        if not self.is_archive:
            return Documents(file, provenance)
        unpacked = _store(sha256) / _UNPACKED
        if not unpacked.is_dir():
            progress.start("unpacking", 1, "archive")
            unpack_archive(file, unpacked)
            progress.advance(1)
        location = unpacked / self.folder
        if not location.exists():
            names = ", ".join(sorted(entry.name for entry in unpacked.iterdir())[:5])
            raise SourceError(f"{file.name} has no folder {self.folder}; it contains {names}.")
        return Documents(location, provenance)


def _local_path(recipe: Recipe, choice: Choice) -> Path:
    """Return the path of documents that are on the disk already."""
    if choice.source is not None:
        return Path(choice.source)
    if not recipe.local_path.exists():
        raise SourceError(
            f"{recipe.local_path} does not exist.", hint=f"Correct `source.path` in {recipe.file}, or give --source."
        )
    return recipe.local_path


def _store(sha256: str) -> Path:
    return cache_folder() / "sources" / sha256


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait until no other process fills ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _downloaded(target: _Target, choice: Choice, progress: Progress) -> AbstractContextManager[Path]:
    return open_download(
        target.place,
        cache_folder() / "downloads",
        max_bytes=_MAX_DOWNLOAD_BYTES,
        allow_private=choice.allow_private,
        progress=progress,
    )


def _unpinned(recipe: Recipe, target: _Target, choice: Choice, progress: Progress) -> UsageError:
    """Download and keep the file, and return the error with its SHA-256, which the user has to confirm."""
    with _downloaded(target, choice, progress) as found:
        sha256 = file_sha256(found)
        with _locked(_store(sha256)):
            found.replace(target.kept(sha256))
    where = recipe.source.file.checksum if recipe.source.file is not None and choice.source is None else None
    return UsageError(
        f"{redact_url(target.place)} was downloaded, but nothing says which SHA-256 it must have. It has {sha256}.",
        hint=f"Compare that with what the publisher states{f' ({where})' if where else ''}, then run: "
        f"wikigr pack make {recipe_argument(recipe)} --sha256 {sha256}",
    )


def _wrong_file(target: _Target, file: Path) -> SourceError:
    return SourceError(
        f"{redact_url(target.place) if target.is_remote else file} is not the file that is expected: its SHA-256 is "
        f"{file_sha256(file)}, not {target.sha256}.",
        hint="Nothing was built. Ask the publisher, or whoever wrote the recipe, which of the two is right.",
    )
