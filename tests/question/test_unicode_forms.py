"""The same word matches in every Unicode form: composed or not, with or without vowel points, with soft hyphens."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from wikigr.index.lexical import stems
from wikigr.index.snippets import find_matches
from wikigr.ingest.staging import Staging
from wikigr.languages import language_of
from wikigr.question.question import checked, content_stems
from wikigr.sources.article import SourceArticle, SourceSection, Triple
from wikigr.sources.block import Block, Cell, fill_paragraphs
from wikigr.text import words

WORDS = [
    ("fr", "théâtre rénové"),
    ("de", "Mühle Gänse"),
    ("es", "otoño mañana"),
    ("pt", "irmã coração"),
    ("vi", "tiếng Việt"),
]


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


@pytest.mark.parametrize(("code", "text"), WORDS)
def test_a_question_in_any_form_has_the_same_words(code: str, text: str) -> None:
    language = language_of(code)
    soft = text[:3] + "\u00ad" + text[3:] + "\ufeff"
    for written in (decomposed(text), soft, decomposed(soft)):
        assert checked(written) == text
        assert content_stems(checked(written), language) == content_stems(text, language)


@pytest.mark.parametrize(("code", "text"), WORDS)
def test_text_is_stored_composed_and_its_blocks_keep_their_place(tmp_path: Path, code: str, text: str) -> None:
    written = decomposed(f"{text} {code}.\n\n- {text}\n- b\n\n{text}: {text} | c: d")
    item = written.index("- ")
    row = written.rindex("\n") + 1
    name = decomposed(text)
    blocks = (
        Block("item", item, item + 2 + len(name), label="-"),
        Block("item", item + 3 + len(name), item + 6 + len(name), label="-"),
        Block(
            "table", row, len(written), columns=(name, "c"),
            rows=((Cell(0, row + len(name) + 2, row + 2 * len(name) + 2), Cell(1, len(written) - 1, len(written))),),
        ),
    )  # fmt: skip
    section = SourceSection((name,), written, blocks=blocks)
    fact = Triple(name, "r", name, name, written.split("\n")[0])
    staging = Staging.begin(tmp_path / "staging")
    staging.add_article(SourceArticle(name, f"{name}.txt", (section,), aliases=(name,), triples=(fact,)))
    ((title, (stored,)),) = staging.records_by_title()
    staging.close()
    (found,) = stored.sections
    assert (title, stored.title, stored.aliases, found.heading_path) == (text, text, (text,), (text,))
    assert found.text == unicodedata.normalize("NFC", written)
    # The id is the path of a file, whose name stays.
    assert stored.source_id == f"{name}.txt"
    assert stored.triples[0].line == f"{text} {code}."
    first, second, table = (block for block in fill_paragraphs(found.text, found.blocks) if block.kind != "paragraph")
    assert found.text[first.start : first.end] == f"- {text}" and found.text[second.start : second.end] == "- b"
    assert [found.text[cell.start : cell.end] for cell in table.rows[0]] == [text, "d"]


@pytest.mark.parametrize(
    ("code", "pointed", "plain"),
    [
        ("ar", "مُحَمَّدٌ كَتَبَ الكِتَابَ", "محمد كتب الكتاب"),
        ("ar", "كـــتاب", "كتاب"),
        ("he", "שָׁלוֹם עֲלֵיכֶם", "שלום עליכם"),
        ("en", "the word שָׁלוֹם", "the word שלום"),
        ("en", "the word كِتَاب", "the word كتاب"),
    ],
)
def test_points_of_hebrew_and_arabic_neither_cut_words_nor_matter(code: str, pointed: str, plain: str) -> None:
    language = language_of(code)
    assert stems(pointed, language) == stems(plain, language)
    assert len(stems(pointed, language)) == len(plain.split())
    assert words(pointed) == words(plain)
    query = set(stems(plain, language))
    assert [pointed[start:end] for start, end in find_matches(pointed, query, language)] == pointed.split()


@pytest.mark.parametrize(
    ("code", "text"), [("hi", "हिन्दी भाषा"), ("ta", "தமிழ் மொழி"), ("th", "ภาษาไทย"), ("bn", "বাংলা ভাষা")]
)
def test_vowel_signs_do_not_cut_words(code: str, text: str) -> None:
    language = language_of(code)
    assert language.characters or language.tokens(text) == text.split()
