from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikigr.sources.article import Triple
from wikigr.sources.wikitext import WikiPage, WikiSite, parse_wikitext
from wikigr.sources.wikitext_prepare import prepare

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
    ],
)
def test_markup_becomes_plain_text(wikitext: str, text: str) -> None:
    assert text_of(wikitext) == text


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("{{convert|5|km}}", "5 km"),
        ("{{convert|5|km|mi|abbr=on}}", "5 km"),
        ("{{convert|5|to|10|km2|sqmi}}", "5 to 10 km²"),
        ("{{Convert|6|ft|2|in|m}}", "6 ft 2 in"),
        ("{{convert|-40|C|F}}", "-40°C"),
        ("{{nowrap|x y}}", "x y"),
        ("{{lang|fr|déjà vu}}", "déjà vu"),
        ("{{lang-de|Haus}}", "Haus"),
        ("{{As of|2015|3}}", "As of March 2015"),
        ("{{as of|2015|lc=y}}", "as of 2015"),
        ("{{birth date|1879|3|14|df=y}}", "14 March 1879"),
        ("{{Birth date and age|1970|04|29}}", "April 29, 1970"),
        ("{{death date and age|1955|4|18|1879|3|14}}", "April 18, 1955"),
        ("{{start-date|July 16, 1969}}", "July 16, 1969"),
        ("{{circa|1900}}", "c. 1900"),
        ("{{frac|3|1|2}}", "3 1/2"),
        ("{{frac|1|2}}", "1/2"),
        ("{{val|1.5|0.2|e=8|u=m/s}}", "(1.5±0.2)×10^8 m/s"),
        ("{{math|''x'' {{=}} 1}}", "x = 1"),
        ("{{sup|2}}", "^2"),
        ("{{chem|H|2|O}}", "H2O"),
        ("x{{sup|n}}", "x^n"),
        ("{{bartable|12.5|%|2}}", "12.5%"),
        ("{{bartable|7|km}}", "7 km"),
        ("{{nuclide|Uranium|235}}, {{Nuclide2|Radon|222}}", "Uranium-235, Radon-222"),
        ("{{legend|#fff|Forest}}", "Forest"),
        ("{{vr|1,250}}", "1,250"),
        ("{{snd}}", "–"),
        ("{{flag|France}}", "France"),
        ("{{sortname|Ada|Lovelace}}", "Ada Lovelace"),
        ("{{cite book|last=Doe|first=J.|title=Work|year=1999}}", "Doe, J. (1999). Work"),
        ("{{PAGENAME}}", "Subject"),
        ("{{nowrap|{{lang|la|{{small|deep}}}}}}", "deep"),
    ],
)
def test_inline_templates_keep_their_text(call: str, text: str) -> None:
    assert text_of(f"a {call} b") == f"a {text} b"


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("A word {{citation needed|date=May}}, and more {{unknown}}.", "A word, and more."),
        ("Paris ({{IPA-fr|paʁi}}) is.", "Paris is."),
        ("Paris ({{IPA-fr|paʁi}}; 250 BC) is.", "Paris (250 BC) is."),
        ("Paris (founded; {{IPA-fr|paʁi}}) is.", "Paris (founded) is."),
        ("f() is called", "f() is called"),
    ],
)
def test_what_is_left_out_leaves_no_hole(wikitext: str, text: str) -> None:
    assert text_of(wikitext) == text


def test_code_and_formulas_are_verbatim() -> None:
    code = "def f(x):\n    return {{x}}  # '''no''' [[link]] <!-- c -->\n\n\n    # ="
    page = parse(
        f'Before\n<syntaxhighlight lang="python">\n{code}\n</syntaxhighlight>\nafter '
        "<math>\\frac{a}{b} f''</math>."
    )
    assert page.sections[0].text == f"Before\n\n{code}\n\nafter \\frac{{a}}{{b}} f''."
    assert page.links == ()
    assert text_of("a <nowiki>[[b]] ''c'' &lt;</nowiki> d") == "a [[b]] ''c'' < d"
    assert text_of("<pre>\n  a\n   b\n</pre>") == "  a\n   b"
    assert text_of("Text\n  if x:\n    y\nmore") == "Text\n\n if x:\n   y\n\nmore"
    assert text_of("use <source lang=c inline>a  b</source> now") == "use a b now"


