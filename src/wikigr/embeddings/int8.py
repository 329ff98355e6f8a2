"""Matrix products in 8-bit integers: how weights are rounded, and the recorded ranges of the other factors.

Weights have one scale per output and 7 bits, so that sums of two products fit in 16 bits: the kernels of CPUs without
VNNI add them there, and every CPU computes the same integers. The other factor has one scale, derived from a range that
``benchmarks/int8_ranges.py`` recorded; values outside of it are clipped. The vector of a text therefore does not depend
on the other texts of its batch, as it would with ranges that are computed for each batch.

In a few channels, values are several times as large as in all others, and a range that includes them leaves few steps
for the others. A range may therefore have divisors for these channels, and their weights are multiplied by them
(SmoothQuant, Xiao et al. 2023, for the outliers only). Where their weights are large as well, a range may name channels
that are multiplied in single precision instead (LLM.int8, Dettmers et al. 2022).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The least and the greatest value, after the division of each channel in ``divisors`` by its divisor.

    The channels in ``single`` are multiplied in single precision and may have any value.
    """

    low: float
    high: float
    divisors: Mapping[int, float] = field(default_factory=dict)
    single: tuple[int, ...] = ()

    @classmethod
    def from_json(cls, values: Any) -> ValueRange:
        """Return the range that ``to_json`` wrote; raises ``ValueError`` or ``TypeError`` for anything else."""
        low, high, *outliers = values
        divisors, single = outliers or ({}, ())
        by_channel = {int(channel): float(divisor) for channel, divisor in divisors.items()}
        return cls(float(low), float(high), by_channel, tuple(map(int, single)))

    def to_json(self) -> list[Any]:
        divisors = {str(channel): divisor for channel, divisor in self.divisors.items()}
        outliers = [divisors, list(self.single)] if self.divisors or self.single else []
        return [self.low, self.high, *outliers]


# The values of a graph that are multiplied with weights, by name.
Ranges = Mapping[str, ValueRange]


def ranges_from_json(values: Mapping[str, Any]) -> Ranges:
    """Return ranges by name; raises ``ValueError``, ``TypeError`` or ``AttributeError`` if they are damaged."""
    return {str(name): ValueRange.from_json(value) for name, value in values.items()}


def ranges_to_json(ranges: Ranges) -> dict[str, Any]:
    return {name: value_range.to_json() for name, value_range in ranges.items()}


RECORDED = Path(__file__).with_name("int8_ranges.json")


def recorded_ranges(weights_sha256: str) -> Ranges | None:
    """Return the ranges of the encoder with these weights, or ``None`` if they were not recorded."""
    recorded: dict[str, Any] = json.loads(RECORDED.read_bytes())
    if recorded["sha256"] != weights_sha256:
        return None
    return ranges_from_json(recorded["ranges"])


def quantize_weights(kernel: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return the integers of a kernel ``[in, out]`` and the scale of each output: ``kernel ≈ integers * scales``."""
    scales = np.abs(kernel).max(axis=0) / np.float32(63)
    scales = np.where(scales > 0, scales, np.float32(1))
    return np.rint(kernel / scales).astype(np.int8), scales.astype(np.float32)


def scale_of(value_range: ValueRange) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Return the scale and the zero point, as scalars, of values in ``value_range``; 0 is always represented."""
    low, high = min(value_range.low, 0.0), max(value_range.high, 0.0)
    scale = (high - low) / 255 or 1.0
    return np.array(scale, np.float32), np.array(round(-low / scale), np.uint8)
