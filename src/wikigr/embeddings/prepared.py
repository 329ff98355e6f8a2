"""Prepared encoders: the format of their folder.

The folder contains a graph, its weights and its tokenizer. It is self-contained, so a pack can include it as
``encoder/``. ``encoder.json`` describes the other files.

Every graph has the inputs ``input_ids`` and ``attention_mask``, int32 ``[batch, tokens]`` with 1 for a token and 0 for
padding on the right, and the output ``embedding``, float32 ``[batch, dimension]`` with rows of L2 norm 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wikigr.embeddings import prepared_files
from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.embeddings.prepared_files import PREPARE_HINT, Files, digest, files_from_json, files_to_json, positive
from wikigr.errors import ModelError

FORMAT_VERSION = 1
DESCRIPTION = "encoder.json"
GRAPH = "model.onnx"
GRAPH_DATA = "model.onnx.data"
TOKENIZER = "tokenizer.json"

INPUT_IDS = "input_ids"
ATTENTION_MASK = "attention_mask"
EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """An encoder that is ready to run. ``max_tokens`` is the length of its window, including special tokens."""

    folder: Path
    identity: EncoderIdentity
    max_tokens: int
    files: Files

    @property
    def graph(self) -> Path:
        return self.folder / GRAPH

    @property
    def tokenizer(self) -> Path:
        return self.folder / TOKENIZER

    @classmethod
    def from_folder(cls, folder: Path | str) -> PreparedModel:
        """Open ``folder`` and check that every file exists and has its recorded size.

        Raises ``ModelError`` if the folder is missing, incomplete or damaged, or has another format version.
        """
        folder = Path(folder)

        def parse(described: Mapping[str, Any]) -> PreparedModel:
            model_id = described["model_id"]
            if not isinstance(model_id, str) or not model_id:
                raise ValueError(f"{model_id!r} is not a name")
            identity = EncoderIdentity(model_id, positive(described["dimension"]), digest(described["weights_sha256"]))
            files = files_from_json(described["files"], {GRAPH, TOKENIZER}, [GRAPH_DATA])
            return cls(folder, identity, positive(described["max_tokens"]), files)

        try:
            model = prepared_files.read_prepared(folder / DESCRIPTION, FORMAT_VERSION, parse)
        except FileNotFoundError as error:
            raise ModelError(f"{folder} does not contain a prepared encoder.", hint=PREPARE_HINT) from error
        prepared_files.check_sizes(folder, model.files)
        return model

    def verify(self) -> None:
        """Compare every file with its recorded digest; raises ``ModelError`` for the first that differs."""
        prepared_files.verify(self.folder, self.files)

    def describe(self) -> str:
        """Return the content of ``encoder.json``."""
        described = {
            "format_version": FORMAT_VERSION,
            "model_id": self.identity.model_id,
            "dimension": self.identity.dimension,
            "weights_sha256": self.identity.weights_sha256,
            "max_tokens": self.max_tokens,
            "files": files_to_json(self.files),
        }
        return json.dumps(described, indent=2) + "\n"


def open_if_valid(folder: Path) -> PreparedModel | None:
    """Return the prepared encoder in ``folder``, or ``None`` if it is missing or damaged."""
    try:
        return PreparedModel.from_folder(folder)
    except ModelError:
        return None
