"""The graph of a reader is written only for an encoder that it can be added to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wikigr.embeddings.prepared import PreparedModel
from wikigr.errors import ModelError
from wikigr.reader.adapter import Adapter
from wikigr.reader.graph import write_reader_graph


@pytest.mark.parametrize("config", [{"model_type": "mpnet"}, {"model_type": "bert", "hidden_act": "silu"}])
def test_a_model_without_a_graph_of_ours_has_no_reader(
    encoder: PreparedModel, tmp_path: Path, config: dict[str, Any]
) -> None:
    weights = tmp_path / "model.safetensors"
    with pytest.raises(ModelError, match=f"no reader for a model of the type '{config['model_type']}'"):
        write_reader_graph(weights, config, Adapter(), tmp_path, "reader.onnx", encoder=encoder.graph)
