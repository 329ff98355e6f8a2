"""The second documented import path of ``CrossEncoderReranker``."""

from wikigr.agent.cross_encoder import CrossEncoderReranker

__all__ = ["CrossEncoderReranker"]
