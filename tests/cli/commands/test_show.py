"""`wikigr show` on the demo pack, and on a pack with hostile text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..conftest import Wikigr
from ..terminal import in_terminal, widest

SECTION = "Louis de Broglie#3"


def test_a_section_with_what_surrounds_it(wikigr: Wikigr, physics_pack: Path) -> None:
    lines = wikigr("show", SECTION, "-p", str(physics_pack)).out.splitlines()
    assert lines[0] == "Louis de Broglie › Proof and prize"
    assert lines[1].endswith("/articles/louis-de-broglie.md#proof-and-prize")
    assert lines[3].startswith("The Davisson–Germer experiment of 1927")
    assert lines[-3:-1] == ["Previous    Louis de Broglie#2  The thesis", "Next        Louis de Broglie#4  Pilot waves"]
    assert lines[-1].startswith("Links       ") and "Schrödinger equation" in lines[-1]


def test_the_document_of_a_section(wikigr: Wikigr, physics_pack: Path) -> None:
    document = json.loads(wikigr("show", SECTION, "-p", str(physics_pack), "--json").out)
    asked = json.loads(wikigr("search", "Davisson Germer", "-p", str(physics_pack), "-k", "50", "--json").out)
    (same,) = (result for result in asked["results"] if result["section_id"] == SECTION)
    for key in ("title", "section_id", "section", "source_id", "content", "url"):
        assert document[key] == same[key]
    assert document["pack"] == asked["pack"]
    assert document["next"]["section_id"] == "Louis de Broglie#4"


def test_the_outline_of_an_article_leads_to_its_sections(wikigr: Wikigr, physics_pack: Path) -> None:
    document = json.loads(wikigr("show", "spin", "-p", str(physics_pack), "--json").out)
    text = wikigr("show", "spin", "-p", str(physics_pack)).out
    assert document["lead"] in text
    for section in document["sections"]:
        assert f"{section['section']}  {section['section_id']}  {section['word_count']} words" in text
        assert wikigr("show", section["section_id"], "-p", str(physics_pack)).code == 0


@pytest.mark.parametrize("target", ["louis_de_broglie#3", "Louis de Broglie#proof and prize", "Louis de Brolie#3"])
def test_other_spellings_of_a_section(wikigr: Wikigr, physics_pack: Path, target: str) -> None:
    shown = wikigr("show", target, "-p", str(physics_pack))
    assert shown.out == wikigr("show", SECTION, "-p", str(physics_pack)).out
    assert ("using 'Louis de Broglie' instead" in shown.err) == ("Brolie" in target)


def test_it_fits_a_terminal(physics_pack: Path) -> None:
    for target in (SECTION, "Louis de Broglie"):
        shown = in_terminal("show", target, "-p", str(physics_pack))
        assert shown.code == 0 and widest(shown.out) <= 80
