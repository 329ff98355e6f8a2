"""The metadata at the top of a note, whose keys are also properties and facts of the note."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sources.blocks import described
from tests.sources.markdown.notes import article, parse, read, write
from tests.sources.test_hostile_input import limit

from wikigr.errors import RecordError
from wikigr.sources.article import Skipped, SourceArticle


def test_front_matter() -> None:
    found = article(
        "---\ntitle: Wave: no\n".replace("Wave: no", '"Wave: yes"')
        + "category: Physics, old\ntags: [waves, 1900]\ncategories: x, y\naliases:\n  - WF\n  - ''\nurl: https://x.org\n"
        "date: 2020-01-01\n---\n# Waves\n\ntext\n\n## A\na\n"
    )
    assert found.categories == ("Physics, old", "x", "y", "waves", "1900")
    assert found.aliases == ("WF", "Waves")
    assert found.url == "https://x.org"
    assert [s.heading_path for s in found.sections] == [(), ("Properties",), ("A",)]


NAMED = "born: 1984-03-04\nnet weight: 1.50\nadult: true\naddress city: Oslo"


@pytest.mark.parametrize(
    "matter",
    [
        "---\ntitle: T\naliases: [A]\ntags: [waves, 1900]\nborn: 1984-03-04\nnet_weight: 1.50\nadult: true\n"
        "address: {city: Oslo}\nnone: ~\n---\n",
        '+++\ntitle = "T"\naliases = ["A"]\ntags = ["waves", "1900"]\nborn = 1984-03-04\nnetWeight = 1.50\n'
        'adult = true\nnone = ""\n[address]\ncity = "Oslo"\n+++\n',
        '{\n"title": "T", "aliases": ["A"], "tags": ["waves", 1900], "born": "1984-03-04", "net weight": 1.50,\n'
        '"adult": true, "address": {"city": "Oslo"}, "none": null\n}\n',
        '---toml\r\ntitle = "T"\r\nalias = "A"\r\ntags = ["waves", "1900"]\r\nborn = 1984-03-04\r\n'
        'net_weight = 1.50\r\nadult = true\r\naddress = {city = "Oslo"}\r\n---\r\n',
    ],
)
def test_every_key_is_a_property_and_a_fact(matter: str) -> None:
    found = article(f"{matter}\nText of the note.\n")
    assert found.categories == ("waves", "1900")
    assert found.aliases == ("A",)
    lead, properties = found.sections
    assert (lead.text, properties.heading_path, properties.text) == ("Text of the note.", ("Properties",), NAMED)
    assert [(kind, label) for _, kind, label, _ in described(properties)] == [
        ("property", name) for name in ("born", "net weight", "adult", "address city")
    ]
    facts = [(fact.subject, fact.relation, fact.object) for fact in found.triples]
    assert facts == [
        ("Note", "born", "1984-03-04"),
        ("Note", "net weight", "1.50"), ("Note", "adult", "true"), ("Note", "address city", "Oslo"),
    ]  # fmt: skip
    assert all(fact.line in properties.text for fact in found.triples)


def test_the_title_of_any_format_names_the_note(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "a.md": '+++\ntitle = "Alder"\n+++\nx.\n',
            "b.mdx": '{"title": "Birch"}\nx.\n',
            "c.md": "---\ntitle: Cedar\n---\nx.\n",
        },
    )
    assert [note.title for note in read(root)] == ["Alder", "Birch", "Cedar"]


def test_a_property_may_link_to_a_note() -> None:
    found = article('---\nlead: "[[ann-berg|Ann]]"\nteam: ["[[Ben Ode]]", Cy]\n---\nText.\n')
    assert found.sections[1].text == "lead: Ann\nteam: Ben Ode, Cy"
    assert [(fact.object, fact.object_link) for fact in found.triples] == [
        ("Ann", "ann-berg"), ("Ben Ode", "Ben Ode"), ("Cy", None),
    ]  # fmt: skip
    assert found.links == ("ann-berg", "Ben Ode")


def test_a_note_of_properties_alone_is_an_article() -> None:
    assert isinstance(parse("---\nphone: 555\n---\n"), SourceArticle)
    assert parse("---\ntitle: x\n---\n") == Skipped("dir/note.md", "no text")


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("+++ is a sign.\n\nText.", "+++ is a sign.\n\nText."),
        ('{"a": 1} is JSON.\n\nText.', '{"a": 1} is JSON.\n\nText.'),
        ("{not json}\n\nText.", "{not json}\n\nText."),
        ("---\n\nText without an end.", "Text without an end."),
    ],
)
def test_what_is_no_front_matter_is_text(text: str, lead: str) -> None:
    assert article(text).sections[0].text == lead


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("+++\ntitle = 'x'\ntags = [\n+++\n", r"dir/note\.md, line 3: the front matter is not valid TOML"),
        ('{\n"title": "x",\n}\nText.', r"dir/note\.md, line \d: the front matter is not valid JSON"),
        ('+++\ntitle = ["x"]\n+++\n', r"dir/note\.md, front matter: `title` must be text"),
        ("---json\n[1]\n---\n", r"dir/note\.md, line 2: the front matter is not a mapping"),
        *(
            (
                f"+++\na = {number}\n+++\n",
                r"dir/note\.md, line 2: .* TOML: a number in it has too many digits",
            )
            for number in ("9" * 5_000, "0x" + "f" * 5_000)
        ),
        ('{"a": ' + "[" * 100_000, r"dir/note\.md, line 1: the front matter is nested too deeply"),
    ],
)
def test_bad_front_matter_is_named(text: str, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        parse(text)


@pytest.mark.parametrize(
    ("first", "key", "levels", "times"),
    [
        ("[x, y, z, u, v, w, q, r]", "a", 9, 8),
        ("['', ~]", "a", 4, 400),
        ("{name: x}", "a", 4, 400),
        ("[x]", "author", 20, 8),
        (f"'{'x' * 100_000}'", "a", 2, 2_000),
        (f"'{'x' * 100_000}'", "tags", 2, 20_000),
        (f"'{'x' * 100_000}'", "authors", 2, 5_000),
    ],
)
def test_repeated_references_do_not_multiply(first: str, key: str, levels: int, times: int) -> None:
    lines = [f"a0: &a0 {first}"]
    for level in range(1, levels):
        name = key if level == levels - 1 else f"a{level}"
        lines.append(f"{name}: &a{level} [{', '.join([f'*a{level - 1}'] * times)}]")
    with limit():
        found = article("---\n" + "\n".join(lines) + "\n---\nText.\n")
    assert sum(len(section.text) for section in found.sections) < 1_000_000


@pytest.mark.parametrize("line", ["{} = 1", "[{}]", "[a]\nb = 1\n 'c'.{} = 1"])
def test_a_key_of_toml_of_very_many_parts(line: str) -> None:
    with limit(), pytest.raises(RecordError, match=r"a key of more than 50 parts in line [13]"):
        parse(f"+++\n{line.format('.'.join(['a'] * 20_000))}\n+++\nText.")
    assert article("+++\na.b.c.d = 'x. y. z.'\n+++\nText.").sections[1].text == "a b c d: x. y. z."
