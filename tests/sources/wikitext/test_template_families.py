"""Kinds of templates whose loss leaves a hole, on Wikipedias of five languages, and templates that nobody listed."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from wikigr.sources.wikitext.page import WikiPage, WikiSite, parse_wikitext


def parse(wikitext: str, language: str) -> WikiPage:
    return parse_wikitext(wikitext, "Subject", WikiSite({}, language=language))


def text_of(wikitext: str, language: str) -> str:
    return "\n\n".join(section.text for section in parse(wikitext, language).sections)


@pytest.mark.parametrize(
    ("language", "cases"),
    [
        (
            "en",
            [
                ("{{cvt|4|mi}}", "4 mi"),
                ("{{start date|1902|7|9}}", "July 9, 1902"),
                ("{{end date|1902|7|9|df=y}}", "9 July 1902"),
                ("{{death year and age|1950|1880}}", "1950"),
                ("{{date|1902-07-09}}", "July 9, 1902"),
                ("{{start and end dates|1902|7|9|1903|1|2}}", "July 9, 1902 – January 2, 1903"),
                ("{{age|1880|2|3|1950|2|2}}", "69"),
                ("{{GBP|40}}, {{€|40}}, {{USD|1.5 billion}}", "£40, €40, US$1.5 billion"),
                ("{{currency|40|XAF}}", "XAF 40"),
                ("{{nobr|two words}}, {{abbr|rpm|revolutions}}", "two words, rpm"),
                ("{{percent|12.5}}, {{percentage|1|8}}", "12.5%, 1/8"),
                ("{{ship|USS|Heron|AM-10}}", "USS Heron (AM-10)"),
                ("{{color|red|hot}}", "hot"),
                ("{{UC:abc}} {{ucfirst:abc}}", "ABC Abc"),
            ],
        ),
        (
            "fr",
            [
                ("{{unité|4|km}}, {{Unité|80|km||h|-1}}, {{unité|5|m|2}}", "4 km, 80 km/h, 5 m^2"),
                ("{{date|9|juillet|1902}}, {{date-|9 juillet 1902}}", "9 juillet 1902, 9 juillet 1902"),
                ("{{date de décès|9|7|1902|1|1|1850}}", "9 juillet 1902"),
                ("{{s|XV|e}}, {{-s|II}}, {{XVIIe siècle}}", "XVe siècle, IIe siècle av. J.-C., XVIIe siècle"),
                ("{{sp|XV|e|et|XVI|e}}", "XVe et XVIe siècles"),
                ("{{euro|7}}, {{euro}}, {{n°}}7", "7 €, €, n° 7"),
                ("{{heure|7|45}}, {{durée|2|5}}", "7 h 45, 2 h 5 min"),
                ("{{abréviation|tr|tours}}, {{nobr|deux mots}}", "tr, deux mots"),
                ("XV{{e}}, {{M.|Petit}}, {{n°|7}}", "XVe, M. Petit, n° 7"),
                ("{{citation|mot}}", "« mot »"),
            ],
        ),
        (
            "de",
            [
                ("{{Höhe|912|DE-NHN|link=true}}, {{Höhe|912|CH}}", "912 m ü. NHN, 912 m ü. M."),
                ("{{EUR|40}}, {{CHF|40}}", "40 €, 40 CHF"),
                ("{{Datum|9|7|1902}}, {{DatumZelle|1902-07-09}}", "9. Juli 1902, 9. Juli 1902"),
                ("{{Maß|4|km}}, {{Bruch|1|3}}", "4 km, 1/3"),
                ("{{\"|Wort}}, {{frS|mot}}, {{§|7|StGB}}", "„Wort“, französisch mot, § 7 StGB"),
            ],
        ),
        (
            "es",
            [
                ("{{unidad|4|km}}, {{convertir|4|mi|km}}", "4 km, 4 mi"),
                ("{{fecha|9|7|1902}}", "9 de julio de 1902"),
                ("{{siglo|XV}}, {{siglo XV}}", "siglo XV, siglo XV"),
                ("{{eur|40}}, 44 {{ac}}", "40 €, 44 a. C."),
                ("{{esd|dos palabras}}", "dos palabras"),
            ],
        ),
        (
            "it",
            [
                ("{{M|4|ul=km}}, {{M|4|k|g}}", "4 km, 4 kg"),
                ("{{data|9|7|1902}}", "9 luglio 1902"),
                ("{{TA|due parole}}, {{maiuscoletto|XV}}", "due parole, XV"),
                ("{{Converti|4|mi|km}}, {{EUR|40}}", "4 mi, 40 €"),
            ],
        ),
        # A wiki in another language borrows names from all of them.
        ("pt", [("{{siglo|XV}}, {{unité|4|km}}, {{cvt|4|mi}}", "siglo XV, 4 km, 4 mi")]),
    ],
)  # fmt: skip
def test_a_family_of_templates_keeps_its_text(language: str, cases: Sequence[tuple[str, str]]) -> None:
    assert [call for call, text in cases if text_of(f"aa {call} bb", language) != f"aa {text} bb"] == []


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it"])
@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("It weighs {{xyzzy|40|kg}} at most.", "It weighs 40 kg at most."),
        ("{{Xyzzy|Old Mill}} stands here.", "Old Mill stands here."),
        ("The {{xyzzy|class=x|nolink|the [[b|mill]]}}, too.", "The nolink the mill, too."),
        ("A {{xyzzy|text=mill}} there.", "A mill there."),
        ("A {{xyzzy|la|mola}} there.", "A mola there."),
        ("From 1900–{{xyzzy|1940}}.", "From 1900–1940."),
        ("It {{#invoke:mill|grind}} stood{{#if:a|, too}}.", "It stood."),
        # The mark of a note, addresses, colors, sizes and files are no text.
        ("It is long.{{xyzzy|7}} It is wide{{xyzzy|8}}, too.", "It is long. It is wide, too."),
        ("A {{xyzzy|http://a.example/b}} mill.", "A mill."),
        ("A {{xyzzy|#ff0000|20px|mill.png|red mill}} there.", "A red mill there."),
        ("A {{xyzzy}} mill.", "A mill."),
        # What stands for itself is not part of a sentence.
        ("Mill.\n{{xyzzy|a|b}}\nWheel.", "Mill. Wheel."),
        ("Mill.\n\n{{xyzzy|[[a]]}}{{xyzzy|b}}", "Mill."),
        ("* {{xyzzy|a b}}\n* c", "- c"),
    ],
)
def test_an_unknown_template_in_a_sentence_keeps_its_plain_arguments(wikitext: str, text: str, language: str) -> None:
    assert text_of(wikitext, language) == text


@pytest.mark.parametrize(
    ("language", "won", "some", "no"),
    [
        ("en", "{{won}}", "{{yes|Some}}", "{{no}}"),
        ("de", "{{gewonnen}}", "{{ja|Some}}", "{{nein}}"),
        ("fr", "{{gagné}}", "{{oui|Some}}", "{{non}}"),
        ("es", "{{ganador}}", "{{sí|Some}}", "{{no}}"),
        ("it", "{{vinto}}", "{{sì|Some}}", "{{no}}"),
    ],
)
def test_templates_of_cells_say_their_word(language: str, won: str, some: str, no: str) -> None:
    other = "{{FRA}} || {{Xyz zy}} || {{xyzzy|a b}}"
    table = f'{{| class="wikitable"\n! A !! B !! C\n|-\n| {won} || {some} || {no}\n|-\n| {other}\n|}}'
    words = {"en": "Won No", "de": "Gewonnen Nein", "fr": "Gagné Non", "es": "Ganador No", "it": "Vinto No"}[language]
    first, last = words.split()
    assert text_of(table, language) == f"A: {first} | B: Some | C: {last}\nA: FRA | B: Xyz zy | C: a b"


@pytest.mark.parametrize(
    ("language", "end"),
    [("en", "{{end}}"), ("en", "{{Table end}}"), ("de", "{{Tabelle Ende}}"), ("fr", "{{fin}}"), ("it", "{{fine}}"),
     ("en", "{{xyzzy}}"), ("es", "")],
)  # fmt: skip
@pytest.mark.parametrize("after", ["\n", "\n\n", "\n== Next ==\n"])
def test_a_table_that_only_a_template_or_nothing_closes_is_rows(language: str, end: str, after: str) -> None:
    if not end and after == "\n":
        pytest.skip("the text would be part of the last cell")
    table = '{| class="wikitable"\n! A !! B\n|-\n| 1 || 2\n|-\n| 3 || 4\n'
    for _ in range(2):
        sections = parse(f"Before\n{table}{end}{after}After", language).sections
        assert sections[0].text.startswith("Before\n\nA: 1 | B: 2\nA: 3 | B: 4")
        assert sections[-1].text.endswith("After") and "After" not in sections[-1].text.removesuffix("\n\nAfter")[:-5]
        table = f"{table}{end or '|}'}\n\n{table}" if end != "{{xyzzy}}" else table


@pytest.mark.parametrize(
    ("language", "wikitext", "facts"),
    [
        (
            "en",
            "{{Infobox mill|height={{cvt|20|m}}|opened={{start date|1902|7|9}}|"
            "owner={{nobr|Ada}} [[Quill]]|x={{xyzzy|4|t}}}}",
            [("height", "20 m"), ("opened", "July 9, 1902"), ("owner", "Ada Quill"), ("x", "4 t")],
        ),
        ("de", "{{Infobox Berg|Höhe={{Höhe|912|AT}}}}", [("höhe", "912 m ü. A.")]),
        ("de", "{{Personendaten|GEBURTSDATUM=9. Juli 1902}}", [("geburtsdatum", "9. Juli 1902")]),
        ("fr", "{{Infobox Pont|longueur={{unité|4|km}}}}", [("longueur", "4 km")]),
        ("es", "{{Ficha de puente|inicio={{fecha|9|7|1902}}}}", [("inicio", "9 de julio de 1902")]),
        ("it", "{{Bio|LuogoNascita=Roma|Attività=fabbro}}", [("luogo_nascita", "Roma"), ("attività", "fabbro")]),
    ],
)
def test_values_of_infoboxes_follow_the_same_rules(language: str, wikitext: str, facts: list[tuple[str, str]]) -> None:
    page = parse(wikitext, language)
    assert [(triple.relation, triple.object) for triple in page.triples] == facts


def test_what_is_dropped_is_counted_by_name() -> None:
    calls = "A {{Xyzzy}} b.\n{{xyzzy|c}}\n\n{{Navi bar|[[d]]}}\ne{{citation needed}}{{sfn|f}} {{xyzzy|g h}}{{#if:a|b}}"
    page = parse(calls, "en")
    assert page.dropped == (("#if", 1), ("navi bar", 1), ("xyzzy", 2))
    assert page.links == ()


@pytest.mark.trust
@pytest.mark.parametrize(
    "unit",
    [
        "x {{xyzzy|a b}} ",
        "{{xyzzy|{{xyzzy|a b}} c}} ",
        "{{xyzzy|a}}",
        "{{{convert|1|km}}",
        "{{a|1}} {",
        "}}{|\n|\n{|\n|}\n",
        "| {{x}} ",
        "{{quote|{|\n{{end}}\n",
        "{|\n! a !! {{won}}\n{{end}}\n",
        "{|\n| {{xyzzy|1}}\n== a ==\n",
    ],
)
def test_time_grows_with_the_length(unit: str) -> None:
    def seconds(chars: int) -> float:
        start = time.process_time()
        parse((unit * (chars // len(unit) + 1))[:chars], "en")
        return time.process_time() - start

    # Four times the text takes four times as long; quadratic growth would take sixteen times. The best of three runs.
    assert any(seconds(48_000) < 8 * seconds(12_000) + 0.1 for _ in range(3))
