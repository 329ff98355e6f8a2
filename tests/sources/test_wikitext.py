from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikigr.sources.article import Triple
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
        ("{{langx|de|Haus}}, {{langx|ru|Дом|Dom|lit=house}}", "Haus, Дом"),
        ("{{lang-zh|t=臺|s=台}}", "臺, 台"),
        ("{{transl|ru|Privet}}, {{transl|ar|ALA|Allāh}}", "Privet, Allāh"),
        ("{{native phrase|fr|Bonjour}}", "Bonjour"),
        ("{{wikt-lang|en|be|was}}", "was"),
        ("{{IPA|haʊs}}", "haʊs"),
        ("{{circa}} 900, {{c.|900}}, {{circa|900|910}}", "c. 900, c. 900, c. 900 – c. 910"),
        ("{{fl.}} 900, {{floruit|1|2}}", "fl. 900, fl. 1–2"),
        ("{{nihongo|Front|表|omote|old|new}}", "Front (表, omote, old) new"),
        ("{{nihongo3|Front|表|omote}}, {{nihongo2|表}}", "omote (表, Front), 表"),
        ("{{ill|Foo|de|Bar}}, {{ill|de|Baz|Zab}}, {{link-interwiki|en=Foo|lang=de}}", "Foo, Baz, Foo"),
        ("{{sic|irrega|rdless}}, {{sic|?|irrega|rdless}}", "irregardless, irregardless"),
        ("{{birth year and age|1980|5}}, {{birth date|df=no|1980|5|1}}", "May 1980, May 1, 1980"),
        ("{{val|5|u=km|up=s}}", "5 km/s"),
        ("{{as of|2015|post=,}} x", "As of 2015, x"),
        ("{{math|{{sqrt|2}} + {{radic|a + b}}}}", "√2 + √(a + b)"),
        ("{{math|{{pi}}''r''{{sup|2}}}}", "πr^2"),
        ("{{lit|house}}", "lit. 'house'"),
        ("{{AD|79}}, {{BCE|44}}, {{CE|79}}", "AD 79, 44 BCE, 79 CE"),
        ("{{ordinal|1}}, {{ordinal|12}}, {{ordinal|23}}", "1st, 12th, 23rd"),
        ("{{INRConvert|5|b}}, {{CNY|5}}", "₹5 billion, ¥5"),
        ("Hawai{{okina}}i{{snds}}x", "Hawaiʻi – x"),
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
        ("Paris ({{langx|la|Lutetia}}; {{IPA|fr|paʁi}}) is.", "Paris (Lutetia) is."),
        ("Paris ({{IPA|fr|paʁi|lang|Paris.ogg}}; {{lang|fr}}) is.", "Paris is."),
        ("Text teh {{sic}}, {{lang|fr}}; and {{nowrap|}}.", "Text teh,; and."),
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


@pytest.mark.parametrize(
    "call",
    [
        "{{columns-list|2|\n* a\n* b\n}}",
        "{{Columns-list|colwidth=20em|\n* a\n* b}}",
        "{{columns-list|20em|\n* a\n* b}}",
        "{{cmn|\n* a\n* b}}",
        "{{div col|colwidth=30em|content=\n* a\n* b\n}}",
        "{{div col|2}}\n* a\n* b\n{{div col end}}",
        "{{flatlist|style=x|\n* a\n* b}}",
        "{{plainlist}}\n* a\n* b\n{{endplainlist}}",
        "{{bulleted list|a|b}}",
        "{{stack|\n* a\n* b}}",
    ],
)
def test_layout_templates_keep_their_list(call: str) -> None:
    assert text_of(f"Before\n{call}\nafter") == "Before\n\n- a\n- b\n\nafter"


def test_glossaries_keep_terms_and_definitions() -> None:
    glossary = (
        "{{glossary}}\n{{term|foo}}\n{{defn|A bar.\n* b}}\n{{term|term=x|content=X}} {{defn|defn=Y}}\n{{glossary end}}"
    )
    assert text_of(glossary) == "foo\n\nA bar.\n\n- b\n\nX\n\nY"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("{{quote|Text|Author}}", "Text\n— Author"),
        ("{{quote|text=Text|author=A|source=S}}", "Text\n— A, S"),
        ("{{cquote|Text|20px|20px|Mark Twain|Letters}}", "Text\n— Mark Twain, Letters"),
        ("{{cquote|Text|||Mark Twain}}", "Text\n— Mark Twain"),
        ("{{rquote|right|Text|Author|Source}}", "Text\n— Author, Source"),
        ("{{quote box|title=Head|quote=Text|width=20em|align=left}}", "Text"),
        ("{{cquote|Text|20px|20px}}", "Text"),
        ("{{quote}}", ""),
    ],
)
def test_quotations_name_their_author(call: str, text: str) -> None:
    assert text_of(call) == text


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


def test_cells_that_span_columns_are_repeated() -> None:
    # Values stay under their column; a title or a remark, which none comes after, stands once.
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
        "Year | League | League | Cup\nYear | Games | Goals | Games\n1899 | not held\n1900 | none | none | 7\nWar\n"
        "wide | wide | 1 | 2\nwide | | 3 | 4\n1901 | 5 | 6 | 8\nall | all | all | 8"
    )


