"""Draw a small graph as SVG: where its dots, labels and lines are. The template only writes them down.

The layout minimizes stress (Gansner, Koren and North, Graph Drawing by Stress Majorization, 2004) from a fixed start,
so that the same graph always gives the same picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

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


NodeRole = Literal["center", "path", "article", "entity"]
EdgeRole = Literal["path", "link", "mention", "fact", "background"]
Arrow = Literal["", "forward", "both"]

# All sizes are in pixels at the natural size of the picture. The width of a character is that of an average one.
_CHARACTER = 6.9
_LINE_HEIGHT = 16.0
_GAP = 18.0
_UNIT = 125.0
_MARGIN = 24.0
# A smaller graph has empty space around it, because it would look coarse if it filled the picture.
_MIN_WIDTH = 900.0
_MIN_HEIGHT = 480.0
_RADIUS = {"center": 9.0, "path": 8.0, "article": 5.5, "entity": 5.5}
_DOT = 2 * max(_RADIUS.values())
# Lines end this far from the border of a dot.
_CLEARANCE = 3.0
_MAX_LINE_LENGTH = 18
_MAX_LINES = 2


@dataclass(frozen=True, slots=True)
class Spot:
    """A node to draw; ``href`` is where it leads."""

    name: str
    role: NodeRole
    href: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line to draw between the spots with these numbers; ``length`` is in units of the layout."""

    source: int
    target: int
    role: EdgeRole
    length: float
    arrow: Arrow = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class PictureNode:
    """A dot at (x, y) with its radius ``r``, and the lines of its label, each with the y of its baseline."""

    x: float
    y: float
    r: float
    lines: tuple[tuple[float, str], ...]
    spot: Spot


@dataclass(frozen=True, slots=True)
class PictureEdge:
    """A line from (x1, y1) to (x2, y2)."""

    x1: float
    y1: float
    x2: float
    y2: float
    line: Line


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing in the area ``x``, ``y``, ``width``, ``height``; its lines are drawn before its nodes."""

    x: int
    y: int
    width: int
    height: int
    nodes: tuple[PictureNode, ...]
    edges: tuple[PictureEdge, ...]


def draw(spots: Sequence[Spot], lines: Sequence[Line], *, path: int) -> Picture:
    """Return the picture of a graph, whose first ``path`` spots go from left to right."""
    labels = [label_lines(spot.name) for spot in spots]
    sizes = [
        (max(map(len, label)) * _CHARACTER + _GAP, _DOT + _LINE_HEIGHT * len(label) + _GAP / 2) for label in labels
    ]
    links = [DrawnEdge(line.source, line.target, line.length) for line in lines]
    boxes = [(float(x), float(y)) for x, y in lay_out(sizes, links, unit=_UNIT, path=path)]
    # A dot is at the top of its box, above the label.
    dots = [(x, y + (_DOT - height) / 2) for (x, y), (_, height) in zip(boxes, sizes, strict=True)]
    left = min(x - width / 2 for (x, _), (width, _) in zip(boxes, sizes, strict=True)) - _MARGIN
    right = max(x + width / 2 for (x, _), (width, _) in zip(boxes, sizes, strict=True)) + _MARGIN
    top = min(y - height / 2 for (_, y), (_, height) in zip(boxes, sizes, strict=True)) - _MARGIN
    bottom = max(y + height / 2 for (_, y), (_, height) in zip(boxes, sizes, strict=True)) + _MARGIN
    width, height = max(right - left, _MIN_WIDTH), max(bottom - top, _MIN_HEIGHT)
    return Picture(
        x=math.floor((left + right - width) / 2),
        y=math.floor((top + bottom - height) / 2),
        width=math.ceil(width),
        height=math.ceil(height),
        nodes=tuple(
            PictureNode(round(x, 1), round(y, 1), _RADIUS[spot.role], _placed(label, y), spot)
            for spot, label, (x, y) in zip(spots, labels, dots, strict=True)
        ),
        edges=tuple(_edge(line, spots, dots) for line in lines),
    )


def label_lines(name: str) -> tuple[str, ...]:
    """Return a name on at most two short lines; what does not fit is replaced by an ellipsis."""
    lines = [""]
    for word in name[: 4 * _MAX_LINE_LENGTH].split():
        joined = f"{lines[-1]} {word}".strip()
        if len(joined) <= _MAX_LINE_LENGTH or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(word)
    kept = [_cut(line) for line in lines[:_MAX_LINES]]
    if len(lines) > _MAX_LINES:
        kept[-1] = f"{kept[-1][: _MAX_LINE_LENGTH - 1].rstrip('…')}…"
    return tuple(kept)


def _cut(line: str) -> str:
    return line if len(line) <= _MAX_LINE_LENGTH else f"{line[: _MAX_LINE_LENGTH - 1]}…"


def _placed(label: Sequence[str], y: float) -> tuple[tuple[float, str], ...]:
    """Return the lines of a label with their baselines below a dot at ``y``."""
    return tuple((round(y + _DOT / 2 + _LINE_HEIGHT * (n + 0.85), 1), line) for n, line in enumerate(label))


def _edge(line: Line, spots: Sequence[Spot], dots: Sequence[tuple[float, float]]) -> PictureEdge:
    """Return a line that ends at the borders of the dots, so that its arrows are visible."""
    (x1, y1), (x2, y2) = dots[line.source], dots[line.target]
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    before, after = (_RADIUS[spots[end].role] + _CLEARANCE for end in (line.source, line.target))
    return PictureEdge(
        round(x1 + dx * before, 1),
        round(y1 + dy * before, 1),
        round(x2 - dx * after, 1),
        round(y2 - dy * after, 1),
        line,
    )
