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


LINE_BREAKS = ("\n", "\r\n", "\r", "\x0b", "\x85", "\u2028", "\u2029")


def forged(text: str) -> str:
    """Return ``text`` with a forged line after each of the line breaks."""
    return text + "".join(broken + FORGED[n % len(FORGED)] for n, broken in enumerate(LINE_BREAKS))


def assert_no_line_is_forged(output: str, allowed: int = 0) -> None:
    """``allowed`` is how many lines of our own begin like one."""
    lines = [line for line in output.splitlines() if line.strip().startswith(FORGED)]
    assert len(lines) <= allowed, lines


def test_names_and_metadata_of_a_pack(wikigr: Wikigr, tmp_path: Path) -> None:
    row = {
        "title": forged("Brass lighthouse of Orrin"),
        "text": f"The brass lighthouse of Orrin is kept by Mara Quill [2].\n\n## Lamp {' '.join(FORGED)}\n\nMirrors.",
        "aliases": [forged("Orrin light")],
        "categories": [forged("Towers")],
        "url": forged("http://a.example/x"),
    }
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    metadata = ("--description", forged("d"), "--license", forged("MIT"))
    assert wikigr("pack", "build", "a.jsonl", "-o", "p", *metadata).code == 0
    manifest = Layout(tmp_path / "p").part(parts.MANIFEST)
    fields = json.loads(manifest.read_text())
    fields["attribution"] = fields["source"]["name"] = forged("Ada")
    manifest.write_text(json.dumps(fields))
    answer = wikigr("ask", QUESTION, "--pack", "p", "--offline")
    assert "Mara Quill" in answer.out and answer.code == 0
    assert_no_line_is_forged(answer.out, allowed=2)
    # The only number of a citation is our own.
    assert "\\[2]" in answer.out
    for arguments in (
        ("search", "brass lighthouse", "--pack", "p", "--offline"),
        ("search", "brass lighthouse", "--pack", "p", "--offline", "--format", "md"),
        ("show", " ".join(forged("Brass lighthouse of Orrin").split()), "--pack", "p"),
        ("pack", "info", "p"),
        ("pack", "list", "."),
        ("why", QUESTION, "Orrin", "--pack", "p", "--offline"),
        ("ask", QUESTION, "--pack", forged("none"), "--offline"),
    ):
        result = wikigr(*arguments)
        assert_no_line_is_forged(result.out + result.err, allowed=arguments[:2] == ("ask", QUESTION))


def test_names_of_files(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / f"{forged('a')}.md").write_text("The copper kettle of Nowhere holds two liters.\n")
    (tmp_path / "notes" / f"{forged('bad')}.html").write_text("<div>" * 200_000)
    built = wikigr("pack", "build", "notes", "-o", "p", "--keep-going")
    answer = wikigr("ask", "How much does the copper kettle of Nowhere hold?", "--pack", "p", "--offline")
    assert "two liters" in answer.out
    assert_no_line_is_forged(built.out + built.err)
    assert_no_line_is_forged(answer.out, allowed=2)


def test_texts_of_a_recipe(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The copper kettle of Nowhere holds two liters.\n")
    recipe = {
        "name": "notes", "version": "1.0.0", **dict.fromkeys(("description", "license", "attribution"), forged("x")),
        "homepage": "https://example.org/", "size_mb": 1, "source": {"path": "notes"},
    }  # fmt: skip
    (tmp_path / "recipe.yaml").write_text(json.dumps(recipe))
    made = wikigr("pack", "make", "./recipe.yaml", "-o", "p")
    assert made.code == 0, made.err
    assert_no_line_is_forged(made.out + made.err)


def test_a_piece_stays_on_its_line_unless_it_is_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    environment = Environment()
    environment.print("  a\u2028b\n", end="")
    environment.print("c\nd", has_lines=True)
    environment.note("e\nf")
    assert capsys.readouterr() == ("  a bc\nd\n", "e f\n")
