from __future__ import annotations

import csv
import io
import json

from wikigr_cli.commands.search import print_search
from wikigr_cli.environment import Environment

ROWS = [
    {"rank": 1, "title": 'A "b", c', "url": "https://x.org/a?b=1", "scores": {"é": 0.5}, "content": "one\ntwo"},
    {"rank": 2, "title": "a|b", "section": None, "scores": {}, "content": "\x1b[31m"},
]
FORMULAS = [{"rank": n, "title": f"{begin}1+1", "content": f"{begin}cmd|x!A1"} for n, begin in enumerate("=+-@")]


def environment() -> tuple[Environment, io.StringIO]:
    out = io.StringIO()
    return Environment(io.StringIO(), out, io.StringIO()), out


def test_csv_is_read_back() -> None:
    made, out = environment()
    print_search(made, {"results": ROWS}, "csv", ["rank", "title", "section", "scores", "content"], [])
    head, first, second = csv.reader(io.StringIO(out.getvalue()))
    assert head == ["rank", "title", "section", "scores", "content"]
    assert (first[:3], json.loads(first[3]), first[4]) == (["1", 'A "b", c', ""], {"é": 0.5}, "one\ntwo")
    # Text from a pack does not drive the terminal.
    assert second[4] == "\ufffd[31m"


def test_csv_keeps_formulas_as_they_are_written() -> None:
    made, out = environment()
    print_search(made, {"results": FORMULAS}, "csv", ["rank", "title", "content"], [])
    rows = csv.DictReader(io.StringIO(out.getvalue()))
    assert [{**row, "rank": int(row["rank"])} for row in rows] == FORMULAS


def test_a_markdown_table_has_a_line_per_row_and_links_titles() -> None:
    made, out = environment()
    print_search(made, {"results": ROWS}, "md", ["rank", "title", "content"], [])
    assert out.getvalue().splitlines() == [
        "| rank | title | content |",
        "| --- | --- | --- |",
        '| 1 | [A "b", c](<https://x.org/a?b=1>) | one two |',
        "| 2 | a\\|b | \ufffd\\[31m |",
    ]
