"""Bootstrap intervals that take a few milliseconds once, instead of in every report on the same figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from wikigr.evaluation.statistics import intervals

resample = intervals._resample
_FOUND: dict[tuple[object, ...], Any] = {}


def share_intervals(patch: pytest.MonkeyPatch) -> None:
    """Draw at most 199 resamples, and take over the interval of a statistic with the same figures for 32 drawings."""

    def resample_once(statistic: Callable[..., Any], units: int, *, seed: int, resamples: int, batch: int) -> Any:
        drawn = np.random.default_rng(units).integers(0, units, (32, units))
        with np.errstate(all="ignore"):
            key = (statistic(drawn).tobytes(), units, seed, resamples)
        if key not in _FOUND:
            _FOUND[key] = resample(statistic, units, seed=seed, resamples=min(resamples, 199), batch=batch)
        return _FOUND[key]

    patch.setattr(intervals, "_resample", resample_once)
