"""Structure of plain text: lists, definitions, manual pages, and words that a hyphen divides between lines."""

from __future__ import annotations

import time

import pytest
from tests.sources.test_text import parse

from wikigr.sources.article import SourceArticle
from wikigr.sources.block import fill_paragraphs


def read(text: str) -> list[tuple[tuple[str, ...], list[tuple[str, str, int]]]]:
    article = parse(text)
    assert isinstance(article, SourceArticle)
    return [
        (
            section.heading_path,
            [
                (block.kind, section.text[block.start : block.end], block.depth)
                for block in fill_paragraphs(section.text, section.blocks)
            ],
        )
        for section in article.sections
    ]


def text_of(text: str) -> str:
    article = parse(text)
    assert isinstance(article, SourceArticle)
    return "\n\n".join(section.text for section in article.sections)


def test_lists_with_bullets_numbers_and_letters_are_items() -> None:
    text = "To do:\n- salt\n  - fine\n* oil for\n  the pump\n\n1. Open it.\n\n2. Close it.\n\na) red\nb) blue\n"
    ((_, blocks),) = read(text)
    assert blocks == [
        ("paragraph", "To do:", 0),
        ("item", "- salt", 0),
        ("item", "- fine", 1),
        ("item", "* oil for the pump", 0),
        ("item", "1. Open it.", 0),
        ("item", "2. Close it.", 0),
        ("item", "a) red", 0),
        ("item", "b) blue", 0),
    ]


def test_a_name_with_an_initial_is_no_item() -> None:
    assert read("A. Quill wrote this letter.\n\nIt is short.\n") == [
        ((), [("paragraph", "A. Quill wrote this letter.", 0), ("paragraph", "It is short.", 0)])
    ]


def test_a_manual_page_has_sections_and_options() -> None:
    page = (
        "MILL(1)\n\nNAME\n       mill - grind grain\n\nOPTIONS\n       -f, --fine\n              grind it twice\n\n"
        "       -n\n              do nothing\n\nEXAMPLES\n       Grind a sack:\n\n           mill --fine sack\n"
    )
    sections = dict(read(page))
    assert sections[("NAME",)] == [("paragraph", "mill - grind grain", 0)]
    assert sections[("OPTIONS",)] == [
        ("term", "-f, --fine", 0),
        ("paragraph", "grind it twice", 1),
        ("term", "-n", 0),
        ("paragraph", "do nothing", 1),
    ]
    assert [kind for kind, _, _ in sections[("EXAMPLES",)]] == ["paragraph", "code"]


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("The manu-\nfacturer says so.", "The manufacturer says so."),
        ("The manu\u00ad\nfacturer says so.", "The manufacturer says so."),
        ("The manu\u2010\n   facturer says so.", "The manufacturer says so."),
        ("Die Wasser-\nversorgung ruht.", "Die Wasserversorgung ruht."),
        ("L'appro-\nvisionnement dure.", "L'approvisionnement dure."),
        # The hyphen of a compound stays, if the text has it or both words elsewhere.
        ("A well-known mill. It is well-\nknown here.", "A well-known mill. It is well-known here."),
        ("It is well and known, a well-\nknown mill.", "It is well and known, a well-known mill."),
        # Names, numbers, dashes and lists of parts.
        ("Port Anna-\nMarie is far.", "Port Anna-\nMarie is far."),
        ("From 1900-\n1940 it ran.", "From 1900-\n1940 it ran."),
        ("In pre-\nand post-war days.", "In pre-\nand post-war days."),
        ("a so\u00adft word", "a soft word"),
    ],
)  # fmt: skip
def test_a_word_that_a_hyphen_divides_between_lines_is_joined(text: str, joined: str) -> None:
    assert text_of(f"{text}\n") == joined


@pytest.mark.trust
@pytest.mark.parametrize("unit", ["a-\nb ", "- a\n", "  " * 40 + "- a\n", "a" * 79 + "-\n", "A\n   b\n\n", "a\n  b\n"])
def test_time_grows_with_the_length(unit: str) -> None:
    def seconds(chars: int) -> float:
        start = time.process_time()
        parse((unit * (chars // len(unit) + 1))[:chars] + "\n")
        return time.process_time() - start

    assert any(seconds(80_000) < 8 * seconds(20_000) + 0.1 for _ in range(3))
