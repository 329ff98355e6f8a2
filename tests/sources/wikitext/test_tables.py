"""Wikitext tables become rows of text."""

import pytest
from tests.sources.wikitext.pages import parse, text_of


def test_tables_become_rows() -> None:
    table = """{| class="wikitable"
|+ style="x" | Heights of [[mountain]]s
|-
! Name !! scope="col" | Height
|-
| rowspan="2" | Alps || 4,808
|-
| [[Mont Blanc|4,810]]<br>m
|-
| colspan=2 |
* a
* b
|}"""
    page = parse(f"Before\n{table}\nafter")
    assert page.sections[0].text == (
        "Before\n\nHeights of mountains\nName: Alps | Height: 4,808\nName: Alps | Height: 4,810 m\n\n- a\n- b\n\nafter"
    )
    assert page.links == ("Mountain", "Mont Blanc")


def test_a_cell_that_spans_columns_has_the_names_of_all() -> None:
    table = """{| class="wikitable"
! rowspan=2 | Year !! colspan=2 | League !! Cup
|-
! Games !! Goals !! Games
|-
| 1899 || colspan=3 | not held
|-
| 1900 || colspan=2 | none || 7
|-
| colspan=4 | War
|-
| colspan=2 rowspan=2 | wide || 1 || 2
|-
| 3 || 4
|-
| 1901 || 5 || 6 || rowspan=2 | 8
|-
| colspan=3 | all
|}"""
    assert text_of(table) == (
        "Year: 1899 | League Games, League Goals, Cup Games: not held\n"
        "Year: 1900 | League Games, League Goals: none | Cup Games: 7\n"
        "War\n"
        "Year, League Games: wide | League Goals: 1 | Cup Games: 2\n"
        "Year, League Games: wide | League Goals: 3 | Cup Games: 4\n"
        "Year: 1901 | League Games: 5 | League Goals: 6 | Cup Games: 8\n"
        "Year, League Games, League Goals: all | Cup Games: 8"
    )


def test_cells_that_span_much_do_not_multiply() -> None:
    wide = "| colspan=100 rowspan=100 | x\n" * 100
    table = '{| class="wikitable"\n' + wide + "| y\n" + "|-\n| z\n" * 100 + "|}"
    # Repeated in every column and row they would make four million characters.
    assert len(text_of(table)) < 100_000


def test_html_and_nested_tables() -> None:
    assert text_of("<table><tr><th>a</th><td>b</td></tr></table>") == "a: b"
    nested = '{| class="wikitable"\n| a\n|\n{|\n| b || c\n|}\n|}'
    assert text_of(nested) == "a | b | c"


@pytest.mark.parametrize("name", ["navbox", "infobox bordered", "sidebar"])
def test_boxes_written_as_tables_are_left_out(name: str) -> None:
    assert text_of(f'Text\n{{| class="{name}"\n| [[a]]\n|}}') == "Text"
