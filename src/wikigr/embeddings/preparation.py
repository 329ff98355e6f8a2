"""Write a prepared encoder from a checkpoint and publish it atomically."""

from __future__ import annotations

import errno
import tempfile
from dataclasses import replace
from pathlib import Path

from wikigr.embeddings.checkpoint import Checkpoint
from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.embeddings.int8 import recorded_ranges
from wikigr.embeddings.model_id import DEFAULT_INT8
from wikigr.embeddings.onnx_bert import write_bert_graph
from wikigr.embeddings.prepared import DESCRIPTION, GRAPH, GRAPH_DATA, TOKENIZER, PreparedModel, open_if_valid
from wikigr.embeddings.prepared_files import UNFINISHED, PreparedFile, remove_abandoned
from wikigr.errors import ModelError
from wikigr.files import sync, sync_tree


def write_prepared(
    checkpoint: Checkpoint, model_id: str, weights_sha256: str, target: Path, *, force: bool
) -> PreparedModel:
    """Write ``checkpoint`` as a prepared encoder to the folder ``target``.

    A damaged folder is replaced. A valid one, which another process may have written in the meantime, is replaced only
    with ``force``. Raises ``ModelError`` if the encoder cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(target.parent)
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=target.parent, ignore_cleanup_errors=True) as temporary:
            unfinished = Path(temporary) / "model"
            replaced = Path(temporary) / "replaced"
            unfinished.mkdir()
            replaced.mkdir()
            written = _write(checkpoint, model_id, weights_sha256, unfinished)
            ready = _publish(unfinished, target, replaced, force=force)
            # Not read back: another process may be replacing the folder.
            return ready or replace(written, folder=target)
    except OSError as error:
        raise ModelError(f"Cannot write the encoder {model_id} to {target}: {error.strerror}.") from error


def _write(checkpoint: Checkpoint, model_id: str, weights_sha256: str, folder: Path) -> PreparedModel:
    ranges = recorded_ranges(weights_sha256) if model_id == DEFAULT_INT8 else None
    dimension = write_bert_graph(
        checkpoint.weights, checkpoint.config, checkpoint.pooling, folder, GRAPH, ranges=ranges
    )
    (folder / TOKENIZER).write_text(checkpoint.tokenizer_json(), encoding="utf-8")
    names = (GRAPH, GRAPH_DATA, TOKENIZER)
    model = PreparedModel(
        folder=folder,
        identity=EncoderIdentity(model_id, dimension, weights_sha256),
        max_tokens=checkpoint.max_tokens,
        files=tuple(PreparedFile.of(folder, name) for name in names),
    )
    (folder / DESCRIPTION).write_text(model.describe(), encoding="utf-8")
    sync_tree(folder)
    return model


def _publish(unfinished: Path, target: Path, replaced: Path, *, force: bool) -> PreparedModel | None:
    """Move ``unfinished`` to ``target``, unless another process has put a valid encoder there, which is returned then.

    A folder that it replaces is moved into the folder ``replaced``. Raises ``OSError``.
    """
    for attempt in range(10):
        try:
            unfinished.rename(target)
            break
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
        ready = None if force else open_if_valid(target)
        if ready is not None:
            return ready
        try:
            target.rename(replaced / str(attempt))
        except FileNotFoundError:
            # Another process has just moved it away for the same reason.
            continue
    sync(target.parent)
    return None
