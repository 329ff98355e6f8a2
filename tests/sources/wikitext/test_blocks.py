"""The structure of wikitext as blocks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sources.wikitext.test_page import parse

from wikigr.sources.block import Block, fill_paragraphs


def blocks_of(wikitext: str) -> list[tuple[str, str, int, str]]:
    found: list[tuple[str, str, int, str]] = []
    for section in parse(wikitext).sections:
        for block in fill_paragraphs(section.text, section.blocks):
            found.append((block.kind, section.text[block.start : block.end], block.depth, block.label))
    return found


def table_of(wikitext: str) -> tuple[tuple[str, ...], list[list[tuple[int, str]]]]:
    (section,) = parse(wikitext).sections
    (table,) = (block for block in section.blocks if block.kind == "table")
    assert all(table.start <= cell.start <= cell.end <= table.end for row in table.rows for cell in row)
    return table.columns, [[(column, section.text[start:end]) for column, start, end in row] for row in table.rows]


@pytest.mark.parametrize(
    ("wikitext", "blocks"),
    [
        ("Intro:\n* a\n** b\n*# c\n* d", [("paragraph", "Intro:", 0, ""), ("item", "- a", 0, "-"),
         ("item", "- b", 1, "-"), ("item", "1. c", 1, "1."), ("item", "- d", 0, "-")]),
        ("; one\n: first\n: more\n; two : second\ntext",
         [("term", "one", 0, ""), ("paragraph", "first", 1, ""), ("paragraph", "more", 1, ""), ("term", "two", 0, ""),
         ("paragraph", "second", 1, ""), ("paragraph", "text", 0, "")]),
        ('<syntaxhighlight lang="python">\nif x:\n    y\n</syntaxhighlight>\nand\n<pre>a  b</pre>\n x\n  y',
         [("code", "if x:\n    y", 0, "python"), ("paragraph", "and", 0, ""), ("code", "a  b", 0, ""),
         ("code", "x\n y", 0, "")]),
        ("a <source lang=c inline>b</source> c", [("paragraph", "a b c", 0, "")]),
        ("He said:\n<blockquote>\nGo.\n\nCome.\n</blockquote>\nThen.",
         [("paragraph", "He said:", 0, ""), ("quotation", "Go.", 0, ""), ("quotation", "Come.", 0, ""),
         ("paragraph", "Then.", 0, "")]),
        ("{{quote|Go.|Ada}}\nThen.", [("quotation", "Go.\n— Ada", 0, ""), ("paragraph", "Then.", 0, "")]),
        ("<blockquote>Go.\n== Next ==\nThen.", [("quotation", "Go.", 0, ""), ("paragraph", "Then.", 0, "")]),
        ("[[File:mill.jpg|thumb|200px|The [[mill]] in {{circa|1900}}]]\nText.",
         [("caption", "The mill in c. 1900", 0, ""), ("paragraph", "Text.", 0, "")]),
        *((f"It ground{note} bags.\n\nIt burned.\n== Later ==\nGone.",
         [("paragraph", "It ground bags.", 0, ""), ("paragraph", "It burned.", 0, ""),
         ("footnote", "Or flour, as Ada says.", 0, ""),
         ("paragraph", "Gone.", 0, "")]) for note in ("{{efn|Or flour, as [[Ada]] says.<ref>Roy 1990, p. 3</ref>}}",
         "{{refn|group=note|Or flour,\nas {{nobr|Ada says}}.}}",
         '<ref group="Anm.">Or \'\'flour\'\', as Ada says.</ref>',
         "{{#tag:ref|Or flour, as Ada says.|group=n}}<ref>{{cite book|title=Mills}}</ref>")),
        ("It ground bags.{{efn|name=a}}<ref group=n name=b /><ref name=c>Roy 1990</ref>",
         [("paragraph", "It ground bags.", 0, "")]),
        ("{| class=wikitable\n! A !! B\n|-\n| 1{{efn|Flour.}} || 2\n|}",
         [("table", "A: 1 | B: 2", 0, ""), ("footnote", "Flour.", 0, "")]),
        ("[[File:mill.jpg|thumb|200px]][[File:a.png|The a]]\nText.", [("paragraph", "Text.", 0, "")]),
    ],
)  # fmt: skip
def test_structure_is_kept(wikitext: str, blocks: list[tuple[str, str, int, str]]) -> None:
    assert blocks_of(wikitext) == blocks


def test_a_table_has_its_columns_cells_and_caption() -> None:
    table = (
        '{| class="wikitable"\n|+ Prizes of {{nobr|the band}}\n! Year !! Prize !! Result\n|-\n| 1987 || rowspan=2 '
        "| Cup<ref>a</ref> || {{won}}\n|-\n| 1988 || m<sup>2</sup> {{xyzzy}}, <nowiki>a|b</nowiki>\n|}"
    )
    assert table_of(f"{table}\nText.") == (
        ("Year", "Prize", "Result"),
        [[(0, "1987"), (1, "Cup"), (2, "Won")], [(0, "1988"), (1, "Cup"), (2, "m^2, a|b")]],
    )
    kinds = [(kind, text) for kind, text, _, _ in blocks_of(f"Before\n{table}\nText.") if kind != "table"]
    assert kinds == [("paragraph", "Before"), ("caption", "Prizes of the band"), ("paragraph", "Text.")]


def test_a_table_in_a_cell_or_an_infobox_leaves_no_marks() -> None:
    nested = '{| class="wikitable"\n| a\n|\n{|\n| b || c\n|}\n|}'
    assert table_of(nested) == (("", ""), [[(0, "a"), (1, "b | c")]])
    box = "{{Infobox mill|parts=\n{|\n| b || c\n|}\n}}\nText."
    assert [triple.object for triple in parse(box).triples] == ["b | c"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["a", "\n", "\n\n", "* ", "# ", "; ", ": ", "{|\n", "|-\n", "| b ", "|| c", "! d\n", "|}\n", "<blockquote>",
             "</blockquote>", "<pre>e</pre>", "{{quote|f}}", "[[File:g|thumb|h]]", "== i ==\n", "{{end}}\n", " j",
             "{{k|l}}", "<ref>m</ref>", "<sup>2</sup>", "{{ubl|n|o}}"]
        ),
        max_size=40,
    )
)  # fmt: skip
def test_blocks_cover_the_text_and_cells_lie_in_their_rows(parts: list[str]) -> None:
    for section in parse("".join(parts)).sections:
        blocks: list[Block] = list(fill_paragraphs(section.text, section.blocks))
        position = 0
        for block in blocks:
            assert not section.text[position : block.start].strip()
            position = block.end
            assert all(block.start <= cell.start < cell.end <= block.end for row in block.rows for cell in row)
        assert not section.text[position:].strip()


def test_cells_that_are_not_marked_may_name_columns() -> None:
    columns, rows = table_of(
        '{|\n| || colspan="2" | 2024\n|-\n| Bag || Price || Left\n|-\n| Oats || 9 || 4\n|-\n| Rye || 8 || 2\n|}'
    )
    assert columns == ("Bag", "2024 Price", "2024 Left")
    assert rows[0] == [(0, "Oats"), (1, "9"), (2, "4")]
