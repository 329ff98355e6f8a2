"""Fields of infoboxes become facts."""

import pytest
from tests.sources.wikitext.test_page import parse

from wikigr.sources.article import Triple
from wikigr.sources.facts import FACTS


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
        ("birth_date", "14 March 1879", None), ("birth_place", "Ulm", "Ulm"),
        ("birth_place", "German Empire", "German Empire"), ("death_place", "Princeton, U.S.", "Princeton, New Jersey"),
        ("spouse", "Mileva (1903–1919)", "Mileva"), ("spouse", "Elsa", None), ("fields", "Physics", "Physics"),
        ("fields", "philosophy", "Philosophy"), ("known_for", "Relativity", "Relativity"), ("known_for", "light", None),
        ("party", "Ann B (P)", "Ann B"), ("occupation", "teacher", None),
    ]  # fmt: skip
    line = "Subject — birth date: 14 March 1879."
    assert page.triples[0] == Triple("Subject", "birth_date", "14 March 1879", None, line)
    text, facts_section = page.sections
    assert text.text == "Text."
    assert facts_section.heading_path == (FACTS,)
    assert facts_section.text.split("\n") == [
        line, "Subject — birth place: Ulm; German Empire.", "Subject — death place: Princeton, U.S.",
        "Subject — spouse: Mileva (1903–1919); Elsa.", "Subject — fields: Physics; philosophy.",
        "Subject — known for: Relativity; light.", "Subject — party: Ann B (P).", "Subject — occupation: teacher.",
    ]  # fmt: skip
    assert "Ulm" in page.links


def infobox_facts(fields: str) -> list[tuple[str, str, str | None]]:
    page = parse(f"{{{{Infobox thing{fields}}}}}")
    return [(triple.relation, triple.object, triple.object_link) for triple in page.triples]


@pytest.mark.parametrize(
    ("value", "facts"),
    [
        ("[[One]]<ref>c</ref>", [("One", "One")]),
        ("[[One]]{{efn|n}}{{sfn|x}}", [("One", "One")]),
        ("{{xyzzy list|\n* [[One]]\n* two\n}}", [("One", "One"), ("two", None)]),
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
        "{{|\n|\n{}\n|}}", "{{{{stack|{}}}}}", "{{{{stack|margin=x|[[File:a.png]]|{}}}}}",
        "{{| class=wikitable\n| a || {}\n|}}", "{{{{center|\n{{|\n|\n{}\n|}}\n}}}}",
    ],
)  # fmt: skip
def test_an_infobox_in_a_layout_is_read(wikitext: str) -> None:
    page = parse(wikitext.format("{{Infobox person|birth_place=[[Rome]]}}") + "\nx")
    line = "Subject — birth place: Rome."
    assert page.triples == (Triple("Subject", "birth_place", "Rome", "Rome", line),)
    assert page.links == ("Rome",)
    assert [section.text for section in page.sections if "Rome" in section.text] == [line]


def test_the_facts_of_an_infobox_under_a_heading_follow_its_text() -> None:
    page = parse(
        "{{Infobox song|label=[[Okeh]]}}\nA song.\n== Covers ==\n=== By B ===\n{{Infobox song|label=Apple}}\nSung.\n"
        "==== Charts ====\nOne.\n== References ==\n{{Infobox song|label=Stax}}\nDropped."
    )
    found = [(section.heading_path, section.text) for section in page.sections]
    assert found == [
        ((), "A song."), (("Covers", "By B"), "Sung."), (("Covers", "By B", FACTS), "Subject, By B — label: Apple."),
        (("Covers", "By B", "Charts"), "One."), ((FACTS,), "Subject — label: Okeh.\nSubject — label: Stax."),
    ]  # fmt: skip
    assert [triple.object for triple in page.triples] == ["Apple", "Okeh", "Stax"]


def test_the_facts_below_a_heading_without_text_have_its_anchor() -> None:
    page = parse(
        "{{Infobox x|a=1}}\nText.\n== Use ==\nText.\n== Version ==\n{{Infobox x|b=2}}\n=== Use ===\nText.\n"
        "=== Part ===\n{{Infobox x|c=3}}\n==== Use ====\nText.\n"
    )
    assert [(section.heading_path[-1:], section.anchor) for section in page.sections] == [
        ((), ""), (("Use",), "Use"), ((FACTS,), "Version"), (("Use",), "Use_2"), ((FACTS,), "Part"),
        (("Use",), "Use_3"), ((FACTS,), ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "facts"),
    [
        ("|leader_title1=[[President]]|leader_name1=Ann|leader_name2=Bo", "president=Ann leader_name2=Bo"),
        ("|established_event=from Spain|established_date=1810", "established_from_spain=1810"),
        ("|subdivision_type=Country|subdivision_name=Peru", "country=Peru"),
        ("|blank_name_sec1=Airport|blank_info_sec1=LIM", "airport=LIM"),
        ("|leader_title1=A<br>B|leader_name1=Ann", "leader_title1=A leader_title1=B leader_name1=Ann"),
        ("|blank_name=Website|blank_info=x", "blank_name=Website blank_info=x"),
        ("|leader_title1=President", "leader_title1=President"),
        # The label of a record is a fact, and the label of a map is not.
        ("|label=[[Okeh]]|map_label=Rome", "label=Okeh"),
    ],
)
def test_a_field_is_named_by_the_field_that_labels_it(fields: str, facts: str) -> None:
    assert " ".join(f"{relation}={value}" for relation, value, _ in infobox_facts(fields)) == facts
