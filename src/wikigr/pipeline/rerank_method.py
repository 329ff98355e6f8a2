"""The ways to rerank results; apart from the code behind them, so that ``--help`` need not load it."""

from __future__ import annotations

from enum import StrEnum


class Method(StrEnum):
    """What to rerank by."""

    GRAPH = "graph"
    CROSS_ENCODER = "cross-encoder"
    GRAPH_AND_CROSS_ENCODER = "graph+cross-encoder"
    QUALITY = "quality"
