"""Write the trained adapter as one safetensors file, and read it again.

Tensors are float16 and named after the encoder's own: the weight ``NAME.weight`` of a layer becomes
``NAME.weight + NAME.up @ NAME.down``. ``head.weight`` and ``head.bias`` map a token's vector to its start and end
logit. The metadata has one entry, ``wikigr``, with a JSON object, because safetensors writes several in a random order.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor

from training.config import Config
from training.model import SpanReader
from training.sources import hotpotqa, qamr, squad2, squadshifts
from wikigr.atomic import write_atomic
from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr.embeddings.weights import DEFAULT_WEIGHTS_SHA256

FORMAT = "wikigr-reader-1"
METADATA = "wikigr"

DATA_LICENSES = {
    squad2.NAME: squad2.LICENSE,
    "squadshifts": squadshifts.LICENSE,
    qamr.NAME: qamr.LICENSE,
    hotpotqa.NAME: hotpotqa.LICENSE,
}

_ENCODER = "encoder."
_UP = ".up"


def write_adapter(model: SpanReader, path: Path, config: Config, *, figures: dict[str, Any], command: str) -> None:
    """Write the adapter and head of ``model`` to ``path``.

    The metadata names the base weights, the data and their licenses, the settings, ``figures`` and ``command``.
    """
    tensors = {}
    for name, tensor in sorted(model.adapter().items()):
        scaled = tensor * config.scale if name.endswith(_UP) else tensor
        tensors[name.removeprefix(_ENCODER)] = scaled.to(torch.float16).contiguous()
    described = {
        "format": FORMAT,
        "base_model": DEFAULT_MODEL,
        "base_sha256": DEFAULT_WEIGHTS_SHA256,
        "data": DATA_LICENSES,
        "config": config.to_json(),
        "command": command,
        "figures": figures,
    }
    write_atomic(path, save(tensors, {METADATA: json.dumps(described, sort_keys=True)}))


def read_config(path: Path) -> Config:
    """Return the settings in the metadata of ``path``."""
    with safe_open(path, "pt") as file:
        return Config.from_json(json.loads(file.metadata()[METADATA])["config"])


def load_adapter(model: SpanReader, path: Path) -> None:
    """Load the adapter in ``path`` into ``model``; raises ``ValueError`` if it does not fit."""
    scale = read_config(path).scale
    tensors: dict[str, Tensor] = {}
    with safe_open(path, "pt") as file:
        for name in file.keys():  # noqa: SIM118
            tensor = file.get_tensor(name).float()
            full = name if name.startswith("head.") else _ENCODER + name
            tensors[full] = tensor / scale if name.endswith(_UP) else tensor
    model.load_adapter(tensors)
