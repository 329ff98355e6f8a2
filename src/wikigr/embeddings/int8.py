"""Matrix products in 8-bit integers: how weights are rounded, and the recorded ranges of the other factors.

Weights have one scale per output and 7 bits, so that sums of two products fit in 16 bits: the kernels of CPUs without
VNNI add them there, and every CPU computes the same integers. The other factor has one scale, derived from a range that
``benchmarks/int8_ranges.py`` recorded; values outside of it are clipped. The vector of a text therefore does not depend
on the other texts of its batch, as it would with ranges that are computed for each batch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The values of a graph that are multiplied with weights, by name, with their least and greatest value.
Ranges = Mapping[str, tuple[float, float]]

RECORDED = Path(__file__).with_name("int8_ranges.json")
_MAX_WEIGHT = 63
_MAX_VALUE = 255


def recorded_ranges(weights_sha256: str) -> Ranges | None:
    """Return the ranges of the encoder with these weights, or ``None`` if they were not recorded."""
    recorded: dict[str, Any] = json.loads(RECORDED.read_bytes())
    if recorded["sha256"] != weights_sha256:
        return None
    return {name: (low, high) for name, (low, high) in recorded["ranges"].items()}


def quantize_weights(kernel: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return the integers of a kernel ``[in, out]`` and the scale of each output: ``kernel ≈ integers * scales``."""
    scales = np.abs(kernel).max(axis=0) / np.float32(_MAX_WEIGHT)
    scales = np.where(scales > 0, scales, np.float32(1))
    return np.rint(kernel / scales).astype(np.int8), scales.astype(np.float32)


def scale_of(value_range: tuple[float, float]) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Return the scale and the zero point, as scalars, of values in ``value_range``; 0 is always represented."""
    low, high = min(value_range[0], 0.0), max(value_range[1], 0.0)
    scale = (high - low) / _MAX_VALUE or 1.0
    return np.array(scale, np.float32), np.array(round(-low / scale), np.uint8)
