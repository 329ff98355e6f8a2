"""Misspelled words of questions about a boat yard, a clinic and a library."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wikigr.index.lexical import LexicalIndex, LexicalWriter
from wikigr.languages import Language, language_of
from wikigr.question.spelling import corrected

TEXTS = (
    "The varnish of the rudder dries in eight hours. The supplier of the propeller is Brask.",
    "The referral goes to the cardiologist. Blood pressure is measured weekly; the allergy is noted.",
    "Overdue volumes cost a penalty. The catalogue lists the periodicals that were picked and Schrödinger's letters.",
)
# Words of English that are not in the texts.
ENGLISH_WORDS = frozenset("where which costs dog bicycle peanut rather how wine line mend letter".split())


def is_word(word: str) -> bool:
    return word in ENGLISH_WORDS


def is_written(word: str) -> bool:
    return re.search(rf"\b{word}s?\b", " ".join(TEXTS).lower()) is not None


def index_of(folder: Path, language: Language) -> LexicalIndex:
    with LexicalWriter(folder, language) as writer:
        for number, text in enumerate(TEXTS):
            writer.add(f"t#{number}", "Notes", "", text)
    return LexicalIndex(folder, language)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> LexicalIndex:
    return index_of(tmp_path_factory.mktemp("spelling") / "lexical", language_of("en"))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("How long does the vranish of the ruder dry?", "How long does the varnish of the rudder dry?"),
        ("Who is the suplier of the propellor?", "Who is the supplier of the propeller?"),
        ("Where does the refferal go?", "Where does the referral go?"),
        ("Is the blood presure measured?", "Is the blood pressure measured?"),
        ("What about the alergy", "What about the allergy"),
        ("What is the penalyt for overdue volumes?", "What is the penalty for overdue volumes?"),
        ("Where are Schrodinger's letters?", "Where are Schrödinger's letters?"),
        ("Which perriodicla is listed?", "Which periodical is listed?"),
    ],
)
def test_slips_become_words_of_the_pack(index: LexicalIndex, typed: str, meant: str) -> None:
    assert corrected(typed, index, is_word, is_written) == meant


@pytest.mark.parametrize(
    "typed",
    [
        "Which dog costs rather more?",
        'Where is the file "ruder" and `vranish`?',
        "What is ruder7, ruder_x and --ruder?",
        "What dont pickers do?",
        "Wie lang trocknet der Lack eigentlich noch",
        "vranish " * 200,
    ],
)
def test_words_quotations_identifiers_and_other_languages_stay(index: LexicalIndex, typed: str) -> None:
    assert corrected(typed, index, is_word, is_written) == typed


def test_languages_with_words_are_corrected_and_others_are_not(tmp_path: Path) -> None:
    french = index_of(tmp_path / "fr", language_of("fr"))
    assert corrected("le catalouge", french, lambda word: False, is_written) == "le catalogue"
    chinese = index_of(tmp_path / "zh", language_of("zh"))
    assert corrected("catalouge", chinese, lambda word: False, is_written) == "catalouge"