def test_lists_become_lines() -> None:
    assert text_of("Intro:\n* a\n** b\n**# c\n**# d\n* e\n*: f\n\nend") == (
        "Intro:\n\n- a\n  - b\n    1. c\n    2. d\n- e\n  f\n\nend"
    )
    assert text_of("# a\n# b\n\n# c") == "1. a\n2. b\n\n1. c"
    assert text_of("<ol><li>a</li><li>b</li></ol>") == "1. a\n2. b"
    assert text_of("; term : meaning\n: more") == "term : meaning\nmore"
    assert text_of("{{plainlist|\n* a\n* b\n}}") == text_of("{{ubl|a|b}}") == "- a\n- b"


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
        "Before\n\nHeights of mountains\nName | Height\nAlps | 4,808\nAlps | 4,810 m\n\n- a\n- b\n\nafter"
    )
    assert page.links == ("Mountain", "Mont Blanc")


def test_html_and_nested_tables() -> None:
    assert text_of("<table><tr><th>a</th><td>b</td></tr></table>") == "a | b"
    nested = '{| class="wikitable"\n| a\n|\n{|\n| b || c\n|}\n|}'
    assert text_of(nested) == "a | b | c"


@pytest.mark.parametrize("name", ["navbox", "infobox bordered", "sidebar"])
def test_boxes_written_as_tables_are_left_out(name: str) -> None:
    assert text_of(f'Text\n{{| class="{name}"\n| [[a]]\n|}}') == "Text"


def test_sections_have_heading_paths_and_apparatus_is_dropped() -> None:
    page = parse(
        "Lead [[a]].\n== Life ==\nBorn.\n=== ''Early'' [[years]] ===\nYoung.\n==== Deep ====\nD\n== Work ==\n"
        "W [[b]]\n== See also ==\n* [[c]]\n== References ==\n[[d]] text\n=== Sub ===\nmore\n[[Category:Things|key]]\n"
        "== Legacy ==\nL"
    )
    assert [(section.heading_path, section.text) for section in page.sections] == [
        ((), "Lead a."),
        (("Life",), "Born."),
        (("Life", "Early years"), "Young."),
        (("Life", "Early years", "Deep"), "D"),
        (("Work",), "W b"),
        (("Legacy",), "L"),
    ]
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
        ("[[File:x.png|thumb|A [[caption]] here]][[Datei:y.png]]x", "x", ()),
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


def test_case_rule_of_the_site_and_localised_categories() -> None:
    page = parse("[[bus]] [[Kategorie:vögel]]", site=WikiSite({"kategorie": 14}, first_letter=False))
    assert page.links == ("bus",)
    assert page.categories == ("vögel",)


