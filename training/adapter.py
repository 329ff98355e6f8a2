"""Write the trained adapter in the format of ``wikigr.reader.adapter``, and read it again into the torch model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
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
from wikigr.embeddings.published import DEFAULT_WEIGHTS_SHA256
from wikigr.reader.adapter import DESCRIPTION_SUFFIX, FORMAT, as_json
from wikigr.reader.passage import Calibration

DATA_LICENSES = {
    squad2.NAME: squad2.LICENSE,
    "squadshifts": squadshifts.LICENSE,
    qamr.NAME: qamr.LICENSE,
    hotpotqa.NAME: hotpotqa.LICENSE,
}

_ENCODER = "encoder."
_UP = ".up"


def write_adapter(
    model: SpanReader,
    path: Path,
    config: Config,
    *,
    figures: dict[str, Any],
    calibration: Calibration,
    command: str,
) -> None:
    """Write the adapter and head of ``model`` to ``path``, and its description beside it.

    The description names the base weights, the data and their licenses, the settings, ``figures``, ``calibration`` and
    ``command``.
    """
    tensors = {}
    for name, tensor in sorted(model.adapter().items()):
        scaled = tensor * config.scale if name.endswith(_UP) else tensor
        tensors[name.removeprefix(_ENCODER)] = scaled.to(torch.float16).contiguous()
    content = save(tensors, {"format": FORMAT})
    described = {
        "format": FORMAT,
        "sha256": hashlib.sha256(content).hexdigest(),
        "base_model": DEFAULT_MODEL,
        "base_sha256": DEFAULT_WEIGHTS_SHA256,
        "data": DATA_LICENSES,
        "config": config.to_json(),
        "command": command,
        "figures": figures,
        "calibration": asdict(calibration),
    }
    write_atomic(path, content)
    write_atomic(path.with_suffix(DESCRIPTION_SUFFIX), as_json(described).encode())


def write_calibration(path: Path, calibration: Calibration, figures: Mapping[str, float]) -> None:
    """Put the calibration and its figures into the description of the adapter ``path``."""
    described = json.loads(path.with_suffix(DESCRIPTION_SUFFIX).read_text(encoding="utf-8"))
    described["calibration"] = asdict(calibration)
    described["figures"]["calibration"] = dict(figures)
    write_atomic(path.with_suffix(DESCRIPTION_SUFFIX), as_json(described).encode())


def read_config(path: Path) -> Config:
    """Return the settings in the description of the adapter ``path``."""
    described = json.loads(path.with_suffix(DESCRIPTION_SUFFIX).read_text(encoding="utf-8"))
    return Config.from_json(described["config"])


def read_adapter(path: Path) -> dict[str, Tensor]:
    """Return the tensors of the adapter ``path`` under the names and on the scale of ``SpanReader``."""
    scale = read_config(path).scale
    tensors: dict[str, Tensor] = {}
    with safe_open(path, "pt") as file:
        for name in file.keys():  # noqa: SIM118
            tensor = file.get_tensor(name).float()
            full = name if name.startswith("head.") else _ENCODER + name
            tensors[full] = tensor / scale if name.endswith(_UP) else tensor
    return tensors


def load_adapter(model: SpanReader, path: Path) -> None:
    """Load the adapter in ``path`` into ``model``; raises ``ValueError`` if it does not fit."""
    model.load_adapter(read_adapter(path))
