"""Names of models: an id on the model hub, a short name, or a folder."""

from __future__ import annotations

from pathlib import Path

from wikigr.errors import ModelError

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"

_ALIASES = {"all-MiniLM-L6-v2": DEFAULT_MODEL}


def canonical_id(model_id: str) -> str:
    """Return the full id for a short name, and any other id unchanged."""
    return _ALIASES.get(model_id, model_id)


def local_folder(model_id: str) -> Path | None:
    """Return the folder that ``model_id`` names, which may not exist, or ``None`` if it is an id.

    Raises ``ModelError`` for a name that is neither.
    """
    if canonical_id(model_id) == DEFAULT_MODEL:
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
