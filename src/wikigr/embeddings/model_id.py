"""What a model may be called: an id of the model hub, a short name, or a folder."""

from __future__ import annotations

from pathlib import Path

from wikigr.errors import ModelError

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"

_ALIASES = {"all-MiniLM-L6-v2": DEFAULT_MODEL}


def canonical_id(model_id: str) -> str:
    """The full id of a model that has a short name; any other id unchanged."""
    return _ALIASES.get(model_id, model_id)


def local_folder(model_id: str) -> Path | None:
    """The folder that ``model_id`` names, there or not, or ``None`` when it is an id.

    Raises ``ModelError`` for a name that can be neither.
    """
    if canonical_id(model_id) == DEFAULT_MODEL:
        return None
    try:
        path = Path(model_id).expanduser()
        if model_id and (path.is_dir() or path.is_absolute() or model_id.startswith(("./", "../", "~"))):
            return path.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        # A name too long for the system, one with NUL, or the home of an unknown user.
        raise ModelError(f"{model_id[:80]!r} names no model: {getattr(error, 'strerror', None) or error}.") from error
    return None


def local_id(folder: Path, weights_sha256: str) -> str:
    """The id of a model that only a folder holds: its name and its weights, so that it outlives the folder."""
    return f"local/{folder.name}@{weights_sha256[:12]}"
