"""Write the trained adapter in the format of ``wikigr.reader.adapter``, and read it again into the torch model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load
from safetensors.numpy import save as save_arrays
from safetensors.torch import save
from torch import Tensor

from training.bases import BASES
from training.config import Config
from training.model import SpanReader
from training.sources import (
    covid_qa,
    hotpotqa,
    natural_questions,
    qamr,
    squad2,
    squad11_more,
    squadshifts,
    webquestions,
)
from wikigr.files import write_atomic
from wikigr.reader.adapter import DESCRIPTION_SUFFIX, FORMAT, SCALES, as_json, restored
from wikigr.reader.passage import UNCALIBRATED, Calibration

DATA_LICENSES = {
    squad2.NAME: squad2.LICENSE,
    "squadshifts": squadshifts.LICENSE,
    qamr.NAME: qamr.LICENSE,
    hotpotqa.NAME: hotpotqa.LICENSE,
    squad11_more.NAME: squad11_more.LICENSE,
    covid_qa.NAME: covid_qa.LICENSE,
    natural_questions.NAME: natural_questions.LICENSE,
    webquestions.NAME: webquestions.LICENSE,
    "asked": "written for this project; the pages: as the packages of training/asked/sources.json",
}

_ENCODER = "encoder."
_UP, _DOWN = ".up", ".down"
# The most that an adapter in the repository may take.
MAX_BYTES = 8_000_000


def write_adapter(
    model: SpanReader,
    path: Path,
    config: Config,
    *,
    base_sha256: str,
    figures: dict[str, Any],
    calibration: Calibration,
    command: str,
) -> None:
    """Write the adapter and head of ``model`` to ``path``, and its description beside it.

    The description names the base weights, the data and their licenses, the settings, ``figures``, ``calibration`` and
    ``command``.
    """
    content = _content(model, config.scale)
    described = {
        "format": FORMAT,
        "sha256": hashlib.sha256(content).hexdigest(),
        "base_model": BASES[config.base],
        "base_sha256": base_sha256,
        "data": DATA_LICENSES,
        "config": config.to_json(),
        "command": command,
        "figures": figures,
        "calibration": asdict(calibration),
    }
    write_atomic(path, content)
    write_atomic(path.with_suffix(DESCRIPTION_SUFFIX), as_json(described).encode())


def save_adapter(model: SpanReader, path: Path, scale: float) -> None:
    """Write the adapter and head of ``model`` to ``path`` without a description."""
    write_atomic(path, _content(model, scale))


def _content(model: SpanReader, scale: float) -> bytes:
    tensors = {}
    for name, tensor in sorted(model.adapter().items()):
        scaled = tensor * scale if name.endswith(_UP) else tensor
        tensors[name.removeprefix(_ENCODER)] = scaled.to(torch.float16).contiguous().cpu()
    content: bytes = save(tensors, {"format": FORMAT})
    return content


def ship_adapter(source: Path, target: Path, *, base_sha256: str, command: str) -> None:
    """Copy an adapter that ``training.distill`` wrote to ``target``, without a calibration.

    Its description gets the figures of the whole groups, and the settings of the trainings that it comes from. One of
    more than ``MAX_BYTES`` is rounded to 8 bits.
    """
    log = _log_of(source)
    content = source.read_bytes()
    if len(content) > MAX_BYTES:
        content = rounded(content)
    described = {
        "format": FORMAT,
        "sha256": hashlib.sha256(content).hexdigest(),
        "base_model": log["base_model"],
        "base_sha256": base_sha256,
        "data": DATA_LICENSES,
        "config": log["config"],
        "runs": _runs_of(source),
        "command": command,
        "figures": {
            limits: {name: figures for name, figures in groups.items() if ":" not in name}
            for limits, groups in log["figures"].items()
        },
        "calibration": asdict(UNCALIBRATED),
    }
    write_atomic(target, content)
    write_atomic(target.with_suffix(DESCRIPTION_SUFFIX), as_json(described).encode())


def rounded(content: bytes) -> bytes:
    """Return the content of an adapter with its updates in 8 bits, with a scale for each rank of each matrix."""
    stored: dict[str, NDArray[Any]] = dict(sorted(load(content).items()))
    scales = []
    for name, array in stored.items():
        if name.endswith((_UP, _DOWN)):
            axis = 0 if name.endswith(_UP) else 1
            values = array.astype(np.float32)
            scale = (np.abs(values).max(axis=axis, keepdims=True) / 127).astype(np.float16)
            scale[scale == 0] = 1
            stored[name] = np.rint(values / scale.astype(np.float32)).clip(-127, 127).astype(np.int8)
            scales.append(scale.ravel())
    made: bytes = save_arrays({**stored, SCALES: np.array(scales)}, {"format": FORMAT})
    return made


def _log_of(path: Path) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(path.with_suffix(DESCRIPTION_SUFFIX).read_text(encoding="utf-8"))
    return log


def _runs_of(path: Path) -> dict[str, Any]:
    """Return the settings of the trainings that ``path`` comes from, by name, as far as they lie beside it."""
    log = _log_of(path)
    sources = [name for name, _ in log.get("mean", [])] + [name for name in (log.get("start"),) if name]
    found = {path.stem: {name: log[name] for name in ("config", "start", "mean", "trained_steps") if name in log}}
    for name in sources:
        beside = path.with_name(f"{name}.safetensors")
        if beside.exists():
            found |= _runs_of(beside)
    return found


def write_calibration(path: Path, calibration: Calibration, figures: Mapping[str, float]) -> None:
    """Put the calibration and its figures into the description of the adapter ``path``."""
    described = json.loads(path.with_suffix(DESCRIPTION_SUFFIX).read_text(encoding="utf-8"))
    described["calibration"] = asdict(calibration)
    described["figures"]["calibration"] = dict(figures)
    write_atomic(path.with_suffix(DESCRIPTION_SUFFIX), as_json(described).encode())


@dataclass(frozen=True, slots=True)
class Shape:
    """What determines the tensors of an adapter: the pretrained model, the rank and the scale of the updates."""

    base: str
    rank: int
    scale: float


def read_shape(path: Path) -> Shape:
    """Return the shape that the description of the adapter ``path`` gives."""
    described = json.loads(path.with_suffix(DESCRIPTION_SUFFIX).read_text(encoding="utf-8"))
    settings = described["config"]
    base = next(name for name, model_id in BASES.items() if model_id == described["base_model"])
    return Shape(base, int(settings["rank"]), float(settings["scale"]))


def read_adapter(path: Path) -> dict[str, Tensor]:
    """Return the tensors of the adapter ``path`` under the names and on the scale of ``SpanReader``."""
    scale = read_shape(path).scale
    tensors: dict[str, Tensor] = {}
    for name, array in restored(load(path.read_bytes())).items():
        tensor = torch.from_numpy(array)
        full = name if name.startswith("head.") else _ENCODER + name
        tensors[full] = tensor / scale if name.endswith(_UP) else tensor
    return tensors


def load_adapter(model: SpanReader, path: Path) -> None:
    """Load the adapter in ``path`` into ``model``; raises ``ValueError`` if it does not fit."""
    model.load_adapter(read_adapter(path))