def test_cells_that_span_much_do_not_multiply() -> None:
    wide = "| colspan=100 rowspan=100 | x\n" * 100
    table = '{| class="wikitable"\n' + wide + "| y\n" + "|-\n| z\n" * 100 + "|}"
    # Repeated in every column and row they would make four million characters.
    assert len(text_of(table)) < 100_000


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


def infobox_facts(fields: str) -> list[tuple[str, str, str | None]]:
    page = parse(f"{{{{Infobox thing{fields}}}}}")
    return [(triple.relation, triple.object, triple.object_link) for triple in page.triples]


@pytest.mark.parametrize(
    ("value", "facts"),
    [
        ("[[One]]<ref>c</ref>", [("One", "One")]),
        ("[[One]]{{efn|n}}{{sfn|x}}", [("One", "One")]),
        ("{{flagicon|US}} [[One]]", [("One", "One")]),
        ("[[File:Flag.svg|20px]] {{flagicon|US}} [[One]] {{increase}}", [("One", "One")]),
        ("[[One]]{{KIA}}<br>[[Two|2]]<ref name=a />", [("One", "One"), ("2", "Two")]),
        ("[[One]] {{x}}, Foo", [("One, Foo", "One")]),
        ("[[One]] ({{x}})", [("One", "One")]),
        ("[[One]]<ref>x</ref>, [[Two]] ({{x}}; 1900), C", [("One", "One"), ("Two (1900)", "Two"), ("C", None)]),
        ("*{{flagdeco|US}} [[One]]\n* [[Two]]", [("One", "One"), ("Two", "Two")]),
        ("*NSYNC", [("*NSYNC", None)]),
        ("{{columns-list|2|\n* [[One]]\n* [[Two]]{{efn|a}}\n}}", [("One", "One"), ("Two", "Two")]),
        # A label is one value, on however many lines it is shown.
        ("[[One|first<br>second]]", [("first second", "One")]),
        ('"[[One]]"<ref>c</ref>, “[[Two]]” (2)', [('"One"', "One"), ("“Two” (2)", "Two")]),
        ("about [[One]]<ref>c</ref>", [("about One", None)]),
    ],
)
def test_notes_and_flags_leave_an_infobox_link_its_link(value: str, facts: list[tuple[str, str | None]]) -> None:
    assert infobox_facts(f"|a={value}") == [("a", text, target) for text, target in facts]


@pytest.mark.parametrize(
    ("value", "facts"),
    [
        ("([[Carl Linnaeus|Linnaeus]], [[Systema|1758]])", [("Linnaeus", "Carl Linnaeus"), ("1758", "Systema")]),
        ("([[One]])", [("One", "One")]),
        ("([[One]], 1758)", [("One, 1758", "One")]),
        ("([[One]]) ([[Two]])", [("One", "One"), ("Two", "Two")]),
        ("([[One]], [[Two]] (2))", [("One", "One"), ("Two (2)", "Two")]),
        ("([[One (film)|One (film)]])", [("One (film)", "One (film)")]),
        ("and ([[One]], [[Two]])", [("and (One, Two)", None)]),
        ("[[One]] ([[Two]], [[Three]])", [("One (Two, Three)", "One")]),
        ("[[One]] ([[Two]] (2)), [[Three]]", [("One (Two (2))", "One"), ("Three", "Three")]),
        ("(acting) [[One]]", [("(acting) One", None)]),
        ("(Linnaeus, 1758)", [("(Linnaeus, 1758)", None)]),
    ],
)
def test_parentheses_without_a_value_before_them_hold_the_value(
    value: str, facts: list[tuple[str, str | None]]
) -> None:
    assert infobox_facts(f"|a={value}") == [("a", text, target) for text, target in facts]


@pytest.mark.parametrize(
    "wikitext",
    [
        "{{|\n|\n{}\n|}}",
        "{{{{stack|{}}}}}",
        "{{{{stack|margin=x|[[File:a.png]]|{}}}}}",
        "{{| class=wikitable\n| a || {}\n|}}",
        "{{{{center|\n{{|\n|\n{}\n|}}\n}}}}",
    ],
)
def test_an_infobox_in_a_layout_is_read(wikitext: str) -> None:
    page = parse(wikitext.format("{{Infobox person|birth_place=[[Rome]]}}") + "\nx")
    assert page.triples == (Triple("Subject", "birth_place", "Rome", "Rome"),)
    assert page.links == ("Rome",)
    assert "Rome" not in "".join(section.text for section in page.sections)


def test_a_break_in_a_heading_is_a_space() -> None:
    assert parse("== A<br>B ==\nx").sections[0].heading_path == ("A B",)


@pytest.mark.parametrize(
    "wikitext",
    [
        *("{{disambig}}", "{{Hndis|Foo}}", "{{airport disambiguation}}", "__DISAMBIG__"),
        *(
            "{{Disambiguation page}}",
            "{{dp}}",
            "{{Dab page}}",
            "{{hndis-cleanup}}",
            "{{Place name disambiguation cleanup}}",
        ),
    ],
)
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