def test_infobox_fields_become_triples() -> None:
    page = parse(
        """{{Infobox scientist
| name = Subject
| image = x.jpg
| caption = Portrait
| birth_date = {{birth date|1879|3|14|df=y}}
| Birth place = [[Ulm]], [[German Empire]]
| death_place = [[Princeton, New Jersey|Princeton]], U.S.
| spouse = {{plainlist|
* [[Mileva]] (1903–1919)
* Elsa<ref>x</ref>
}}
| fields = [[Physics]]<br />[[philosophy]]
| known_for = {{hlist|[[Relativity]]|light}}
| party = [[Ann B]] ([[Party|P]])
| influences = none
| website = {{URL|x.example}}
| coordinates = {{coord|1|2}}
| module = {{Infobox person|embed=yes|occupation(s)=teacher}}
}}
Text."""
    )
    facts = [(triple.relation, triple.object, triple.object_link) for triple in page.triples]
    assert facts == [
        ("birth_date", "14 March 1879", None),
        ("birth_place", "Ulm", "Ulm"),
        ("birth_place", "German Empire", "German Empire"),
        ("death_place", "Princeton, U.S.", "Princeton, New Jersey"),
        ("spouse", "Mileva (1903–1919)", "Mileva"),
        ("spouse", "Elsa", None),
        ("fields", "Physics", "Physics"),
        ("fields", "philosophy", "Philosophy"),
        ("known_for", "Relativity", "Relativity"),
        ("known_for", "light", None),
        ("party", "Ann B (P)", "Ann B"),
        ("occupation", "teacher", None),
    ]
    assert page.triples[0] == Triple("Subject", "birth_date", "14 March 1879", None)
    assert [section.text for section in page.sections] == ["Text."]
    assert "Ulm" in page.links


@pytest.mark.parametrize("wikitext", ["{{disambig}}", "{{Hndis|Foo}}", "{{airport disambiguation}}", "__DISAMBIG__"])
def test_disambiguation_pages_are_told(wikitext: str) -> None:
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
    "wikitext",
    [
        "{{a|" * 3000,
        "{{{a|" * 3000,
        "{|\n|\n" * 3000,
        "[[a|{{b|<i>" * 2000,
        "{{nowrap|" * 3000 + "}}" * 3000,
        "[http://a " * 3000,
        "<b>" * 5000 + "<div>" * 5000,
        "<ref>" * 5000 + "</ref>" * 5000,
        "{{x}} " * 5000,
    ],
)
def test_brackets_by_the_thousand_are_read(wikitext: str) -> None:
    # Handed to the parser as they are, most of these take it a minute and more.
    assert parse(wikitext + "\n\nEnd.").sections[-1].text.endswith("End.")


@pytest.mark.parametrize(
    ("wikitext", "prepared"),
    [
        ("a {{b|{{c}} d", "a {{c}} d"),
        ("a {{b}} c}} d]]", "a {{b}} c d"),
        ("[[a [[b]]", "a [[b]]"),
        ("{{a|[[b}} c", "{{a|b}} c"),
        ("{| class=x\n| a {{b\n|}\n|}", "{| class=x\n| a b\n|}\n|}"),
        ("{|\n| a {{b}}", "\n| a {{b}}"),
        ("{{a|\n|}}", "{{a|\n|}}"),
        ("{{{a|b}}}", "{{{a|b}}}"),
        ("[[a|" * 30 + "]]" * 30, "[[a|" * 25 + "a|" * 5 + "]]" * 25),
    ],
)
def test_brackets_without_partner_never_reach_the_parser(wikitext: str, prepared: str) -> None:
    assert prepare(wikitext).text == prepared


def test_private_use_characters_of_the_input_have_no_meaning() -> None:
    assert text_of("a\ue0017\ue002 \ue0082Kb \ue00a*c") == "a7 2Kb *c"


_PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "{{",
                "}}",
                "[[",
                "]]",
                "{|",
                "|}",
                "\n",
                "|",
                "|-\n",
                "!",
                "=",
                "==",
                "* ",
                "# ",
                ":",
                ";",
                "''",
                "<ref>",
            ),
            *("</ref>", "<!--", "-->", "<nowiki>", "</nowiki>", "word", " ", "[http://x ", "]", "&lt;", "{{{", "}}}"),
            *(
                "{{nowrap|",
                "{{Infobox a|b=",
                "[[File:",
                "[[Category:",
                "<table>",
                "<td>",
                "</table>",
                "\ue003",
                "\ue000",
            ),
        ]
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(_PIECES)
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


def test_columns_keep_their_text() -> None:
    assert text_of("{{columns|col1=One|col2=\n* Two\n* Three}}") == "One\n\n- Two\n- Three"
