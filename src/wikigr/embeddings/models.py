"""The encoders on this machine: preparing one, and finding one that was prepared.

Only ``prepare`` imports what writes a graph; a question merely finds the folder.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.embeddings.model_id import DEFAULT_MODEL, canonical_id, local_folder, local_id
from wikigr.embeddings.prepared import (
    DESCRIPTION,
    GRAPH,
    GRAPH_DATA,
    PREPARE_HINT,
    TOKENIZER,
    PreparedModel,
    describe_file,
    sha256_of,
)
from wikigr.errors import ModelError

if TYPE_CHECKING:
    from wikigr.embeddings.checkpoint import Checkpoint

__all__ = ["DEFAULT_MODEL", "PreparedModel", "find_prepared", "models_folder", "prepare"]

_UNFINISHED = ".unfinished-"
_ABANDONED_SECONDS = 24 * 3600


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
            raise ModelError(f"There is no encoder in {folder}: neither {DESCRIPTION} nor {weights.name}.")
        name = local_id(folder, sha256_of(weights))
    else:
        name = canonical_id(model_id)
    target = _target(cache_dir, name)
    if not target.is_dir():
        raise ModelError(f"The encoder {name} has not been prepared on this machine.", hint=_prepare_command(model_id))
    return PreparedModel.from_folder(target)


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
        ready = _ready(_target(cache_dir, model_id))
        if ready is not None:
            return ready

    from wikigr.embeddings.checkpoint import Checkpoint
    from wikigr.embeddings.weights import checkpoint_folder

    with checkpoint_folder(model_id) as folder:
        checkpoint = Checkpoint.read(folder)
        weights_sha256 = sha256_of(checkpoint.weights)
        name = model_id if local is None else local_id(local, weights_sha256)
        target = _target(cache_dir, name)
        ready = None if force else _ready(target)
        if ready is not None:
            return ready
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(target.parent)
            with tempfile.TemporaryDirectory(
                prefix=_UNFINISHED, dir=target.parent, ignore_cleanup_errors=True
            ) as temporary:
                unfinished = Path(temporary) / "model"
                unfinished.mkdir()
                _write(checkpoint, name, weights_sha256, unfinished)
                return _publish(unfinished, target, Path(temporary) / "replaced", force=force)
        except OSError as error:
            raise ModelError(f"The encoder {name} cannot be written to {target}: {error.strerror}.") from error


def _target(cache_dir: Path | None, name: str) -> Path:
    parts = name.replace("\\", "/").split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in name:
        raise ModelError(f"{name[:80]!r} is no model id.")
    return (cache_dir or models_folder()) / "--".join(parts)


def _ready(target: Path) -> PreparedModel | None:
    try:
        return PreparedModel.from_folder(target)
    except ModelError:
        # Missing or damaged: the caller is about to write it, which mends either.
        return None


def _write(checkpoint: Checkpoint, model_id: str, weights_sha256: str, folder: Path) -> None:
    dimension = _write_graph(checkpoint, model_id, folder)
    (folder / TOKENIZER).write_text(checkpoint.tokenizer_json(), encoding="utf-8")
    names = [name for name in (GRAPH, GRAPH_DATA, TOKENIZER) if (folder / name).exists()]
    model = PreparedModel(
        folder=folder,
        identity=EncoderIdentity(model_id, dimension, weights_sha256),
        max_tokens=checkpoint.max_tokens,
        files=tuple(describe_file(folder, name) for name in names),
    )
    (folder / DESCRIPTION).write_text(model.describe(), encoding="utf-8")
    for name in (*names, DESCRIPTION, "."):
        _flush(folder / name)


def _write_graph(checkpoint: Checkpoint, model_id: str, folder: Path) -> int:
    from wikigr.embeddings.bert_graph import can_write, write_bert_graph

    if can_write(checkpoint.config):
        return write_bert_graph(checkpoint.weights, checkpoint.config, checkpoint.pooling, folder, GRAPH)

    from wikigr.embeddings.foreign_graph import adapt_graph
    from wikigr.embeddings.torch_export import export_graph

    dimension = checkpoint.config.get("hidden_size", checkpoint.config.get("dim"))
    if not isinstance(dimension, int):
        raise ModelError(f"The config.json of {model_id} does not say how long its vectors are.")
    graph = checkpoint.folder / "onnx" / "model.onnx"
    if graph.is_file():
        adapt_graph(graph, dimension, checkpoint.pooling, folder, GRAPH)
    else:
        with tempfile.TemporaryDirectory(prefix="wikigr-export-") as temporary:
            exported = export_graph(checkpoint.folder, Path(temporary))
            adapt_graph(exported, dimension, checkpoint.pooling, folder, GRAPH)
    return dimension


def _publish(unfinished: Path, target: Path, replaced: Path, *, force: bool) -> PreparedModel:
    """Move ``unfinished`` to ``target``, unless another process has been quicker and left a good one."""
    for _ in range(10):
        try:
            unfinished.rename(target)
            break
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
        ready = None if force else _ready(target)
        if ready is not None:
            return ready
        try:
            target.rename(replaced)
        except FileNotFoundError:
            # Another process has just moved it out of the way, for the same reason.
            continue
    _flush(target.parent)
    return PreparedModel.from_folder(target)


def _remove_abandoned(folder: Path) -> None:
    """Remove what a killed ``prepare`` left behind long ago; younger folders may be in use."""
    for path in folder.glob(_UNFINISHED + "*"):
        try:
            abandoned = time.time() - path.stat().st_mtime > _ABANDONED_SECONDS
        except FileNotFoundError:
            continue
        if abandoned:
            shutil.rmtree(path, ignore_errors=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _prepare_command(model_id: str) -> str:
    if canonical_id(model_id) == DEFAULT_MODEL:
        return PREPARE_HINT
    return f"{PREPARE_HINT} {model_id}"
