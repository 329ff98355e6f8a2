"""Marks of footnotes do not run into the words before them, and the notes are kept."""

from __future__ import annotations

import pytest
from tests.sources.blocks import described

from wikigr.sources.html.text import parse_html


def lead(markup: str) -> str:
    (section,) = parse_html(f"<html><body>{markup}</body></html>").sections
    return section.text


@pytest.mark.parametrize(
    "mark",
    [
        '<a epub:type="noteref" href="#n3">3</a>',
        '<a role="doc-noteref" href="notes.xhtml#n3">3</a>',
        '<sup><a href="notes.xhtml#n3">3</a></sup>',
        '<sup><a href="endnotes.html">3</a></sup>',
        '<a href="part9.html#x3"><sup class="calibre5">3</sup></a>',
        '<sup><a href="#a">3</a>, <a href="#b">4</a></sup>',
        '<span class="super"><a href="ch9.xhtml#rn3">3</a></span>',
        '<span style="vertical-align: super"><a href="#x">†</a></span>',
        '<a class="footnote-ref" id="fnref3" href="#fn3"><sup>3</sup></a>',
        '<sup class="footnote-ref"><a href="#fn3">[3]</a></sup>',
        '<sup id="fnref:3"><a href="#fn:3" rel="footnote">3</a></sup>',
        '<sup><a href="#user-content-fn-3" data-footnote-ref aria-describedby="footnote-label">3</a></sup>',
        '<sup class="footnote">[<a id="_footnoteref_3" class="footnote" href="#_footnotedef_3">3</a>]</sup>',
        '<a href="#_ftn3" name="_ftnref3"><span class="MsoFootnoteReference">[3]</span></a>',
        '<a class="sdfootnoteanc" href="#sdfootnote3sym"><sup>3</sup></a>',
        '<a class="_idFootnoteLink" href="#footnote-003">3</a>',
        '<a id="FNanchor_3_3" href="#Footnote_3_3" class="fnanchor">[3]</a>',
        '<sup class="noteref">iv</sup>',
        '<a href="#fn3">3</a>',
        '<a data-type="noteref" href="#idm46">3</a>',
        '<a href="#filepos812">3</a>',
    ],
)
def test_a_mark_is_left_out(mark: str) -> None:
    assert (
        lead(f"<p>The mill ground 1200{mark} bags, all in 1984{mark}.</p>") == "The mill ground 1200 bags, all in 1984."
    )


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("10<sup>3</sup> m<sup>2</sup>", "10^3 m^2"),
        ('12 <a href="#unit">km<sup>2</sup></a>', "12 km^2"),
        ('see (<a href="#e4">4</a>), §<a href="#s5">5</a>, v<a href="#v2">2</a>', "see (4), §5, v2"),
        ('see note <a href="#note3">3</a> and chapter <a href="#c3">3</a>', "see note 3 and chapter 3"),
        ('the <a epub:type="noteref" href="#n1">miller</a>', "the miller"),
        ('the 3<sup><a href="#ordinal">rd</a></sup> mill', "the 3rd mill"),
        ('of 10<sup><a href="Order_of_magnitude">6</a></sup> bags', "of 10^6 bags"),
    ],
)
def test_what_is_no_mark_stays(markup: str, text: str) -> None:
    assert lead(f"<p>{markup}</p>") == text


