"""Draw a small graph as SVG: where its dots, labels and lines are. The template only writes them down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wikigr.serve.web.graph_layout import DrawnEdge, lay_out

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
