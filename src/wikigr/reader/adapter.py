"""The adapters of the readers, which ship with wikigr: low-rank updates of an encoder's weights, and a head.

``adapters/small.safetensors`` and ``adapters/base.safetensors`` hold float16 tensors that are named after the encoder's
own: the weight ``NAME.weight`` of a layer becomes ``NAME.weight + NAME.up @ NAME.down``. ``head.weight`` and
``head.bias`` map a token's vector to the logits of the start and the end of an answer. The updates may
instead be 8-bit integers: the float16 tensor ``scales`` has a row for each of them, in the order of their names, with
a factor for each rank. The JSON file beside it describes the
adapter: the sha256 of both weights, the data, their licenses, the settings, the figures, the calibration, and the
command that made it. It may also have the ranges for products in 8-bit integers, which ``training/int8_ranges.py``
adds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikigr.embeddings.int8 import Ranges, ranges_from_json
from wikigr.errors import ModelError
from wikigr.reader.passage import Calibration

FORMAT = "wikigr-reader-1"
DESCRIPTION_SUFFIX = ".json"

SCALES = "scales"

_FOLDER = Path(__file__).with_name("adapters")
ADAPTER = _FOLDER / "small.safetensors"
BASE_ADAPTER = _FOLDER / "base.safetensors"

_REINSTALL = "Install wikigr again: pip install --force-reinstall --no-deps wikigr"


@dataclass(frozen=True, slots=True)
class AdapterDescription:
    """What an adapter's JSON file says: ``sha256`` is that of the adapter, ``base_sha256`` that of its base's weights.

    ``calibration`` makes probabilities of margins. Without ``ranges``, the reader computes in single precision.
    """

    sha256: str
    base_model: str
    base_sha256: str
    calibration: Calibration
    ranges: Ranges | None = None

    @classmethod
    def read(cls, adapter: Path = ADAPTER) -> AdapterDescription:
        """Read the description of ``adapter``; raises ``ModelError`` if it is missing or damaged."""
        path = adapter.with_suffix(DESCRIPTION_SUFFIX)
        try:
            with path.open("rb") as stream:
                described = json.loads(stream.read(64 * 1024))
            if described["format"] != FORMAT:
                raise ValueError(f"its format is {described['format']!r}, not {FORMAT!r}")
            return cls(
                sha256=str(described["sha256"]),
                base_model=str(described["base_model"]),
                base_sha256=str(described["base_sha256"]),
                calibration=Calibration.from_json(described["calibration"]),
                ranges=ranges_from_json(described["ranges"]) if "ranges" in described else None,
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ModelError(f"Cannot read the reader's description {path}: {error}.", hint=_REINSTALL) from error


class Adapter:
    """The tensors of an adapter, in float32."""

    def __init__(self, path: Path = ADAPTER) -> None:
        """Read ``path``; raises ``ModelError`` if it is missing, or is not the file that its description names."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        from wikigr.embeddings.prepared_files import sha256_of

        self.description = AdapterDescription.read(path)
        found = sha256_of(path) if path.is_file() else "missing"
        if found != self.description.sha256:
            raise ModelError(
                f"The reader's adapter {path} is damaged: its sha256 is {found}, not {self.description.sha256}.",
                hint=_REINSTALL,
            )
        try:
            self._tensors = restored(load_file(path))
        except (OSError, SafetensorError, ValueError) as error:
            raise ModelError(f"Cannot read the reader's adapter {path}: {error}.", hint=_REINSTALL) from error
        self._path = path

    def update(self, name: str) -> NDArray[np.float32] | None:
        """Return what is added to the weight ``name``, or ``None`` if it stays as it is."""
        layer = name.removesuffix(".weight")
        up, down = (self._tensors.get(f"{layer}.{part}") for part in ("up", "down"))
        if up is None or down is None:
            return None
        # Sums of products of float16 are exact in double precision, so their order, which depends on the threads of
        # the BLAS, does not matter.
        return (up.astype(np.float64) @ down.astype(np.float64)).astype(np.float32)

    def tensor(self, name: str, *shape: int) -> NDArray[np.float32]:
        """Return the tensor ``name``; raises ``ModelError`` if it does not have ``shape``."""
        tensor = self._tensors.get(name)
        if tensor is None or tensor.shape != shape:
            raise ModelError(f"The reader's adapter {self._path} does not fit: {name} must have the shape {shape}.")
        return tensor


def restored(stored: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float32]]:
    """Return the tensors of an adapter in float32; raises ``ValueError`` if the scales do not fit the integers."""
    tensors = {name: np.asarray(array, np.float32) for name, array in stored.items()}
    scales = tensors.pop(SCALES, np.zeros((0, 0), np.float32))
    integers = sorted(name for name, array in stored.items() if array.dtype == np.int8)
    for name, scale in zip(integers, scales, strict=True):
        tensors[name] *= scale if name.endswith(".up") else scale[:, None]
    return tensors


def as_json(values: Mapping[str, Any]) -> str:
    """Return a description as the text of its file."""
    return json.dumps(values, indent=2, sort_keys=True) + "\n"
