"""Facts: the complete sentences of a text (reference/multidoc-synthesizer.md, `_extract_facts`)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wikigr.segmentation import sentence_spans

# A shorter piece without end punctuation is a heading, a label or a list mark.
MIN_FRAGMENT_CHARS = 20

_QUESTION = re.compile(r"\?[\"'”’)\]]*$")
_COMPLETE = re.compile(r"[.!…][\"'”’)\]]*$")


def extract_facts(texts: Iterable[str]) -> list[str]:
    """Return the statements of ``texts`` in order, each once: see ``facts_among``."""
    return facts_among(text[start:end] for text in texts for start, end in sentence_spans(text))


def facts_among(sentences: Iterable[str]) -> list[str]:
    """Return the statements among ``sentences``, in order, without duplicates, and with single spaces.

    A sentence with end punctuation counts if it has two words, a piece without it if it has ``MIN_FRAGMENT_CHARS``
    characters. Questions do not count.
    """
    plain = (" ".join(sentence.split()) for sentence in sentences)
    return list(dict.fromkeys(sentence for sentence in plain if _is_fact(sentence)))


def _is_fact(sentence: str) -> bool:
    if _QUESTION.search(sentence):
        return False
    if _COMPLETE.search(sentence):
        return len(sentence.split()) >= 2
    return len(sentence) >= MIN_FRAGMENT_CHARS
