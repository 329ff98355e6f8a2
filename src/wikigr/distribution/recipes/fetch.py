"""Get the documents of a recipe: from the disk, or by a download that is resumable and checked.

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
from wikigr.distribution.download import discard, open_download
from wikigr.distribution.http_request import is_url, redact_url
from wikigr.distribution.recipes.debian import find_documents
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


class ChecksumError(SourceError):
    """A file has another SHA-256 than expected."""


class UnpinnedError(UsageError):
    """Nobody has said which SHA-256 a downloaded file must have."""


def plan_fetch(recipe: Recipe, choice: Choice) -> FetchPlan:
    """Return what ``fetch`` would do, without a download. Raises ``UsageError`` for a choice that does not apply."""
    target = _Target.of(recipe, choice)
    if target is None:
        try:
            location = _local(recipe, choice).location
        except SourceError as error:
            return FetchPlan((f"Read {recipe.origin}",), error.message, error.hint or "")
        return FetchPlan((f"Read {location}",))
    if target.is_local:
        steps = [f"Check the SHA-256 of {target.place}" if target.sha256 else f"Read {target.place}"]
    elif target.sha256 is None:
        return FetchPlan(
            (f"Download {redact_url(target.place)}", "Print its SHA-256 and stop"),
            "the recipe pins no SHA-256",
            f"Give the one that the publisher states: wikigr pack make {recipe_argument(recipe)} --sha256 HEX",
        )
    elif target.kept(target.sha256).is_file():
        steps = [f"Check the SHA-256 of {target.kept(target.sha256)}"]
    else:
        steps = [f"Download {redact_url(target.place)}", f"Check that its SHA-256 is {target.sha256}"]
    is_unpacked = target.sha256 is not None and (_store(target.sha256) / _UNPACKED).is_dir()
    return FetchPlan((*steps, "Unpack it") if target.is_archive and not is_unpacked else tuple(steps))


def fetch(recipe: Recipe, choice: Choice, progress: Progress | None = None) -> Documents:
    """Return the documents of ``recipe``, downloaded and unpacked if necessary.

    Raises ``SourceError`` if they are missing, damaged or not those that the recipe means, ``UnpinnedError`` (with the
    SHA-256 of the download) if nothing says which they are, ``UsageError`` for a choice that does not apply, and
    ``DownloadError`` or ``AddressError`` if a download fails.
    """
    progress = progress or Silent()
    target = _Target.of(recipe, choice)
    if target is None:
        return _local(recipe, choice)
    try:
        if target.is_local:
            file, sha256 = Path(target.place), _check(target, Path(target.place))
            with _locked(_store(sha256)):
                return target.documents(file, sha256, progress)
        if target.sha256 is None:
            _download_unpinned(recipe, target, choice, progress)
        sha256 = target.sha256 or ""
        with _locked(_store(sha256)):
            file = target.kept(sha256)
            if not (file.is_file() and file_sha256(file) == sha256):
                _download(target, file, choice, progress)
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
        is_folder = file is None if choice.source is None else Path(choice.source).is_dir()
        if is_folder:
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
    def is_local(self) -> bool:
        return not is_url(self.place)

    def kept(self, sha256: str) -> Path:
        """Return where the cache keeps the downloaded file."""
        name = re.sub(r"[^A-Za-z0-9._-]", "_", PurePosixPath(urlsplit(self.place).path).name).lstrip(".")
        return _store(sha256) / ("source" if name.lower() in ("", _UNPACKED) else name[-200:])

    def documents(self, file: Path, sha256: str, progress: Progress) -> Documents:
        """Return the documents in ``file``, which is unpacked if it is an archive."""
        origin = {"url": redact_url(self.place)} if not self.is_local else {}
        provenance = {**origin, "sha256": sha256}
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


def _local(recipe: Recipe, choice: Choice) -> Documents:
    """Return documents that are on the disk already."""
    if choice.source is not None:
        return Documents(Path(choice.source), {})
    if recipe.source.debian is not None:
        found = find_documents(recipe.source.debian)
        package = {"package": found.package, "package_version": found.version} if found.version else {}
        return Documents(found.folder, package)
    if not recipe.local_path.exists():
        raise SourceError(
            f"{recipe.local_path} does not exist.", hint=f"Correct `source.path` in {recipe.file}, or give --source."
        )
    return Documents(recipe.local_path, {})


def _store(sha256: str) -> Path:
    return cache_folder() / "sources" / sha256


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait until no other process fills ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _download(target: _Target, file: Path, choice: Choice, progress: Progress) -> None:
    """Download the file that the recipe or the user pins, and move it to ``file``."""
    with _downloaded(target, choice, progress) as found:
        try:
            _check(target, found)
        except ChecksumError:
            # Another attempt must not resume from it.
            discard(found)
            raise
        found.replace(file)
        discard(found)


def _download_unpinned(recipe: Recipe, target: _Target, choice: Choice, progress: Progress) -> None:
    """Download the file, which is kept for the next attempt, and raise ``UnpinnedError`` with its SHA-256."""
    with _downloaded(target, choice, progress) as found:
        sha256 = file_sha256(found)
    where = recipe.source.file.checksum if recipe.source.file is not None and choice.source is None else None
    raise UnpinnedError(
        f"{redact_url(target.place)} was downloaded, but nothing says which SHA-256 it must have. It has {sha256}.",
        hint=f"Compare that with what the publisher states{f' ({where})' if where else ''}, then run: "
        f"wikigr pack make {recipe_argument(recipe)} --sha256 {sha256}",
    )


def _downloaded(target: _Target, choice: Choice, progress: Progress) -> AbstractContextManager[Path]:
    return open_download(
        target.place,
        cache_folder() / "downloads",
        max_bytes=_MAX_DOWNLOAD_BYTES,
        allow_private=choice.allow_private,
        progress=progress,
    )


def _check(target: _Target, file: Path) -> str:
    """Return the SHA-256 of ``file``; raises ``ChecksumError`` if the target must have another one."""
    found = file_sha256(file)
    if target.sha256 not in (None, found):
        raise ChecksumError(
            f"{redact_url(target.place) if not target.is_local else file} is not the file that is expected: its "
            f"SHA-256 is {found}, not {target.sha256}.",
            hint="Nothing was built. Ask the publisher, or whoever wrote the recipe, which of the two is right.",
        )
    return found
