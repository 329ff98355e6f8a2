from __future__ import annotations

import csv
import io
import json

import pytest

from wikigr.errors import UsageError
from wikigr_cli.environment import Environment
from wikigr_cli.render.formats import (
    AnswerFormat,
    OutputFormat,
    address_to_link,
    chosen_fields,
    chosen_format,
    print_csv,
    print_markdown_table,
)

ROWS = [
    {"rank": 1, "title": 'A "b", c', "url": "https://x.org/a?b=1", "scores": {"é": 0.5}, "content": "one\ntwo"},
    {"rank": 2, "title": "a|b", "section": None, "scores": {}, "content": "\x1b[31m"},
]


def environment() -> tuple[Environment, io.StringIO]:
    out = io.StringIO()
    return Environment(io.StringIO(), out, io.StringIO()), out


def test_csv_is_read_back() -> None:
    made, out = environment()
    print_csv(made, ROWS, ["rank", "title", "section", "scores", "content"])
    head, first, second = csv.reader(io.StringIO(out.getvalue()))
    assert head == ["rank", "title", "section", "scores", "content"]
    assert (first[:3], json.loads(first[3]), first[4]) == (["1", 'A "b", c', ""], {"é": 0.5}, "one\ntwo")
    # Text from a pack does not drive the terminal.
    assert second[4] == "\ufffd[31m"


def test_a_markdown_table_has_a_line_per_row_and_links_titles() -> None:
    made, out = environment()
    print_markdown_table(made, ROWS, ["rank", "title", "content"])
    assert out.getvalue().splitlines() == [
        "| rank | title | content |",
        "| --- | --- | --- |",
        '| 1 | [A "b", c](<https://x.org/a?b=1>) | one two |',
        "| 2 | a\\|b | \ufffd\\[31m |",
    ]


def test_only_addresses_are_linked() -> None:
    for url in (None, "", "https://x.org/<b>", 3, "javascript:alert(1)"):
        assert address_to_link(url) is None


def test_json_is_the_short_form_of_a_format() -> None:
    def choose(given: AnswerFormat | None, *typed: str, json_output: bool) -> OutputFormat:
        return chosen_format(given, json_output=json_output, typed=lambda name: name in typed)

    assert choose(None, json_output=False) == "text"
    assert choose(None, json_output=True) == choose("json", json_output=True) == "json"
    with pytest.raises(UsageError, match="--json and --format md"):
        choose("md", "format", "json", json_output=True)
    # The command line precedes variables and settings files.
    assert choose("md", "format", json_output=True) == "md"
    assert choose("md", "json", json_output=True) == "json"


def test_an_unknown_field_gets_a_suggestion() -> None:
    known = ("rank", "title", "section_id")
    assert chosen_fields("title, rank,title", known) == ["title", "rank"]
    assert chosen_fields(None, known) is None
    for given, hint in (("Titel", "Did you mean 'title'?"), ("zzz", "The fields are rank, title, section_id.")):
        with pytest.raises(UsageError, match="There is no field") as refused:
            chosen_fields(given, known)
        assert refused.value.hint == hint
