"""Text that is struck through is left out, or marked where all of an entry is."""

from __future__ import annotations

import pytest
from tests.sources.markdown.notes import lead as note

from wikigr.sources.html.text import parse_html


def page(markup: str) -> str:
    (section,) = parse_html(f"<html><body>{markup}</body></html>").sections
    return section.text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>A bag costs <del>7</del> <ins>9</ins> euros.</p>", "A bag costs 9 euros."),
        ("<p>A bag costs <s>7</s>, 9 euros.</p>", "A bag costs, 9 euros."),
        ("<p>It <strike>opens at 8</strike> opens at 9.</p>", "It opens at 9."),
        ('<p>Now <span style="text-decoration: line-through">7</span> 9.</p>', "Now 9."),
        ("<table><tr><th>Bag<th>Price<tr><td>Oats<td><del>7</del> 9</table>", "Bag: Oats | Price: 9"),
        ("<p>a</p><del><p>b</p><p>c</p></del>", "a"),
        # All of an entry.
        ("<p><s>The mill is open.</s></p><p>It closed.</p>", "~~The mill is open.~~\n\nIt closed."),
        ("<ul><li><del>Oats</del></li><li>Rye <s>bread</s></li></ul>", "- ~~Oats~~\n- Rye"),
        ("<table><tr><th>Bag<th>Price<tr><td>Oats<td><s>7</s></table>", "Bag: Oats | Price: ~~7~~"),
        ("<p>x</p><pre>- <del>old</del>\n+ <ins>new</ins></pre>", "x\n\n- old\n+ new"),
    ],
)
def test_html(markup: str, text: str) -> None:
    assert page(markup) == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("A bag costs ~~7~~ 9 euros.", "A bag costs 9 euros."),
        ("A bag costs <del>7</del> 9 <s>pounds</s> euros.", "A bag costs 9 euros."),
        ("| Bag | Price |\n|---|---|\n| Oats | ~~7~~ 9 |", "Bag: Oats | Price: 9"),
        ("~~The mill is open.~~", "~~The mill is open.~~"),
        ("- [x] ~~Buy oats~~\n- [ ] Buy rye", "- [x] ~~Buy oats~~\n- [ ] Buy rye"),
        ("`~~7~~` and a <s>b\n\nc", "~~7~~ and a\n\nc"),
    ],
)
def test_markdown(markup: str, text: str) -> None:
    assert note(markup) == text
