"""Replies of a hostile model server: their claims are checked in time that grows with their length, however they come.

``limit`` allows far more than ordinary replies of this size need; time that grows with the square takes minutes.
"""

from __future__ import annotations

import json
from itertools import islice, product
from pathlib import Path

import pytest
from tests.answer.evidence import evidence
from tests.sources.test_hostile_input import limit

from wikigr.answer.citation_stream import CitationStream, Written
from wikigr.answer.few_shot import FewShotManager
from wikigr.answer.requests import CitationStyle
from wikigr.llm.reply import Reply, TextBlock, TextDelta
from wikigr.llm.usage import Usage

EVIDENCE = [evidence("Bees#0", "Bees make honey in 12 hives. They never sleep.", 0.9)]


def written(reply: str, size: int, style: CitationStyle = "markers") -> Written:
    """Return what becomes of a reply that comes in pieces of ``size`` characters."""
    pieces: list[str] = []
    stream = CitationStream(EVIDENCE, style, pieces.append, question="What do bees make?")
    for start in range(0, len(reply), size):
        stream.take(TextDelta(reply[start : start + size]))
    made = stream.finish()
    assert "".join(pieces).split() == made.text.split()
    return made


@pytest.mark.trust
@pytest.mark.parametrize(
    ("reply", "size"),
    [
        ("." * 300_000, 40),
        ("```\n" + "a\n" * 150_000, 40),
        ("| " + "[Bees" * 25_000 + "]" * 25_000 + " |\n", 1 << 20),
        ("| " + " " * 300_000 + "a |\n", 1 << 20),
        ("| a |\n" + " " * 300_000 + "a", 1 << 20),
        ("Bees fly.\n" + "\n" * 300_000 + "a", 40),
        ("Bees fly.\n" + " \n" * 150_000 + "a", 1 << 20),
    ],
)
def test_a_long_reply(reply: str, size: int) -> None:
    with limit():
        written(reply, size)


@pytest.mark.trust
def test_long_claims_about_a_long_sentence() -> None:
    def words(letters: str, count: int) -> str:
        return " ".join("".join(word) for word in islice(product(letters, repeat=6), count))

    sentence = evidence("Bees#0", f"they {words('abcdefgh', 14_000)}.", 0.9)
    with limit():
        stream = CitationStream([sentence], "markers", lambda piece: None, question="What do bees make?")
        stream.take(TextDelta(f"they {words('mnopqrst', 400)}.\n\n" * 20))
        assert "[unverified]" in stream.finish().text


def test_a_reply_says_the_same_whole_and_in_pieces() -> None:
    reply = "Bees make honey. They never sleep [1]. Dr. Bo sleeps. (Bees fly.)\n\n- Bees sleep.\n\n```\nhoney\n```\n"
    whole = written(reply * 50, 1 << 20)
    assert (whole.text.count("Bees make honey [1]."), whole.claims) == (50, 300)
    assert whole.text.count(".)\n\n- Bees") == whole.text.count("]\n\nBees") + 1 == 50
    for size in (7, 3_999):
        assert written(reply * 50, size) == whole


@pytest.mark.parametrize(
    "reply",
    [
        "Bees make honey.\n\nBees never sleep. They make honey [1].\n\n\nThey fly.\n",
        "Bees:\n\n- Bees make honey.\n- They never sleep.\n\n1. They fly.\n\n   They make honey.\n",
        "# Bees\n\nBees make honey.\n \t\n\nThey never sleep.\n\nSources:\n\n[1] Bees\n",
        "| a | b |\n|---|---|\n| honey | 12 hives |\n\nBees make honey.\n\n```\nhoney\n```\n\nThey never sleep.",
    ],
)
def test_blank_lines_stay_wherever_a_piece_ends(reply: str) -> None:
    whole = written(reply, len(reply))
    assert {size: written(reply, size).text for size in range(1, len(reply))} == dict.fromkeys(
        range(1, len(reply)), whole.text
    )


def test_white_space_before_a_fence_that_is_missing() -> None:
    with limit():
        assert Reply((TextBlock("{" + "\n" * 200_000 + "x}"),), None, "m", Usage(), None).input_of("a") is None


def test_examples_with_long_lines_of_equals_signs(tmp_path: Path) -> None:
    example = {"question": "Why?" + "=" * 200_000 + "a", "context": {}, "answer": "Because."}
    (tmp_path / "examples.json").write_text(json.dumps([example]))
    with limit():
        manager = FewShotManager(tmp_path / "examples.json")
        assert "=== Example 1" in manager.format_for_prompt(manager.load_examples())
