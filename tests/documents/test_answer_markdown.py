"""Answers as Markdown: nothing of the stored text is taken for a mark, and tables and code stay what they are."""

from __future__ import annotations

from typing import Any

from markdown_it import MarkdownIt

from wikigr.answer.presentation import CANNOT_LIST
from wikigr.documents.answer_markdown import answer_entry, answer_markdown
from wikigr.documents.blocks import show_written


def source(title: str, quote: str, url: str | None = None) -> Any:
    return {"title": title, "section": "Use", "source_id": "a_b.md", "quote": quote, "url": url}


def document(text: str, **fields: Any) -> Any:
    return {
        "question": "What *is* it?",
        "answer": text,
        "confidence": 0.5,
        "blocks": show_written(text, 2),
        "span": None,
        "citations": [source("One", "a\nb", "https://x.org/(a)<b>")],
        "level": "likely",
        "alternatives": [],
        "kind": "span",
        "model": "",
        "agrees": None,
        "rejected": None,
        "pack": {"name": "notes", "version": "1.0.0"},
        **fields,
    }


def written(text: str, **fields: Any) -> str:
    return answer_markdown(document(text, **fields), lambda url: url)


def test_an_answer_has_its_sources_and_the_other_possible_answers() -> None:
    others = [{"citations": [source("Two", "*c*")]}, {"citations": [source("Three", "d")]}]
    text = written("It is <b>. [1]", span={"text": "<b>"}, alternatives=others)
    assert text == (
        "**\\<b\\>**\n\nIt is \\<b\\>. [1]\n\nSources\n\n1. [One › Use](<https://x.org/(a)%3Cb%3E>): “a b”\n\n"
        "Other possible answers\n\n2. Two › Use (a\\_b.md): “\\*c\\*”\n3. Three › Use (a\\_b.md): “d”\n"
    )
    doubtful = written("It is <b>. [1]", level="not_sure", span={"text": "<b>"}, alternatives=others)
    assert doubtful.startswith("Perhaps one of these:\n\n1. [One") and doubtful.count("\n") == 5
    unlisted = written("It is <b>. [1]", level="not_sure", heading=CANNOT_LIST, alternatives=others)
    assert unlisted == doubtful.replace("Perhaps one of these:", "I cannot list them; here are the sections:")


def test_only_citations_and_marks_of_claims_have_brackets() -> None:
    text = written("[1]: https://evil.example\n [2]: x\n[a](b) [1][2] [unverified] [3]")
    assert text.startswith("\\[1\\]: https://evil.example  \n\\[2\\]: x  \n\\[a\\](b) [1][2] [unverified] \\[3\\]\n")
    assert written("So it is [1](https://evil.example).").startswith("So it is \\[1\\](https://evil.example).")


def test_the_lines_of_a_paragraph_begin_no_list_and_no_heading() -> None:
    for text in ("Tides\n-----", "Tides\n=", "It is\n- red", "It is\n1. red", "It is\n+ red", "-"):
        tokens = MarkdownIt().parse(written(text, citations=[]))
        assert [token.type for token in tokens if token.level == 0] == ["paragraph_open", "paragraph_close"], text
        assert "".join(part.content for part in tokens[1].children or []) == text.replace("\n", ""), text
    assert written("-5 degrees, 1.5 m", citations=[]) == "-5 degrees, 1.5 m\n"


def test_an_entry_has_the_question_the_level_and_the_packs() -> None:
    packs = [{"name": "a_b", "version": "1.0.0"}, {"name": "c", "version": "2.0.0"}]
    entry = answer_entry(document("It. [1]", packs=packs), lambda url: None)
    assert entry == (
        "## What \\*is\\* it?\n\nIt. [1]\n\n"
        "Sources\n\n1. One › Use (a\\_b.md): “a b”\n\nLikely (0.50), a\\_b 1.0.0, c 2.0.0\n"
    )
