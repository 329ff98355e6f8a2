"""Templates keep the text whose loss would leave a hole."""

import pytest
from tests.sources.wikitext.test_page import text_of

from wikigr.sources.wikitext import template_tables
from wikigr.sources.wikitext.templates import TemplateCall, expand_template, is_known_template


def test_inline_templates_keep_their_text() -> None:
    cases = [
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
        ("{{sic|irrega|rdless}}, {{music|sharp}}", "irregardless, ♯"),
        ("{{birth year and age|1980|5}}, {{birth date|df=no|1980|5|1}}", "May 1980, May 1, 1980"),
        ("{{val|5|u=km|up=s}}", "5 km/s"),
        ("{{as of|2015|post=,}} x", "As of 2015, x"),
        ("{{math|{{sqrt|2}} + {{radic|a + b}}}}", "√(2) + √(a + b)"),
        ("{{math|{{pi}}''r''{{sup|2}}}}", "πr^2"),
        ("{{lit|house}}", "lit. 'house'"),
        ("{{AD|79}}, {{BCE|44}}, {{CE|79}}", "AD 79, 44 BCE, 79 CE"),
        ("{{ordinal|1}}, {{ordinal|12}}, {{ordinal|23}}", "1st, 12th, 23rd"),
        ("{{INRConvert|5|b}}, {{CNY|5}}", "₹5 billion, ¥5"),
        ("Hawai{{okina}}i{{snds}}x", "Hawaiʻi – x"),
        ("{{nowrap|{{lang|la|{{small|deep}}}}}}", "deep"),
    ]
    assert [(call, text) for call, text in cases if text_of(f"a {call} b") != f"a {text} b"] == []


def test_layout_templates_keep_their_list() -> None:
    cases = [
        "{{columns-list|2|\n* a\n* b\n}}", "{{Columns-list|colwidth=20em|\n* a\n* b}}",
        "{{columns-list|20em|\n* a\n* b}}", "{{cmn|\n* a\n* b}}", "{{div col|colwidth=30em|content=\n* a\n* b\n}}",
        "{{div col|2}}\n* a\n* b\n{{div col end}}", "{{flatlist|style=x|\n* a\n* b}}",
        "{{plainlist}}\n* a\n* b\n{{endplainlist}}", "{{bulleted list|a|b}}", "{{stack|\n* a\n* b}}",
    ]  # fmt: skip
    assert [call for call in cases if text_of(f"Before\n{call}\nafter") != "Before\n\n- a\n- b\n\nafter"] == []


def test_glossaries_keep_terms_and_definitions() -> None:
    glossary = (
        "{{glossary}}\n{{term|foo}}\n{{defn|A bar.\n* b}}\n{{term|term=x|content=X}} {{defn|defn=Y}}\n{{glossary end}}"
    )
    assert text_of(glossary) == "foo\n\nA bar.\n\n- b\n\nX\n\nY"


def test_quotations_name_their_author() -> None:
    cases = {
        "{{quote|Text|Author}}": "Text\n— Author",
        "{{quote|text=Text|author=A|source=S}}": "Text\n— A, S",
        "{{cquote|Text|20px|20px|Mark Twain|Letters}}": "Text\n— Mark Twain, Letters",
        "{{cquote|Text|||Mark Twain}}": "Text\n— Mark Twain",
        "{{rquote|right|Text|Author|Source}}": "Text\n— Author, Source",
        "{{quote box|title=Head|quote=Text|width=20em|align=left}}": "Text",
        "{{cquote|Text|20px|20px}}": "Text",
        "{{quote}}": "",
    }
    assert {call: text_of(call) for call in cases} == cases


@pytest.mark.parametrize("language", ["", "de", "en", "es", "fr", "it"])
def test_every_rule_of_the_tables_expands_without_arguments_and_with_one(language: str) -> None:
    cases: tuple[dict[str, str], ...] = ({}, {"1": "7"})
    for name in sorted(template_tables(language)["rules"]):
        for arguments in cases:
            call = TemplateCall(arguments, lambda target, label: label, language)
            assert isinstance(expand_template(name, call), str), name


def test_a_pattern_without_values_is_empty_and_an_unknown_template_has_no_text() -> None:
    call = TemplateCall({}, lambda target, label: label)
    assert [expand_template(name, call) for name in ("ad", "ndash", "navbox", "sfn", "unheard of")] == [
        *("", "–", "", "", None)
    ]
    assert not is_known_template("unheard of")
