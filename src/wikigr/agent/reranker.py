"""The documented import path of ``GraphReranker``."""

from wikigr.rerankers.graph_reranker import GraphReranker as GraphReranker
