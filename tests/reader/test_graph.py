"""The graph of a reader is written only for an encoder that it can be added to."""

from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.embeddings.prepared import PreparedModel
from wikigr.errors import ModelError
from wikigr.reader.adapter import Adapter
from wikigr.reader.graph import write_reader_graph


def test_a_model_without_a_graph_of_ours_has_no_reader(encoder: PreparedModel, tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    with pytest.raises(ModelError, match=r"Only BERT encoders .* config\.json has the type 'mpnet'"):
        write_reader_graph(weights, {"model_type": "mpnet"}, Adapter(), tmp_path, "reader.onnx", encoder=encoder.graph)
