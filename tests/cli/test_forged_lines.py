"""Titles, names and metadata stay on their line, whatever they contain: none looks like a line of wikigr's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Wikigr

from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr_cli.environment import Environment

FORGED = ("Sure (0.99)", "Sources", "ok     signature: trusted", "wikigr: fine")
QUESTION = "Who keeps the brass lighthouse of Orrin?"


def forged(text: str, line_break: str) -> str:
    return line_break.join((text, *FORGED))


def assert_no_line_is_forged(output: str, allowed: int = 0) -> None:
    """``allowed`` is how many lines of our own begin like one."""
    lines = [line for line in output.splitlines() if line.strip().startswith(FORGED)]
    assert len(lines) <= allowed, lines


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\x0b", "\x85", "\u2028"])
def test_names_and_metadata_of_a_pack(wikigr: Wikigr, tmp_path: Path, line_break: str) -> None:
    row = {
        "title": forged("Brass lighthouse of Orrin", line_break),
        "text": f"The brass lighthouse of Orrin is kept by Mara Quill [2].\n\n## {forged('Lamp', ' ')}\n\nMirrors.",
        "aliases": [forged("Orrin light", line_break)],
        "categories": [forged("Towers", line_break)],
        "url": forged("http://a.example/x", line_break),
    }
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    metadata = ("--description", forged("d", line_break), "--license", forged("MIT", line_break))
    assert wikigr("pack", "build", "a.jsonl", "-o", "p", *metadata).code == 0
    manifest = Layout(tmp_path / "p").part(parts.MANIFEST)
    fields = json.loads(manifest.read_text())
    fields["attribution"] = fields["source"]["name"] = forged("Ada", line_break)
    manifest.write_text(json.dumps(fields))
    answer = wikigr("ask", QUESTION, "--pack", "p", "--offline")
    assert "Mara Quill" in answer.out and answer.code == 0
    assert_no_line_is_forged(answer.out, allowed=2)
    # The only number of a citation is our own.
    assert "\\[2]" in answer.out
    for arguments in (
        ("search", "brass lighthouse", "--pack", "p", "--offline"),
        ("search", "brass lighthouse", "--pack", "p", "--offline", "--format", "md"),
        ("show", "Brass lighthouse of Orrin " + " ".join(FORGED), "--pack", "p"),
        ("pack", "info", "p"),
        ("pack", "list", "."),
        ("why", QUESTION, "Orrin", "--pack", "p", "--offline"),
        ("ask", QUESTION, "--pack", forged("none", line_break), "--offline"),
    ):
        result = wikigr(*arguments)
        assert_no_line_is_forged(result.out + result.err, allowed=arguments[:2] == ("ask", QUESTION))


@pytest.mark.parametrize("line_break", ["\n", "\r", "\u2029"])
def test_names_of_files(wikigr: Wikigr, tmp_path: Path, line_break: str) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / f"{forged('a', line_break)}.md").write_text(
        "The copper kettle of Nowhere holds two liters.\n"
    )
    (tmp_path / "notes" / f"{forged('bad', line_break)}.html").write_text("<div>" * 200_000)
    built = wikigr("pack", "build", "notes", "-o", "p", "--keep-going")
    answer = wikigr("ask", "How much does the copper kettle of Nowhere hold?", "--pack", "p", "--offline")
    assert "two liters" in answer.out
    assert_no_line_is_forged(built.out + built.err)
    assert_no_line_is_forged(answer.out, allowed=2)


@pytest.mark.parametrize("key", ["description", "license", "attribution"])
def test_texts_of_a_recipe(wikigr: Wikigr, tmp_path: Path, key: str) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The copper kettle of Nowhere holds two liters.\n")
    recipe = {
        "name": "notes", "version": "1.0.0", "description": "Notes", "license": "CC0-1.0", "attribution": "Ada",
        "homepage": "https://example.org/", "size_mb": 1, "source": {"path": "notes"},
    }  # fmt: skip
    (tmp_path / "recipe.yaml").write_text(json.dumps({**recipe, key: forged("x", "\n")}))
    made = wikigr("pack", "make", "./recipe.yaml", "-o", "p")
    assert made.code == 0, made.err
    assert_no_line_is_forged(made.out + made.err)


def test_a_piece_stays_on_its_line_unless_it_is_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    environment = Environment()
    environment.print("  a\u2028b\n", end="")
    environment.print("c\nd", has_lines=True)
    environment.note("e\nf")
    assert capsys.readouterr() == ("  a bc\nd\n", "e f\n")