@pytest.mark.parametrize(
    ("note", "block"),
    [
        ('<aside epub:type="footnote" id="n3"><p>By Ida.</p></aside>', (0, "footnote", "3", "By Ida.")),
        ('<aside epub:type="footnote" id="n3" hidden><p>By Ida.</p></aside>', (0, "footnote", "3", "By Ida.")),
        ('<aside role="doc-footnote"><p><a href="#r">3</a> By Ida.</p></aside>', (0, "footnote", "3", "By Ida.")),
        ('<div id="ftn3"><p><a href="#_ftnref3">[3]</a> By Ida.</p></div>', (0, "footnote", "3", "By Ida.")),
        ('<div id="sdfootnote3"><p><a class="sdfootnotesym" href="#sdfootnote3anc">3</a>By Ida.</p></div>',
         (0, "footnote", "3", "By Ida.")),
        ('<p data-type="footnote"><sup><a href="#m">3</a></sup> By Ida.</p>', (0, "footnote", "3", "By Ida.")),
        ('<ol class="wp"><li id="n3" value="3">By Ida. <a href="#m3">↩︎</a></li></ol>',
         (0, "footnote", "3", "3. By Ida.")),
        ('<div id="n3"><p>By Ida.</p></div>', (0, "footnote", "3", "By Ida.")),
        ('<div><p><a href="#m3" id="n3">[3]</a> By Ida.</p></div>', (0, "footnote", "3", "By Ida.")),
        ('<p id="n3"><a href="#m3"><sup>3</sup></a> By Ida.</p>', (0, "footnote", "3", "By Ida.")),
        ('<div class="_idFootnote"><p><a href="#b">3</a> By Ida.</p></div>', (0, "footnote", "3", "By Ida.")),
        ('<div class="footnote"><a href="#_footnoteref_3">3</a>. By Ida.</div>', (0, "footnote", "3", "3. By Ida.")),
        ('<aside class="footnote brackets" role="doc-footnote"><span class="label">[3]</span><p>By Ida.</p></aside>',
         (0, "footnote", "3", "By Ida.")),
        ('<dl class="footnote"><dt class="label">[3]</dt><dd><p>By Ida.</p></dd></dl>',
         (0, "footnote", "3", "By Ida.")),
        ('<section role="doc-endnotes"><ol start="3"><li><p>By Ida. <a href="#fnref3">↩︎</a></p></li></ol></section>',
         (0, "footnote", "3", "3. By Ida.")),
        ('<div class="footnote"><hr><ol start="3"><li id="fn:3">By Ida. <a href="#x">^</a></li></ol></div>',
         (0, "footnote", "3", "3. By Ida.")),
    ],
)  # fmt: skip
def test_a_note_is_a_block_with_its_mark(note: str, block: tuple[int, str, str, str]) -> None:
    markup = f'<p>It ground 1200<a epub:type="noteref" href="#n3">3</a> bags.</p>{note}'
    (section,) = parse_html(f"<html><body>{markup}</body></html>").sections
    assert described(section) == [(0, "paragraph", "", "It ground 1200 bags."), block]


def test_further_paragraphs_stand_inside_a_note() -> None:
    note = '<ol class="footnotes"><li><p>By Ida.</p><p>More.</p></li><li>By Tom.</li></ol>'
    (section,) = parse_html(f"<html><body><p>Text.</p>{note}</body></html>").sections
    assert described(section)[1:] == [
        (0, "footnote", "1", "1. By Ida."),
        (1, "paragraph", "", "More."),
        (0, "footnote", "2", "2. By Tom."),
    ]


@pytest.mark.parametrize(
    "note",
    [
        '<label for="s" class="margin-toggle sidenote-number"></label><input type="checkbox" id="s" '
        'class="margin-toggle"><span class="sidenote">By <b>Ida</b>.</span>',
        '<span class="marginnote">By Ida.</span>',
        '<span class="modern-footnotes-footnote"><a role="doc-noteref" href="#m">1</a></span>'
        '<span class="modern-footnotes-footnote__note">By Ida.</span>',
    ],
)
def test_a_note_in_the_margin_does_not_run_into_the_sentence(note: str) -> None:
    (section,) = parse_html(f"<html><body><p>It ground 1200{note} bags.</p><p>Closed.</p></body></html>").sections
    assert [row[1:] for row in described(section)] == [
        ("paragraph", "", "It ground 1200 bags."),
        ("footnote", "", "By Ida."),
        ("paragraph", "", "Closed."),
    ]


@pytest.mark.parametrize(
    "markup",
    [
        '<p id="n3"><a href="#n1">3</a> bags.</p>',
        '<p>In 1200<a href="#n3"><sup>3</sup></a></p><p id="n3">3 bags.</p>',
        f'<p>In 1200<a href="#n3"><sup>3</sup></a></p><div id="n3">{"<p>bags.</p>" * 500}</div>',
        '<p id="m3">In 1200 <a href="#n3">↩</a></p>',
    ],
)
def test_what_is_no_note_stays(markup: str) -> None:
    (section,) = parse_html(f"<html><body>{markup}</body></html>").sections
    assert {row[1] for row in described(section)} == {"paragraph"}
