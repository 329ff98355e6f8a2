"""The documented import path of ``CrossEncoderReranker``."""

from wikigr.retrieval.rerankers.cross_encoder import CrossEncoderReranker

__all__ = ["CrossEncoderReranker"]
