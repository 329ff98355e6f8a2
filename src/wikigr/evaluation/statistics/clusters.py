"""Clusters of dependent questions: numbering, sums and the cluster-robust standard error."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

# Sums that differ by less than this share of their terms' magnitude differ only by rounding.
ROUNDING = 1e-12


def clustered_standard_error(differences: ArrayLike, clusters: Sequence[Hashable]) -> float:
    """Return the cluster-robust standard error of the mean difference.

    Cameron & Miller (2015), "A Practitioner's Guide to Cluster-Robust Inference", for a regression on a constant only,
    with the CR1 factor: ``sqrt(G / (G - 1) * sum over clusters of (sum of residuals) ** 2) / n`` for G clusters, n
    questions and residuals from the mean. (The other half of the factor, (n - 1) / (n - k), is 1 for one coefficient.)
    If each question is its own cluster, this is the ordinary ``s / sqrt(n)``.

    ``differences`` has shape ``(n,)``, all finite; ``clusters`` holds a key for each. NaN for a single cluster. Raises
    ``ValueError`` for an argument out of range.
    """
    data = finite_values(differences)
    if float(np.ptp(data)) <= ROUNDING * float(np.abs(data).max()):
        residuals = np.zeros(len(data))
    else:
        residuals = data - data.mean()
    sums, _ = cluster_sums(residuals, clusters)
    if len(sums) < 2:
        return math.nan
    return math.sqrt(len(sums) / (len(sums) - 1) * float(sums @ sums)) / len(data)


def cluster_sums(data: Floats, clusters: Sequence[Hashable]) -> tuple[Floats, Floats]:
    """Return the sum and the number of the values in each cluster, in order of first appearance."""
    which = cluster_numbers(clusters, len(data))
    return np.bincount(which, weights=data).astype(np.float64), np.bincount(which).astype(np.float64)


def cluster_numbers(clusters: Sequence[Hashable], values: int) -> NDArray[np.int64]:
    """Return the cluster number of each of ``values`` values, numbered in order of first appearance.

    Raises ``ValueError`` if the lengths differ.
    """
    if len(clusters) != values:
        raise ValueError(f"{len(clusters)} clusters do not fit {values} values")
    numbers: dict[Hashable, int] = {}
    # A tuple keeps a caller's key apart from the position that identifies a question without a cluster.
    which = [
        numbers.setdefault((None, place) if key is None else (key,), len(numbers)) for place, key in enumerate(clusters)
    ]
    return np.array(which, dtype=np.int64)


def finite_values(values: ArrayLike) -> Floats:
    """Return ``values`` as an array of shape ``(n,)``; raise ``ValueError`` if it is empty or has NaN or infinity."""
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1 or not data.size:
        raise ValueError(f"values must be a list of at least one number, not of shape {data.shape}")
    if not np.isfinite(data).all():
        raise ValueError("a value is NaN or infinite")
    return data
