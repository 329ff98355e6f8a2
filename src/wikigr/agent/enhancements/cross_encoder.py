"""The second documented import path of ``CrossEncoderReranker``."""

from wikigr.rerankers.cross_encoder import CrossEncoderReranker as CrossEncoderReranker
