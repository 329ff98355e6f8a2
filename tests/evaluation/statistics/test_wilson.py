from __future__ import annotations

import pytest
from scipy.stats import binomtest

from wikigr.evaluation.statistics.wilson import wilson_interval


@pytest.mark.parametrize(("right", "trials"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (700, 1_000)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_is_scipys(right: int, trials: int, level: float) -> None:
    expected = binomtest(right, trials).proportion_ci(confidence_level=level, method="wilson")
    found = wilson_interval(right / trials, trials, level=level)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert (found.level, found.method) == (level, "wilson")
    assert 0.0 <= found.low <= right / trials <= found.high <= 1.0


@pytest.mark.parametrize(("share", "trials", "level"), [(1.1, 5, 0.95), (0.5, 0, 0.95), (0.5, 5, 1.0)])
def test_arguments_out_of_range(share: float, trials: int, level: float) -> None:
    with pytest.raises(ValueError, match="no proportion"):
        wilson_interval(share, trials, level=level)
