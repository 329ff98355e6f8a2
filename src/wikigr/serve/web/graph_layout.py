"""Place the nodes of a small graph in the plane, so that their labels do not overlap.

The layout minimizes stress (Gansner, Koren and North, Graph Drawing by Stress Majorization, 2004) from a fixed start,
so that the same graph always gives the same picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

_ITERATIONS = 120
_SEPARATION_ROUNDS = 300
# The share of an overlap by which each of two boxes is moved in a round.
_PUSH = 0.3
# Pictures are wider than high, like screens and labels.
_STRETCH = 1.5
# The distance of the nodes of a path.
_PATH_STEP = 1.6
# The distance of unconnected nodes, in edges.
_FAR = 4.0


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """An edge between the nodes with these numbers; ``length`` is the distance at which it would have them, above 0."""

    source: int
    target: int
    length: float = 1.0


def lay_out(sizes: Sequence[tuple[float, float]], links: Sequence[DrawnEdge], *, unit: float, path: int) -> Points:
    """Return the centers of boxes with these ``sizes`` (width, height), which do not overlap, as rows (x, y).

    ``unit`` is the length of a link in the units of ``sizes``. The first ``path`` nodes are on a horizontal line, from
    left to right; with one, it is in the middle of the others.
    """
    pinned = np.zeros((path, 2))
    pinned[:, 0] = _PATH_STEP * (np.arange(path) - (path - 1) / 2.0)
    points = _minimize_stress(_distances(len(sizes), links), pinned)
    points *= np.array([_STRETCH, 1.0]) * unit
    return _separated(points, np.array(sizes, dtype=float), path)


def _distances(count: int, links: Sequence[DrawnEdge]) -> Points:
    """Return the lengths of the shortest paths between all nodes (Floyd and Warshall)."""
    distances = np.full((count, count), np.inf)
    np.fill_diagonal(distances, 0.0)
    for link in links:
        shortest = min(link.length, distances[link.source, link.target])
        distances[link.source, link.target] = distances[link.target, link.source] = shortest
    for middle in range(count):
        np.minimum(distances, distances[:, [middle]] + distances[[middle], :], out=distances)
    np.fill_diagonal(distances, 0.0)
    return np.where(np.isinf(distances), _FAR, distances)


def _minimize_stress(distances: Points, pinned: Points) -> Points:
    """Return points whose distances are close to the given ones, by majorization with weights 1 / distance².

    The first points stay where they are ``pinned``.
    """
    count = len(distances)
    # A spiral with the golden angle spreads any number of points evenly; the first node is in the middle.
    steps = np.arange(count, dtype=float)
    angles = steps * math.pi * (3.0 - math.sqrt(5.0))
    points = np.sqrt(steps / count)[:, None] * np.column_stack((np.cos(angles), np.sin(angles))) * 2.0
    points[: len(pinned)] = pinned
    safe = distances + np.eye(count)
    weights = np.where(distances > 0.0, 1.0 / safe**2, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    for _ in range(_ITERATIONS):
        apart = np.linalg.norm(points[:, None] - points[None, :], axis=2) + np.eye(count)
        ratios = weights * distances / np.maximum(apart, 1e-9)
        points = inverse @ ((np.diag(ratios.sum(axis=1)) - ratios) @ points)
        points[: len(pinned)] = pinned
    return np.asarray(points)


def _separated(points: Points, sizes: Points, pinned: int) -> Points:
    """Push overlapping boxes apart, along the axis in which they overlap less; the first ``pinned`` do not move."""
    points = points.copy()
    least = (sizes[:, None] + sizes[None, :]) / 2.0
    later = np.triu(np.ones((len(points), len(points)), dtype=bool), 1)
    for _ in range(_SEPARATION_ROUNDS):
        between = points[None, :] - points[:, None]
        overlap = least - np.abs(between)
        pairs = np.argwhere((overlap > 0.5).all(axis=2) & later)
        if not len(pairs):
            break
        for first, second in pairs:
            side = 1 if overlap[first, second, 1] <= overlap[first, second, 0] else 0
            push = math.copysign(overlap[first, second, side] * _PUSH, between[first, second, side])
            if first >= pinned:
                points[first, side] -= push
            points[second, side] += push
    return points
