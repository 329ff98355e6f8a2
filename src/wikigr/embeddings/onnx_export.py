"""Export a transformer to ONNX with torch, for architectures that ``onnx_bert`` does not support."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from wikigr.embeddings.onnx_nodes import OPSET
from wikigr.embeddings.prepared import ATTENTION_MASK, INPUT_IDS
from wikigr.errors import ModelError

_INSTALL = "pip install torch==2.13.0, then pip install 'wikigr[models]', and run this again"


def export_graph(checkpoint: Path, folder: Path) -> Path:
    """Write the transformer in the folder ``checkpoint`` to ``folder/model.onnx`` and return the path.

    The graph maps ``input_ids`` and ``attention_mask`` to ``last_hidden_state``. Raises ``ModelError`` if torch is not
    installed or cannot export the architecture.
    """
    try:
        import torch
        from transformers import AutoModel
    except ImportError as error:
        raise ModelError(
            f"The encoder in {checkpoint} is not in the BERT family and has no onnx/model.onnx, so torch is needed to "
            "export its graph, but torch is not installed.",
            hint=_INSTALL,
        ) from error
    target = folder / "model.onnx"
    axes = {0: "batch", 1: "tokens"}
    try:
        model = AutoModel.from_pretrained(
            checkpoint, attn_implementation="eager", use_safetensors=True, trust_remote_code=False
        ).eval()

        class Encoder(torch.nn.Module):  # type: ignore[misc]
            """Returns only the hidden states, because tracing does not support the model's output class."""

            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, input_ids: Any, attention_mask: Any) -> Any:
                return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

        # Two texts of different lengths, so that the trace depends on the mask and fixes neither dimension.
        mask = torch.ones((2, 8), dtype=torch.int64)
        mask[1, 5:] = 0
        with warnings.catch_warnings(), torch.no_grad():
            # The exporter warns that it is deprecated, but its successor needs another package.
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
