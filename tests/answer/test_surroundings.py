"""The surroundings of a quotation are stored text around it, on the same line."""

from __future__ import annotations

from tests.answer.evidence import evidence

from wikigr.answer.candidates.candidate import Quotation
from wikigr.answer.extractive import surroundings
from wikigr.retrieval.sentences import SentenceScore
from wikigr.segmentation import sentence_spans


def around(text: str, quoted: str) -> str:
    section = evidence("A#0", text, 1.0).section
    sentences = [SentenceScore(section, start, end, 0, 0, 0, 0, 0) for start, end in sentence_spans(text)]
    start = text.index(quoted)
    found = surroundings(Quotation(section, start, start + len(quoted)), sentences)
    assert section.content[found.start : found.end] == found.text
    assert quoted in found.text
    return found.text


def test_a_sentence_before_and_after() -> None:
    cases = {
        "He was poor. He moved to Bern. He liked it. He left.": "He was poor. He moved to Bern. He liked it.",
        "He was poor.\n\nHe moved to Bern.\n\nHe liked it.": "He moved to Bern.",
        "- He was poor.\n- He moved to Bern.\n- He liked it.": "He moved to Bern.",
        "He moved to Bern.": "He moved to Bern.",
        f"{'He was very poor and ' * 20}old. He moved to Bern. He liked it.": "He moved to Bern. He liked it.",
    }
    assert {text: around(text, "He moved to Bern.") for text in cases} == cases
