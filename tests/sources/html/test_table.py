"""Cells of HTML tables that span rows and columns."""

from __future__ import annotations

import time

import pytest
from tests.sources.html.pages import body, lead

from wikigr.sources.html.text import parse_html


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            "<tr><th>N<th>Min<th>Max<tr><td rowspan=2>Alpha<td>1<td>2<tr><td>3<td>4",
            "N: Alpha | Min: 1 | Max: 2\nN: Alpha | Min: 3 | Max: 4",
        ),
        (
            "<tr><th rowspan=2>N<th colspan=2>Size<tr><th>Min<th>Max<tr><td>a<td>1<td>2",
            "N: a | Size Min: 1 | Size Max: 2",
        ),
        ("<tr><td>a<td rowspan=3>z<tr><td>b<tr><td>c", "a | z\nb | z\nc | z"),
        ("<tr><td rowspan=2 colspan=2>a<td>1<tr><td>2", "a | a | 1\na | a | 2"),
        # A heading across the table, and one row that has nothing to line up with.
        ("<tr><th>x<th>y<tr><th colspan=2>Part<tr><td>1<td>2", "Part\nx: 1 | y: 2"),
        ("<tr><td>By<td colspan=3>Anon", "By | Anon"),
        # "0" is all rows of the group; a span ends with its group; what is no number is none.
        (
            "<thead><tr><th rowspan=9>a<th>b<tbody><tr><td rowspan=0>c<td>1<tr><td>2<tfoot><tr><td>d<td>3",
            "a: c | b: 1\na: c | b: 2\na: d | b: 3",
        ),
        ("<tr><td rowspan='1000000'>a<td>1<tr><td>2", "a | 1\na | 2"),
        ("<tr><td rowspan=-2 colspan=0>a<td colspan='x'>1<tr><td rowspan=' +1.5'>b<td>2", "a | 1\nb | 2"),
    ],
)
def test_cells_stand_in_all_rows_and_columns_that_they_span(rows: str, text: str) -> None:
    assert lead(f"<p>t</p><table>{rows}</table>") == f"t\n\n{text}"


def test_what_spanning_cells_repeat_is_bounded() -> None:
    cell = f"<td rowspan=60000 colspan=1000>{'x' * 100}"
    page = parse_html(f"<table><tr>{cell * 100}{'<tr><td>y' * 5000}</table>")
    assert sum(len(section.text) for section in page.sections) < 1_100_000


def test_repeated_cells_count_once_in_the_density_of_links() -> None:
    rows = "<tr><td rowspan=2><a href=x>abcd</a><td>e<tr><td>fgh"
    assert body(f"<p>p</p><table>{rows}</table>").link_density == pytest.approx(4 / 9)


def test_rows_below_a_very_wide_spanning_row_are_fast() -> None:
    start = time.process_time()
    parse_html(f"<table><tr>{'<td rowspan=60000>' * 8_000}{'<tr><td>y' * 16_000}</table>")
    assert time.process_time() - start < 10
