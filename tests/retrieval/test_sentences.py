"""Sentences of the evidence, scored and ranked with the real encoder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.answer.evidence import evidence, from_markdown, ranked

from wikigr.pack.open import Pack
from wikigr.retrieval.sentences import ENCODED, FRAGMENT_FACTOR, WEIGHTS

QUESTIONS = Path(__file__).parents[2] / "packs" / "physics" / "eval" / "questions.jsonl"


def test_the_sentence_that_answers_comes_first(pack: Pack) -> None:
    text = "The electron is a lepton. Its charge was measured by Robert Millikan in 1909. It has spin one half."
    best = ranked(pack, "Who measured the charge of the electron?", evidence("Electron#0", text, 0.9))[0]
    assert best.text == "Its charge was measured by Robert Millikan in 1909."
    assert best.section.content[best.start : best.end] == best.text


def test_parts_lie_in_the_unit_interval_and_make_the_score(pack: Pack) -> None:
    text = "Light is a wave. Light is made of photons, said Einstein in 1905."
    found = ranked(pack, "When did Einstein speak of photons?", evidence("Light#0", text, 1.0))
    assert len(found) == 2
    for sentence in found:
        parts = sentence.parts()
        assert set(parts) == set(WEIGHTS)
        assert all(0.0 <= value <= 1.0 for value in parts.values())
        assert sentence.score == pytest.approx(sum(WEIGHTS[name] * parts[name] for name in WEIGHTS))
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)


def test_a_fragment_counts_less_than_the_same_words_as_a_sentence(pack: Pack) -> None:
    (sentence,) = ranked(pack, "Who won in 1921?", evidence("Prize#0", "In 1921 Einstein won.", 1.0))
    fragment = replace(sentence, end=sentence.end - 1)
    assert fragment.score == pytest.approx(FRAGMENT_FACTOR * sentence.score)


def test_the_mark_of_a_list_item_is_not_quoted(pack: Pack) -> None:
    text = "Uses:\n\n- Silver atoms split in two.\n\n1. Gold atoms do not.\n2. Lead atoms may."
    found = {s.text for s in ranked(pack, "Which atoms split in two?", from_markdown("Beam#0", text))}
    assert found == {"Uses:", "Silver atoms split in two.", "Gold atoms do not.", "Lead atoms may."}
    # A number that begins a paragraph is a word.
    (day,) = ranked(pack, "Wann fiel die Mauer?", evidence("Mauer#0", "9. November 1989 heißt der Tag.", 1.0))
    assert day.text == "9. November 1989 heißt der Tag."


def test_only_so_many_sentences_are_encoded_and_none_is_lost(pack: Pack) -> None:
    text = " ".join(f"Planck made remark number {n} on quanta." for n in range(3 * ENCODED))
    sentences = ranked(pack, "What did Planck say of quanta?", evidence("Planck#0", text, 1.0))
    assert len(sentences) == 3 * ENCODED
    assert sum(s.cosine > 0 for s in sentences) == ENCODED
