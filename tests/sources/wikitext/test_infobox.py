"""Fields of infoboxes become facts."""

import pytest
from tests.sources.wikitext.pages import parse

from wikigr.sources.article import Triple


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
