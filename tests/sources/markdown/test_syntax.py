"""Syntax of notes beyond CommonMark."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.sources.markdown.notes import article, lead, read, write


@pytest.mark.parametrize("text", ["[[", "[[]]", "[[ | ]]", "[[a\nb]]", "[[a", "![[ ]]"])
def test_other_brackets_are_not_wiki_links(text: str) -> None:
    assert article(f"x {text}").links == ()


def test_wiki_links_in_tables_and_headings() -> None:
    found = article("# Note\n\n## About [[Atom|atoms]]\n\n| A | B |\n|---|---|\n| [[Ion\\|ions]] | *b* |\n| 1 | |\n")
    assert [(s.heading_path, s.text) for s in found.sections] == [(("About atoms",), "A: ions | B: b\nA: 1")]
    assert found.links == ("Atom", "Ion")
    # Notes pasted from a table keep the backslash.
    assert article("[[Ion\\|ions]]").links == ("Ion",)


def test_footnotes_are_text_of_their_own() -> None:
    found = article(
        "Cats[^1] purr[^long]. And[^none] `[^1]`\n\n[^1]: Smith\n\n"
        "[^long]: One *two*\n    three\n\n    Four [g](g.md).\n\nLast.\n\n```\n[^1]: code\n```\n"
    )
    assert found.sections[0].text == (
        "Cats purr. And[^none] [^1]\n\nSmith\n\nOne two three\n\nFour g.\n\nLast.\n\n[^1]: code"
    )
    assert found.links == ("dir/g.md",)


@pytest.mark.trust
def test_unclosed_footnote_marks_cost_no_more_than_their_length() -> None:
    begin = time.process_time()
    assert "[^[^" in lead("[^" * 20_000 + "\n\n[^1]: x")
    # A fifth of a second of the processor; with the square of their number, two minutes.
    assert time.process_time() - begin < 10


def test_footnote_in_a_title(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# Cats[^1] {#cats}\n\ntext\n\n[^1]: Smith", "b.md": "Dogs\n====\n\ntext"})
    assert [item.title for item in read(tmp_path)] == ["Cats", "Dogs"]
    assert [s.heading_path for item in read(tmp_path) for s in item.sections] == [(), ()]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A claim. ^blk99", "A claim."),
        ("- one ^a-1\n- two ^two\n\n^whole-list\n\nend", "- one\n- two\n\nend"),
        ("one ^two\nthree ^four five", "one three ^four five"),
        ("| a |\n|---|\n| b ^cell |\n^table", "a\nb"),
        (
            "x ^2\n\n2 ^n\n\n2 ^10\n\na^bc\n\n`a ^blk99`\n\n\\^blk99",
            "x ^2\n\n2 ^n\n\n2 ^10\n\na^bc\n\na ^blk99\n\n^blk99",
        ),
        ("    a ^blk99\n\n$x ^ab$", "a ^blk99\n\n$x ^ab$"),
    ],
)
def test_block_ids_are_removed(text: str, shown: str) -> None:
    assert lead(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a %% no %%, b", "a, b"),
        ("%% no %% a", "a"),
        ("a\n\n%%\nno\n\n# no\n\n```\nno\n%%\n\nb", "a\n\nb"),
        ("a\n%%\nno\n\nno\n%% b\n\nc", "a\n\nb\n\nc"),
        ("- a\n  %% no\n\n  no %%\n  b\n- c", "- a\n\n  b\n- c"),
        ("> %%\n> no\n\nb %% c", "%% no\n\nb %% c"),
        ("- a\n\n  %% no\n\nb %% c", "- a\n\n  %% no\n\nb %% c"),
        ("- a\n\n  %% no\n\n          no %% bcd\n- e", "- a\n\n  bcd\n- e"),
        ("`a %% b` c `%% d`", "a %% b c %% d"),
        ("```\n%% a\n%%\n```\n\n    %%\n    b\n    %%", "%% a\n%%\n\n%%\nb\n%%"),
        ("50%% to 60%% and 100%%", "50%% to 60%% and 100%%"),
        ("%% never closed\n\nb", "%% never closed\n\nb"),
    ],
)
def test_comments_are_removed(text: str, shown: str) -> None:
    assert lead(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a ==b *c*== d", "a b c d"),
        ("**==a==** ==**b**== [==c==](x.md)", "a b c"),
        ("这是==重点==内容", "这是重点内容"),
        ("==a\nb==.", "a b."),
        ("x==1 and y==2, a == b == c", "x==1 and y==2, a == b == c"),
        ("x==1== y", "x==1== y"),
        ("x ==1 and y==2", "x ==1 and y==2"),
        ("a ===b=== c ==d", "a ===b=== c ==d"),
        ("`==a==` ==`b`== \\==d==", "==a== b ==d=="),
        ("$a ==b== c$\n\n    ==a==", "$a ==b== c$\n\n==a=="),
    ],
)
def test_highlights_lose_their_marks(text: str, shown: str) -> None:
    assert lead(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("> [!note] A *title*\n> body\n> more", "A title\n\nbody more"),
        ("> [!WARNING]\n> body", "Warning\n\nbody"),
        ("> [!tip]- Folded\n> - a\n> - b", "Folded\n\n- a\n- b"),
        ("> [!my-kind|meta]+\n> > [!quote] Inner\n> > words", "My kind\n\nInner\n\nwords"),
        ("> a [!note] b\n\n[!note] c\n\n> `[!note] d`", "a [!note] b\n\n[!note] c\n\n[!note] d"),
        ("> a\n>\n> [!note] b\n\n    > [!note] c", "a\n\n[!note] b\n\n> [!note] c"),
    ],
)
def test_callouts_lose_their_marks(text: str, shown: str) -> None:
    assert lead(text) == shown


@pytest.mark.parametrize(
    ("heading", "shown", "anchor"),
    [
        ("## H {#custom-id}", "H", "custom-id"),
        ("## H {: #kramdown .b key=val k='v' } ##", "H", "kramdown"),
        ('H {#a k="two #words"}\n---', "H", "a"),
        ("## H { .b #a:1 }", "H", "a:1"),
        ("## H {.b}", "H", "h"),
        ("## H {#a} more", "H {#a} more", "h-a-more"),
        ("## The `{#id}`", "The {#id}", "the-id"),
        ("## Length ${#name}", "Length ${#name}", "length-name"),
        ("## A set {a, b}", "A set {a, b}", "a-set-a-b"),
        ("## H \\{#id}", "H {#id}", "h-id"),
    ],
)
def test_the_id_of_a_heading_is_its_anchor_and_not_shown(heading: str, shown: str, anchor: str) -> None:
    (section,) = article(f"{heading}\n\ntext {{#id}}").sections
    assert (section.heading_path, section.text, section.anchor) == ((shown,), "text {#id}", anchor)


def test_headings_with_and_without_an_id_are_numbered_together() -> None:
    text = "## Use {#first}\n\na\n\n## Use\n\nb\n\n<h2 id='third'>Use</h2>\n\nc\n\n<h2>Use</h2>\n\nd"
    assert [section.anchor for section in article(text).sections] == ["first", "use-1", "third", "use-3"]
