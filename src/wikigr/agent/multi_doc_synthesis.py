"""The documented import path of ``MultiDocSynthesizer``."""

from wikigr.answer.multi_doc_synthesis import MultiDocSynthesizer as MultiDocSynthesizer
