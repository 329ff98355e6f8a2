"""The encoders on this machine: preparing one, and finding one that was prepared.

Only ``prepare`` imports what writes a graph; a question merely finds the folder.
"""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_cache_path

from wikigr.embeddings.model_id import DEFAULT_MODEL, canonical_id, local_folder, local_id
from wikigr.embeddings.prepared import DESCRIPTION, PREPARE_HINT, PreparedModel, open_if_good, sha256_of
from wikigr.errors import ModelError

__all__ = ["DEFAULT_MODEL", "PreparedModel", "find_prepared", "models_folder", "prepare"]


def models_folder() -> Path:
    """Where prepared encoders are kept: ``models`` in the user's cache folder."""
    return user_cache_path("wikigr") / "models"


def find_prepared(model_id: str, *, cache_dir: Path | None = None) -> PreparedModel:
    """The prepared encoder of ``model_id``: an id, a short name, or a folder, prepared or to be prepared.

    Raises ``ModelError`` when it has not been prepared, or is damaged. Digests are not compared here: see
    ``PreparedModel.verify``.
    """
    folder = local_folder(model_id)
    if folder is not None:
        if (folder / DESCRIPTION).is_file():
            return PreparedModel.from_folder(folder)
        weights = folder / "model.safetensors"
        if not weights.is_file():
            raise ModelError(
                f"There is no encoder in {folder}: neither {DESCRIPTION} nor {weights.name}.",
                hint="Name the folder that `wikigr model prepare` wrote, or the id of a model.",
            )
        name = local_id(folder, sha256_of(weights))
    else:
        name = canonical_id(model_id)
    target = _target(cache_dir, name)
    if not target.is_dir():
        raise ModelError(f"The encoder {name} has not been prepared on this machine.", hint=_prepare_command(model_id))
    try:
        found = PreparedModel.from_folder(target)
    except ModelError as error:
        # Only here is it known which model the damaged folder should hold.
        raise ModelError(error.message, hint=f"{_prepare_command(model_id)} --force") from error
    return _checked(found, name, model_id)


def prepare(model_id: str, *, cache_dir: Path | None = None, force: bool = False) -> PreparedModel:
    """Write the ONNX graph of ``model_id`` once, and return it; with ``force`` even if it is there.

    Nothing is seen of it under its final name before it is complete, so that two processes may prepare the
    same model at once. A damaged folder is replaced. Raises ``ModelError`` that says what to install or run.
    """
    local = local_folder(model_id)
    if local is not None and (local / DESCRIPTION).is_file():
        return PreparedModel.from_folder(local)
    model_id = canonical_id(model_id)
    if local is None and not force:
        ready = open_if_good(_target(cache_dir, model_id))
        if ready is not None:
            return _checked(ready, model_id, model_id)

    from wikigr.embeddings.checkpoint import Checkpoint
    from wikigr.embeddings.preparation import write_prepared
    from wikigr.embeddings.weights import checkpoint_folder

    with checkpoint_folder(model_id) as folder:
        checkpoint = Checkpoint.read(folder)
        weights_sha256 = sha256_of(checkpoint.weights)
        name = model_id if local is None else local_id(local, weights_sha256)
        target = _target(cache_dir, name)
        ready = None if force else open_if_good(target)
        ready = ready or write_prepared(checkpoint, name, weights_sha256, target, force=force)
        return _checked(ready, name, model_id)


def _target(cache_dir: Path | None, name: str) -> Path:
    parts = name.replace("\\", "/").split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in name:
        raise ModelError(f"{name[:80]!r} is no model id.")
    return (cache_dir or models_folder()) / "--".join(parts)


def _checked(found: PreparedModel, name: str, asked: str) -> PreparedModel:
    """``found``, unless its folder holds another model: ``a--b/c`` and ``a/b--c`` share one."""
    stored = found.identity.model_id
    if stored != name:
        raise ModelError(
            f"The folder {found.folder} holds the encoder {stored}, not {name}.",
            hint=f"{_prepare_command(asked)} --force, to put it in the place of the other",
        )
    return found


def _prepare_command(model_id: str) -> str:
    if canonical_id(model_id) == DEFAULT_MODEL:
        return PREPARE_HINT
    return f"{PREPARE_HINT} {model_id}"
