from __future__ import annotations

from wikigr.text import fold, scrub, word_count, words


def test_fold_ignores_case_underscores_and_unicode_form() -> None:
    cases = {
        "Quantum_mechanics": "quantum mechanics",
        "  Albert   Einstein ": "albert einstein",
        "STRASSE": "strasse",
        "Straße": "strasse",
        "ﬁne structure": "fine structure",
        "Bose–Einstein": "bose–einstein",
    }
    assert {written: fold(written) for written in cases} == cases


def test_composed_and_decomposed_letters_fold_alike() -> None:
    assert fold("Schro\u0308dinger") == fold("Schrödinger")


def test_words_drop_punctuation_and_case() -> None:
    assert words("Bell's theorem (1964): it's TRUE.") == ["bell's", "theorem", "1964", "it's", "true"]


def test_word_count_counts_whitespace_separated_words() -> None:
    assert word_count(" Bell's theorem\n(1964) — proved ") == 5


def test_scrub_replaces_unpaired_surrogates_only() -> None:
    assert scrub("caf\udce9 café 🎈") == "caf? café 🎈"
