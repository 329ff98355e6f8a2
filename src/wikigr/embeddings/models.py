"""The encoders on this machine: how to prepare one, and how to find a prepared one.

Only ``prepare`` imports the modules that write a graph, because a question needs only the folder.
"""

from __future__ import annotations

from pathlib import Path

from wikigr.embeddings.model_id import DEFAULT_INT8, DEFAULT_MODEL, INT8, canonical_id, local_folder, local_id
from wikigr.embeddings.prepared import DESCRIPTION, PreparedModel, open_if_valid
from wikigr.embeddings.prepared_files import PREPARE_HINT, sha256_of
from wikigr.errors import ModelError
from wikigr.settings import cache_folder


def models_folder() -> Path:
    """Return the folder of the prepared encoders: ``models`` in the user's cache folder."""
    return cache_folder() / "models"


def find_prepared(model_id: str, *, cache_dir: Path | None = None) -> PreparedModel:
    """Return the prepared encoder of ``model_id``: an id, a short name, a model folder or a prepared folder.

    Raises ``ModelError`` if it has not been prepared or is damaged. Digests are not compared; see
    ``PreparedModel.verify``.
    """
    folder = local_folder(model_id)
    if folder is not None:
        if (folder / DESCRIPTION).is_file():
            return PreparedModel.from_folder(folder)
        weights = folder / "model.safetensors"
        if not weights.is_file():
            raise ModelError(
                f"{folder} does not contain an encoder: neither {DESCRIPTION} nor {weights.name}.",
                hint="Give a folder that `wikigr model prepare` wrote, or the id of a model.",
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
        # Here, the hint can name the model that the damaged folder should contain.
        raise ModelError(error.message, hint=f"{_prepare_command(model_id)} --force") from error
    return _checked(found, name, model_id)


def prepare(model_id: str, *, cache_dir: Path | None = None, force: bool = False) -> PreparedModel:
    """Prepare the encoder ``model_id`` unless that is already done, and return it; ``force`` prepares it again.

    The folder appears under its final name only when complete, so two processes may prepare the same model at once. A
    damaged folder is replaced. Only the default model has an 8-bit form. Raises ``ModelError``, whose hint says what to
    install or run.
    """
    local = local_folder(model_id)
    if local is None and model_id.endswith(INT8) and canonical_id(model_id) != DEFAULT_INT8:
        raise ModelError(f"{model_id} does not exist: only {DEFAULT_MODEL} has an 8-bit form, {DEFAULT_INT8}.")
    if local is not None and (local / DESCRIPTION).is_file():
        return PreparedModel.from_folder(local)
    model_id = canonical_id(model_id)
    if local is None and not force:
        ready = open_if_valid(_target(cache_dir, model_id))
        if ready is not None:
            return _checked(ready, model_id, model_id)

    from wikigr.embeddings.checkpoint import Checkpoint
    from wikigr.embeddings.preparation import write_prepared
    from wikigr.embeddings.weights import checkpoint_folder

    with checkpoint_folder(DEFAULT_MODEL if model_id == DEFAULT_INT8 else model_id) as folder:
        checkpoint = Checkpoint.read(folder)
        weights_sha256 = sha256_of(checkpoint.weights)
        name = model_id if local is None else local_id(local, weights_sha256)
        target = _target(cache_dir, name)
        ready = None if force else open_if_valid(target)
        ready = ready or write_prepared(checkpoint, name, weights_sha256, target, force=force)
        return _checked(ready, name, model_id)


def _target(cache_dir: Path | None, name: str) -> Path:
    parts = name.replace("\\", "/").split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in name:
        raise ModelError(f"{name[:80]!r} is not a valid model id.")
    return (cache_dir or models_folder()) / "--".join(parts)


def _checked(found: PreparedModel, name: str, requested: str) -> PreparedModel:
    """Return ``found``; raise ``ModelError`` for another model, because ``a--b/c`` and ``a/b--c`` share a folder."""
    stored = found.identity.model_id
    if stored != name:
        raise ModelError(
            f"The folder {found.folder} contains the encoder {stored}, not {name}.",
            hint=f"{_prepare_command(requested)} --force, to replace it",
        )
    return found


def _prepare_command(model_id: str) -> str:
    if canonical_id(model_id) == DEFAULT_MODEL:
        return PREPARE_HINT
    from shlex import quote

    return f"{PREPARE_HINT} {quote(model_id)}"
