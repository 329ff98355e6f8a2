"""Export a transformer through torch, for architectures that wikigr cannot write a graph of by itself."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from wikigr.embeddings.graph_interface import ATTENTION_MASK, INPUT_IDS
from wikigr.embeddings.onnx_nodes import OPSET
from wikigr.errors import ModelError

_INSTALL = "pip install torch==2.13.0, then pip install 'wikigr[models]', and run this again"


def export_graph(checkpoint: Path, folder: Path) -> Path:
    """Write the transformer of the folder ``checkpoint`` to ``folder/model.onnx`` and return its path.

    The graph takes ``input_ids`` and ``attention_mask`` and gives ``last_hidden_state``. Raises
    ``ModelError`` when torch is not installed or cannot export the architecture.
    """
    try:
        import torch
        from transformers import AutoModel
    except ImportError as error:
        raise ModelError(
            f"The encoder in {checkpoint} is not of the BERT family and brings no onnx/model.onnx, so its graph "
            "has to be exported with torch, which is not installed.",
            hint=_INSTALL,
        ) from error
    target = folder / "model.onnx"
    axes = {0: "batch", 1: "tokens"}
    try:
        model = AutoModel.from_pretrained(
            checkpoint, attn_implementation="eager", use_safetensors=True, trust_remote_code=False
        ).eval()

        class Encoder(torch.nn.Module):  # type: ignore[misc]
            """Nothing but the hidden states: tracing cannot return a model's own output class."""

            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, input_ids: Any, attention_mask: Any) -> Any:
                return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

        # Two unequal texts, so that the trace depends on the mask and fixes neither size.
        mask = torch.ones((2, 8), dtype=torch.int64)
        mask[1, 5:] = 0
        with warnings.catch_warnings(), torch.no_grad():
            # The exporter warns of its own successor, which needs a further package.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                Encoder().eval(),
                (mask * 5, mask),
                str(target),
                input_names=[INPUT_IDS, ATTENTION_MASK],
                output_names=["last_hidden_state"],
                dynamic_axes={INPUT_IDS: axes, ATTENTION_MASK: axes, "last_hidden_state": axes},
                opset_version=OPSET,
                dynamo=False,
            )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, ImportError) as error:
        raise ModelError(
            f"torch cannot export the encoder in {checkpoint}: {str(error).strip().partition(chr(10))[0]}",
            hint="Use the backend sentence-transformers for this model.",
        ) from error
    return target
