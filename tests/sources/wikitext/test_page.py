"""Pages of wikitext: one table of markup and text; sections, links, categories, brackets and robustness."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikigr.sources.wikitext.page import WikiPage, WikiSite, parse_wikitext
from wikigr.sources.wikitext.preprocess import prepare

SITE = WikiSite({"datei": 6, "kategorie": 14, "file": 6, "category": 14}, page_url="https://w.example/wiki/")


def parse(wikitext: str, title: str = "Subject", site: WikiSite = SITE) -> WikiPage:
    return parse_wikitext(wikitext, title, site)


def text_of(wikitext: str) -> str:
    sections = parse(wikitext).sections
    assert all(section.heading_path == () for section in sections)
    return "\n\n".join(section.text for section in sections)


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("a ''b'' '''c''' '''''d''''' l''''x'''", "a b c d l'x"),
        ("first\nline\n\nsecond&nbsp;par&eacute; &lt;x&gt;", "first line\n\nsecond paré <x>"),
        ("one<br>two<br />three", "one\ntwo\nthree"),
        ('a<!-- hidden [[x]] --> b<ref>c</ref> d<ref name=e /> f<ref group="n">{{cite web|url=x}}</ref>.', "a b d f."),
        ("a\n<!-- a line of its own -->\nb", "a b"),
        ("x __NOTOC____FORCETOC__ y but __FILE__ stays", "x y but __FILE__ stays"),
        ("see [http://x.example the [[page]]] and [http://y.example]", "see the page and"),
        ("at http://x.example/a", "at http://x.example/a"),
        ("''x''<sup>n</sup>, e<sup>−x<sup>2</sup></sup>, Na<sup>+</sup>", "x^n, e^{−x^2}, Na+"),
        ("E = mc<sup>2</sup>, 10<sup>−3</sup>, 19<sup>th</sup>, H<sub>2</sub>O", "E = mc^2, 10^−3, 19th, H2O"),
        ("<div class=x>in <span style='a'>a</span></div> box", "in a box"),
        ('<span style="display: none">0012</span>12', "12"),
        ("kept <unknown> tag", "kept <unknown> tag"),
        ("<poem>\nRoses\nViolets\n</poem>", "Roses\nViolets"),
        ("a <includeonly>b</includeonly><noinclude>c</noinclude>", "a c"),
        # Omitted elements leave no gap.
        ("A word {{citation needed|date=May}}, and more {{unheard of}}.", "A word, and more."),
        ("Paris ({{IPA-fr|paʁi}}) is.", "Paris is."),
        ("Paris ({{IPA-fr|paʁi}}; 250 BC) is.", "Paris (250 BC) is."),
        ("Paris (founded; {{IPA-fr|paʁi}}) is.", "Paris (founded) is."),
        ("Paris ({{langx|la|Lutetia}}; {{IPA|fr|paʁi}}) is.", "Paris (Lutetia) is."),
        ("Paris ({{IPA|fr|paʁi|lang|Paris.ogg}}; {{lang|fr}}) is.", "Paris is."),
        ("Text teh {{sic}}, {{lang|fr}}; and {{nowrap|}}.", "Text teh,; and."),
        ("f() is called", "f() is called"),
        # Code is verbatim, and private-use characters have no meaning.
        ("a <nowiki>[[b]] ''c'' &lt;</nowiki> d", "a [[b]] ''c'' < d"),
        ("<pre>\n  a\n   b\n</pre>", "  a\n   b"),
        ("Text\n  if x:\n    y\nmore", "Text\n\n if x:\n   y\n\nmore"),
        ("use <source lang=c inline>a  b</source> now", "use a b now"),
        ("a\ue0017\ue002 \ue0082Kb \ue00a*c", "a7 2Kb *c"),
        # Lists, terms with indented definitions, and columns.
        ("Intro:\n* a\n** b\n**# c\n**# d\n* e\n*: f\n\nend",
         "Intro:\n\n- a\n  - b\n    1. c\n    2. d\n- e\n  f\n\nend"),
        ("# a\n# b\n\n# c", "1. a\n2. b\n\n1. c"),
        ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
        ("; term : meaning\n: more", "term\n    meaning\n    more"),
        ("{{plainlist|\n* a\n* b\n}}", "- a\n- b"),
        ("{{ubl|a|b}}", "- a\n- b"),
        ("; Apple\n: A fruit.\n: Red.\n; Pear\n: Also.\n\nText:\n: a + b",
         "Apple\n    A fruit.\n    Red.\nPear\n    Also.\n\nText:\na + b"),
        ("{{columns|col1=One|col2=\n* Two\n* Three}}", "One\n\n- Two\n- Three"),
        # Tables, in HTML and nested too; boxes written as tables are left out.
        ("<table><tr><th>a</th><td>b</td></tr></table>", "a: b"),
        ('{| class="wikitable"\n| a\n|\n{|\n| b || c\n|}\n|}', "a | b | c"),
        ('Text\n{| class="navbox"\n| [[a]]\n|}', "Text"),
        ('Text\n{| class="infobox bordered"\n| [[a]]\n|}', "Text"),
        ('Text\n{| class="sidebar"\n| [[a]]\n|}', "Text"),
    ],
)  # fmt: skip
def test_markup_becomes_plain_text(wikitext: str, text: str) -> None:
    assert text_of(wikitext) == text


def test_code_and_formulas_are_verbatim() -> None:
    code = "def f(x):\n    return {{x}}  # '''no''' [[link]] <!-- c -->\n\n\n    # ="
    page = parse(
        f'Before\n<syntaxhighlight lang="python">\n{code}\n</syntaxhighlight>\nafter '
        "<math>\\frac{a}{b} f''</math>."
    )
    assert page.sections[0].text == f"Before\n\n{code}\n\nafter \\frac{{a}}{{b}} f''."
    assert page.links == ()


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


def test_sections_have_heading_paths_and_apparatus_is_dropped() -> None:
    page = parse(
        "Lead [[a]].\n== Life ==\nBorn.\n=== ''Early'' [[years]] ===\nYoung.\n==== Deep ====\nD\n== Work ==\n"
        "W [[b]]\n== See also ==\n* [[c]]\n== References ==\n[[d]] text\n=== Sub ===\nmore\n[[Category:Things|key]]\n"
        "== Legacy<br>too ==\nL"
    )
    assert [(section.heading_path, section.text) for section in page.sections] == [
        ((), "Lead a."), (("Life",), "Born."), (("Life", "Early years"), "Young."),
        (("Life", "Early years", "Deep"), "D"), (("Work",), "W b"), (("Legacy too",), "L"),
    ]  # fmt: skip
    assert page.links == ("A", "Years", "B", "C")
    assert page.categories == ("Things",)


@pytest.mark.parametrize(
    ("wikitext", "text", "links"),
    [
        ("[[bus]]es and [[Foo bar#Part|label]]", "buses and label", ("Bus", "Foo bar")),
        ("[[a_b]] [[A  b]]", "a b A b", ("A b",)),
        ("[[#Part]] and [[#Part|here]]", "Part and here", ()),
        ("[[Foo (bar)|]] and [[Paris, Texas|]]", "Foo and Paris", ("Foo (bar)", "Paris, Texas")),
        ("[[:Category:Birds]] and [[:File:x.png|file]]", "Category:Birds and file", ()),
        ("[[Category:Birds]][[Kategorie:vögel]]x", "x", ()),
        ("[[File:x.png|thumb|A [[caption]] here]][[Datei:y.png]]x", "A caption here\n\nx", ()),
        ("a [[File:x.png|thumb|A [[caption]] here]][[File:y.png|20px|alt]]x", "a x", ()),
        ("[[fr:Oiseau]][[simple:Bird]] [[:de:Vogel|Vogel]] [[wikt:bird|bird]]", "Vogel bird", ()),
        ("[[R&amp;B]] [[Caf%C3%A9]] [[Re:Zero]]", "R&B Caf%C3%A9 Re:Zero", ("R&B", "Café", "Re:Zero")),
        ("{{main|Big bang}}{{see also|x#y}}T", "T", ("Big bang", "X")),
        ("{{nowrap|[[Inner]]}} {{navbox|[[Not]]}}", "Inner", ("Inner",)),
    ],
)
def test_links(wikitext: str, text: str, links: tuple[str, ...]) -> None:
    page = parse(wikitext)
    assert "\n".join(section.text for section in page.sections) == text
    assert page.links == links


def test_case_rule_of_the_site_and_localized_categories() -> None:
    page = parse("[[bus]] [[Kategorie:vögel]]", site=WikiSite({"kategorie": 14}, first_letter=False))
    assert page.links == ("bus",)
    assert page.categories == ("vögel",)


@pytest.mark.parametrize(
    "wikitext",
    [
        *("{{disambig}}", "{{Hndis|Foo}}", "{{airport disambiguation}}", "__DISAMBIG__", "{{Disambiguation page}}"),
        *("{{dp}}", "{{Dab page}}", "{{hndis-cleanup}}", "{{Place name disambiguation cleanup}}"),
    ],
)
def test_disambiguation_pages_are_recognized(wikitext: str) -> None:
    assert parse(f"* [[a]]\n{wikitext}").is_disambiguation
    assert not parse("* [[a]] {{disambiguation needed}}").is_disambiguation


@pytest.mark.parametrize(
    ("wikitext", "kept"),
    [
        ("{{Infobox person\n| name = X\n| born = 1900\n\nThe text goes on.", "The text goes on."),
        ("Some {{unclosed text [[a]] and\n\nmore.", "more."),
        ("Text }} with ]] strays |} of all kinds.", "Text with strays"),
        ("{| class=wikitable\n|-\n| a || b\n\nThe text after.", "The text after."),
        ("[[File:x.png|thumb|open\n\n== Next ==\nThe rest.", "The rest."),
        ("<ref>never closed. The text goes on.", "The text goes on."),
        ("<!-- never closed. The text goes on.", "The text goes on."),
        ("<div><b>open The text goes on.", "The text goes on."),
        ("{{bad\nname|x}} goes on", "goes on"),
    ],
)
def test_damage_of_unbalanced_markup_is_bounded(wikitext: str, kept: str) -> None:
    texts = "\n".join(section.text for section in parse(wikitext).sections)
    assert kept in texts
    assert not any(mark in texts for mark in ("{{", "}}", "[[", "]]", "|-", "{|", "<ref", "| born"))


@pytest.mark.parametrize(
    ("wikitext", "prepared"),
    [
        ("a {{b|{{c}} d", "a {{c}} d"),
        ("a {{b}} c}} d]]", "a {{b}} c d"),
        ("[[a [[b]]", "a [[b]]"),
        ("{{a|[[b}} c", "{{a|b}} c"),
        ("{| class=x\n| a {{b\n|}\n|}", "{| class=x\n| a b\n|}\n|}"),
        ("{|\n| a {{b}}", "{|\n| a {{b}}\n|}"),
        ("{{a|\n|}}", "{{a|\n|}}"),
        ("{{{a|b}}} {{{c}}} {{{a|{{{b|d}}}}}}", "b  d"),
        ("{{{a|b}} c", "{{a|b}} c"),
        ("[[a|" * 30 + "]]" * 30, "[[a|" * 25 + "a|" * 5 + "]]" * 25),
    ],
)
def test_brackets_without_partner_never_reach_the_parser(wikitext: str, prepared: str) -> None:
    assert prepare(wikitext).text == prepared


@pytest.mark.parametrize(
    "wikitext",
    [
        "{{a|" * 3000, "{{{a|" * 3000, "{|\n|\n" * 3000, "[[a|{{b|<i>" * 2000, "{{nowrap|" * 3000 + "}}" * 3000,
        "[http://a " * 3000, "<b>" * 5000 + "<div>" * 5000, "<ref>" * 5000 + "</ref>" * 5000, "{{x}} " * 5000,
    ],
)  # fmt: skip
def test_brackets_by_the_thousand_are_read(wikitext: str) -> None:
    # Handed to the parser as they are, most of these take it a minute and more.
    assert parse(wikitext + "\n\nEnd.").sections[-1].text.endswith("End.")


MARKS = "{{ }} [[ ]] {| |} | ! = == * # : ; '' <ref> </ref> <!-- --> <nowiki> </nowiki> word ] &lt; {{{ }}}".split()
PIECES = [*MARKS, "\n", "|-\n", " ", "[http://x ", "{{nowrap|", "{{Infobox a|b=", "[[File:", "[[Category:"]
PIECES += ["<table>", "<td>", "</table>", "\ue003", "\ue000"]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_any_sequence_of_markup_is_read_without_leftovers(pieces: list[str]) -> None:
    wikitext = "".join(pieces)
    page = parse(wikitext)
    texts = "\n".join(section.text for section in page.sections)
    assert not any("\ue000" <= character <= "\uf8ff" for character in texts)
    assert all(link and link[0] != ":" for link in page.links)
    if "<nowiki>" not in wikitext:
        assert "[[" not in texts
    # An odd brace is plain text to MediaWiki too, and may come to stand beside another one.
    if "<nowiki>" not in wikitext and "{{{" not in wikitext and "}}}" not in wikitext:
        assert "{{" not in texts
