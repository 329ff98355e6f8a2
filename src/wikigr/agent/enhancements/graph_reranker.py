"""The second documented import path of ``GraphReranker``."""

from wikigr.agent.reranker import GraphReranker

__all__ = ["GraphReranker"]
